"""The coding agent: a loop, tools, models and permissions. It emits its own events and knows no ACP."""
