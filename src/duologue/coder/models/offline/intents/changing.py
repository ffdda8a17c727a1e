"""Rules for requests that change files: replace, rename, move, create, insert, delete, undo."""

from __future__ import annotations

import re

from duologue.coder.models.offline.intents.rule import Groups, Rule, rule, text
from duologue.coder.models.offline.intents.steps import (
    Create,
    Delete,
    Insert,
    MoveFile,
    Rename,
    Replace,
    Run,
    Step,
    Undo,
)

_LOOKS_LIKE_FILE = re.compile(r"[\w./*-]*/[\w./*-]*|[\w.*-]*\.[A-Za-z]\w{0,6}")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def _rename(groups: Groups) -> Step | None:
    old, new = text(groups, "old"), text(groups, "new")
    if _LOOKS_LIKE_FILE.fullmatch(old) and _LOOKS_LIKE_FILE.fullmatch(new):
        return MoveFile(old, new)
    if not _IDENTIFIER.fullmatch(new.strip("()")) or not new:
        return Replace(old, new, groups.get("where"))
    return Rename(old.strip("()"), new.strip("()"), groups.get("where"))


def _replace(groups: Groups) -> Step:
    return Replace(text(groups, "old"), text(groups, "new"), groups.get("where"))


def _remove(groups: Groups) -> Step:
    return Replace(text(groups, "old"), "", groups.get("where"))


def _create(groups: Groups) -> Step | None:
    path = text(groups, "path")
    return Create(path, groups.get("text")) if path else None


def _make_folder(groups: Groups) -> Step:
    path = text(groups, "path").replace("'", "'\\''")
    return Run(f"mkdir -p '{path}'")


def _insert(groups: Groups) -> Step:
    place = (groups.get("place") or "end").lower()
    at = "start" if place in ("start", "top", "beginning", "head", "front") else "end"
    return Insert(text(groups, "path"), text(groups, "text"), "start" if at == "start" else "end")


def _insert_at(groups: Groups) -> Step:
    side = "after" if text(groups, "side").lower() in ("after", "below", "under", "behind") else "before"
    anchor = text(groups, "anchor")
    number = re.fullmatch(r"(?:line\s+)?(?:number\s+)?(\d+)", anchor, re.IGNORECASE)
    at = int(number[1]) if number else anchor
    return Insert(text(groups, "path"), text(groups, "text"), "after" if side == "after" else "before", at)


_WITH = (
    r"(?:,? (?:with|containing|that (?:says|contains|has|reads)|saying|which (?:says|contains)|and (?:put|write)|"
    r"having|holding|"
    r"reading)(?: {THE}(?:contents?|text|lines?|words?|following(?: contents?| text)?|body|code))?:?|"
    r":)\s*(?P<text>\S.*)"
)
_LINE = r"(?:{THE}(?:lines?|text|words?|string|sentence|paragraph|code|comment|import|following)(?: lines?| text)?:? )?"
_WHERE = r"(?:{IN}{THE}{FILE}(?P<where>{PATH})(?: files?)?)?{EVERYWHERE}"

