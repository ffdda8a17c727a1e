"""What the types do not tell: the same JSON in both versions, and another meaning or the id of a request in it."""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.protocol.common import table as common
from duologue.protocol.common.tools import ToolTerminal
from duologue.protocol.common.updates import PlanRemovedEvent
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.tools import ToolCallUpdate


class Meaning(msgspec.Struct, frozen=True):
    """A method or a type, and what else it means in the other version."""

    what: Any
    reason: str


#: Kept by hand; whatever differs in its JSON or behind its capability is found by comparing the versions.
MEANINGS = (
    Meaning(v2.SESSION_PROMPT, "Its answer is the end of the turn in v1, the acceptance of the prompt in v2."),
    Meaning(
        v2.SESSION_CANCEL,
        "v1 hears the end of what was cancelled from the answer of each open prompt, v2 from the next idle state.",
    ),
    Meaning(
        common.ELICITATION_CREATE,
        "The session waits for the user: a state in v2. `requestId` is the id of a request on this wire.",
    ),
    Meaning(
        common.CANCEL_REQUEST,
        "`requestId` is the id of a request on this wire, whatever the request is on the other side of the edge. Who "
        "passes messages on between two wires has to put in the other wire's id, here and in an elicitation.",
    ),
    Meaning(PlanRemovedEvent, "Only a v1 client that sent the `plan` capability knows it."),
    Meaning(
        ToolTerminal,
        "In v1 a terminal of the client, which the agent made by `terminal/create`; in v2 a display terminal of the "
        "session. It goes with what makes it known in the other version, or becomes text; see terminals.",
    ),
    Meaning(ToolCallUpdate, "`null` leaves a member as it is in v1, and clears it in v2."),
)
