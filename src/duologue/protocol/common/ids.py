"""Names for the strings and numbers that identify things on the wire."""

from duologue.protocol.base import Int64, UInt16

#: A request, unique among those that its sender has open.
RequestId = Int64 | str | None

#: A version of the protocol.
ProtocolVersion = UInt16

#: A session; the agent makes it up.
SessionId = str

#: A message of a transcript: chunks with the same id belong together.
MessageId = str

#: A tool call, unique within its session.
ToolCallId = str

#: A terminal, unique within its session.
TerminalId = str

#: A plan, unique within its session.
PlanId = str

#: One of the answers offered in a permission request.
PermissionOptionId = str

#: An elicitation that is answered outside of the protocol.
ElicitationId = str

#: A config option of a session.
SessionConfigId = str

#: A value of a config option.
SessionConfigValueId = str

#: A group of values of a config option.
SessionConfigGroupId = str

#: A way to log in.
AuthMethodId = str

#: A model provider.
ProviderId = str

#: An MCP server that the client lends over this connection.
McpServerAcpId = str

#: An open MCP connection that is tunnelled through this one.
McpConnectionId = str

#: A suggested edit.
NesSuggestionId = str
