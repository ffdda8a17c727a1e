"""What the kinds of a permission's options mean to both sides."""

from __future__ import annotations

from duologue.protocol.common.permission import PermissionOptionKind

#: The kinds that let the agent act. One that is not known does not.
ALLOWING = frozenset({PermissionOptionKind.ALLOW_ONCE, PermissionOptionKind.ALLOW_ALWAYS})
