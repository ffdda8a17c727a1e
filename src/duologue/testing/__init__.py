"""For the tests of those who build on Duologue: both ends in memory, scripted peers, bare lines, and peers that
misbehave on purpose. The fixtures for pytest are in `duologue.testing.fixtures`."""

from duologue.testing.answers import Answers
from duologue.testing.faults import FAULTS, Fault, fault
from duologue.testing.joining import connected
from duologue.testing.lines import Call, Cancel, End, Failure, Form, Line, Prompt, Question, Reply, Thought, Update
from duologue.testing.misbehaving import Misbehaving
from duologue.testing.script import Mismatch, Script
from duologue.testing.scripted_agent import ScriptedAgent
from duologue.testing.scripted_client import ScriptedClient
from duologue.testing.wire import PATIENCE, Wire, settle, until, wire_to

__all__ = [
    "FAULTS",
    "PATIENCE",
    "Answers",
    "Call",
    "Cancel",
    "End",
    "Failure",
    "Fault",
    "Form",
    "Line",
    "Misbehaving",
    "Mismatch",
    "Prompt",
    "Question",
    "Reply",
    "Script",
    "ScriptedAgent",
    "ScriptedClient",
    "Thought",
    "Update",
    "Wire",
    "connected",
    "fault",
    "settle",
    "until",
    "wire_to",
]
