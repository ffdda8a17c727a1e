"""`python -m duologue.testing [FAULT]`: an agent that echoes prompts, and misbehaves as it is told, over stdio."""

from __future__ import annotations

import argparse
import asyncio

from duologue.agent import Agent, Turn, serve
from duologue.testing.faults import FAULTS, fault
from duologue.testing.misbehaving import Misbehaving
from duologue.transports.claim import claim_stdio
from duologue.transports.pipes import stdio_transport


class Echo(Agent):
    """Says each prompt again."""

    name = "echo"

    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)


async def main(name: str | None) -> None:
    transport = stdio_transport()
    await serve(Echo(), transport if name is None else Misbehaving(transport, fault(name)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m duologue.testing", description=__doc__)
    parser.add_argument("fault", nargs="?", choices=FAULTS, metavar="FAULT", help=", ".join(FAULTS))
    chosen = parser.parse_args().fault
    claim_stdio()
    asyncio.run(main(chosen))
