"""Lines that a type checker must refuse, each with its mark, between lines that it must take."""

from typing import assert_type

from duologue.protocol import v1, v2
from duologue.protocol.method import Notification, P, R, Request
from duologue.protocol.v1 import table as methods_v1
from duologue.protocol.v2 import table as methods_v2


def call(method: Request[P, R], params: P) -> R:
    raise NotImplementedError(method, params)


def tell(method: Notification[P], params: P) -> None:
    raise NotImplementedError(method, params)


new = v2.NewSessionRequest(cwd="/")
assert_type(call(methods_v2.SESSION_NEW, new), v2.NewSessionResponse)
wrong_result: v2.PromptResponse = call(methods_v2.SESSION_NEW, new)  # must fail
call(methods_v2.SESSION_PROMPT, new)  # must fail
call(methods_v1.SESSION_NEW, new)  # must fail
call(methods_v2.SESSION_CANCEL, v2.CancelSessionNotification(session_id="1"))  # must fail
tell(methods_v2.SESSION_CANCEL, v2.CancelSessionNotification(session_id="1"))
tell(methods_v2.SESSION_CANCEL, v1.CancelNotification(session_id="1"))  # must fail

# Params and results may be unions.
form = v2.FormElicitation(message="Which?", session_id="1", requested_schema=v2.ElicitationSchema())
answer = call(methods_v2.ELICITATION_CREATE, form)
if isinstance(answer, v2.AcceptElicitation):
    assert_type(answer, v2.AcceptElicitation)
print(answer.content)  # must fail

# Variants carry their tag; the untagged struct of the same kind is no variant.
chunk = v2.AgentMessageChunk(message_id="1", content=v2.TextBlock(text="a"))
v2.UpdateSessionNotification(session_id="1", update=chunk)
v2.UpdateSessionNotification(session_id="1", update=v2.ToolCallUpdate(tool_call_id="1"))  # must fail
v2.UpdateSessionNotification(session_id="1", update=v2.ToolCallUpdateEvent(tool_call_id="1"))
v2.AgentMessageChunk(message_id="1", content=v2.TextContent(text="a"))  # must fail
v2.AgentMessageChunk(message_id="1", content=v1.ResourceLinkBlock(name="a", uri="a:"))  # must fail

# Values are frozen, and made from names.
chunk.message_id = "2"  # must fail
v2.TextBlock("a")  # must fail
v2.TextBlock()  # must fail
v2.TextBlock(text=None)  # must fail
v2.SessionInfoUpdate(title=None)
