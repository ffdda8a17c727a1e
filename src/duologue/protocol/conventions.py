"""What agents and clients have agreed on beside the specification, and both sides here need to know."""

#: The member of `_meta` by which agents tell a command that logs in, and clients that they can run one.
TERMINAL_AUTH = "terminal-auth"

#: The member of a client's `_meta` by which it says that the agent is ended after one turn, also where the session is
#: gone on with later.
ONE_TURN = "duologue-one-turn"
