"""Child processes and signals: starting in a session of its own, bounded output, an end that leaves nothing."""
