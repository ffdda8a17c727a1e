"""Ways to move bytes between two peers: this process's stdio, a spawned child's, memory."""