RULES: tuple[Rule, ...] = (
    rule(r"(?:undo|revert|roll ?back|take back|reset|discard)(?: (?:that|it|this|these|those|the|your|my|all|last|"
         r"latest|previous|of|"
         r"edits?|changes?|everything|modifications?|what you (?:did|changed)|you made|step|turn))*", lambda _: Undo()),
    rule(r"(?:rename|move|mv|refactor|change the name of) {THE}(?:file|script|document|module) "
         r"(?P<old>{WORD}){TO}{THE}{FILE}(?P<new>{WORD})",
         lambda g: MoveFile(text(g, "old"), text(g, "new"))),
    rule(r"(?:move|mv) (?P<old>{PATH}){TO}(?P<new>{PATH})", lambda g: MoveFile(text(g, "old"), text(g, "new"))),
    rule(r"(?:rename|change (?:the )?name of|re-?name) {THE}{KIND}(?P<old>{WORD})(?: {KIND})?{TO}(?P<new>{WORD})" +
         _WHERE,
         _rename),
    rule(
         r"(?:replace|substitute|swap|exchange) {THE}{KIND}{THE}(?P<old>{ANY})(?:\s+(?:with|by|to|for|into)|"
         r"\s*(?:->|=>|→))\s+"
         r"(?:the (?:word|text|string|value) )?(?P<new>{WORD}|{ANY})" + _WHERE, _replace),
    rule(
         r"(?:in|inside) (?P<where>{PATH}),? (?:replace|substitute|change|swap) {THE}{KIND}(?P<old>{ANY}) "
         r"(?:with|by|to|into|for) "
         r"(?P<new>{ANY})", _replace),
    rule(r"(?:in|inside) (?P<where>{PATH}),? rename {THE}{KIND}(?P<old>{WORD}){TO}(?P<new>{WORD})", _rename),
    rule(r"(?:change|switch|turn|update|modify|edit|convert) {THE}{KIND}(?P<old>{ANY})(?:\s+(?:to|into)|\s*(?:->|=>|"
         r"→))\s+"
         r"(?P<new>{WORD}|{ANY})" + _WHERE, _replace),
    rule(r"(?:create|make|add) {THE}(?:empty )?(?:folder|directory|dir)(?: (?:named|called))? (?P<path>{WORD})",
         _make_folder),
    rule(r"(?:append|add|write|put|insert|place) " + _LINE +
         r"(?P<text>{ANY}) (?:to|at|on|in|into) (?:the )?(?:very )?(?P<place>end|bottom|"
         r"start|top|beginning|head|front) of {THE}{FILE}(?P<path>{PATH})(?: file)?", _insert),
    rule(r"prepend " + _LINE + r"(?P<text>{ANY}) (?:to|in|into) {THE}{FILE}(?P<path>{PATH})",
         lambda g: Insert(text(g, "path"), text(g, "text"), "start")),
    rule(r"(?:append|insert|add|put|write|place) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|after|above|below|at|"
         r"on|under|behind) "
         r"(?:the )?(?P<anchor>line (?:number )?\d+){IN}{THE}{FILE}(?P<path>{PATH})", _insert_at),
    rule(r"(?:in|inside) (?P<path>{PATH}),? (?:insert|add|put|append) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|"
         r"after|above|below|at) "
         r"(?:the )?(?P<anchor>line (?:number )?\d+|{ANY})", _insert_at),
    rule(r"(?:append|insert|add|put|write|place) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|after|above|below) "
         r"{THE}(?:lines? )?"
         r"(?:with |containing |that says |saying )?(?P<anchor>{ANY}){IN}{THE}{FILE}(?P<path>{PATH})", _insert_at),
    rule(r"(?:create|make|generate|touch|start|write|add|save|set up|produce) {THE}(?:(?:empty|blank|small|simple|"
         r"short|new|text|python|"
         r"markdown|json) )*(?:file|script|module|document)(?: (?:named|called|at|with (?:the )?name|in))? "
         r"(?P<path>{WORD})(?:"
         + _WITH + r")?", _create),
    rule(r"(?:create|make|generate|touch|write|save|new|new file|produce) {THE}(?:empty |blank )?(?P<path>{PATH})(?:"
         + _WITH +
         r")?", _create),
    rule(r"append " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}{FILE}(?P<path>{PATH})(?: file)?", _insert),
    rule(r"append to {THE}{FILE}(?P<path>{PATH})(?: {THE}(?:line|text))?:?\s+(?P<text>\S.*)", _insert),
    rule(r"(?:write|save|store) " + _LINE +
         r"(?P<text>{ANY}) (?:to|into|in|as) {THE}{FILE}(?P<path>{PATH})(?: file)?", _create),
    rule(r"(?:put|add|insert) " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}new file (?P<path>{PATH})", _create),
    rule(r"(?:put|add|insert) " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}{FILE}(?P<path>{PATH})(?: file)?",
         _insert),
    rule(r"(?:delete|remove|rm|erase|trash|drop|get rid of|unlink) {THE}(?:file |script |document )(?P<path>{WORD})",
         lambda g: Delete(text(g, "path"))),
    rule(r"(?:delete|remove|erase|drop|get rid of|strip|cut|take out) {THE}{KIND}(?:lines? )?(?P<old>{ANY}) (?:from|"
         r"in|out of) {THE}{FILE}"
         r"(?P<where>{PATH})", _remove),
    rule(r"(?:delete|remove|rm|erase|trash|drop|get rid of|unlink) (?:-f )?{THE}(?P<path>{PATH}|it|that)(?: file)?",
         lambda g: Delete(text(g, "path"))),
)  # fmt: skip
