"""`python -m duologue.check.clients.stand_in PORT TOKEN`: what a client starts as its agent.

It passes bytes between its stdio and the check, which plays the agent. It needs nothing but the standard library, so
that it starts fast.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

PIECE = 65536


def main(port: int, token: str) -> None:
    """Pass bytes on until the client or the check ends."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(token.encode() + b"\n")
        threading.Thread(target=_up, args=(connection,), daemon=True).start()
        while data := connection.recv(PIECE):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]


def _up(connection: socket.socket) -> None:
    while data := os.read(0, PIECE):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
