"""Rules for requests that change files: replace, rename, move, create, insert, delete, undo."""

from __future__ import annotations

import shlex

from duologue.coder.models.offline.intents import meaning
from duologue.coder.models.offline.intents.rule import Groups, Rule, quoted, rule, text
from duologue.coder.models.offline.intents.steps import Declined, Delete, Insert, MoveFile, Replace, Run, Step, Undo


def _remove(groups: Groups) -> Step:
    where = groups.get("where") or ""
    if where.endswith(".py") and not quoted(groups, "old") and meaning.NAME.fullmatch(text(groups, "old")):
        return Declined(
            f"I can only remove exact text, and `{text(groups, 'old')}` is a name. "
            f'Quote all the text that has to go: “remove "..." from {where}”.'
        )
    return Replace(text(groups, "old"), "", groups.get("where"))


def _make_folder(groups: Groups) -> Step:
    path = text(groups, "path")
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        return Declined(f"I make folders in this project only, and “{path}” may lie elsewhere.")
    return Run(shlex.join(["mkdir", "-p", f"./{path}" if path.startswith("-") else path]))


_WITH = (
    r"(?P<as>,? (?:with|containing|that (?:says|contains|has|reads)|saying|which (?:says|contains)|and (?:put|write)|"
    r"having|holding|"
    r"reading)(?: {THE}(?:contents?|text|lines?|words?|following(?: contents?| text)?|body|code))?:?|"
    r":)\s*(?P<text>\S.*)"
)
_LINE = (
    r"(?P<as>{THE}(?:lines?|text|words?|string|sentence|paragraph|code|comment|following)"
    r"(?: lines?| text)?:? )?"
)
_WHERE = r"(?:{IN}{THE}{FILE}(?P<where>{PATH})(?: files?)?)?{EVERYWHERE}"

RULES: tuple[Rule, ...] = (
    rule(r"(?:undo|revert|roll ?back|take back|reset|discard)(?: (?:that|it|this|these|those|the|your|my|all|last|"
         r"latest|previous|of|"
         r"edits?|changes?|everything|modifications?|what you (?:did|changed)|you made|step|"
         r"turn|rename|repair|fix|replacement))*", lambda _: Undo()),
    rule(r"(?:rename|move|mv|refactor|change the name of) {THE}(?:file|script|document|module) "
         r"(?P<old>{WORD}){TO}{THE}{FILE}(?P<new>{WORD})",
         lambda g: MoveFile(text(g, "old"), text(g, "new"))),
    rule(r"(?:move|mv) (?P<old>{PATH}){TO}(?P<new>{PATH})", lambda g: MoveFile(text(g, "old"), text(g, "new"))),
    rule(r"(?:rename|change (?:the )?name of|re-?name) {THE}{KIND}(?P<old>{WORD})(?: {KIND})?{TO}(?P<new>{WORD})" +
         _WHERE,
         meaning.rename),
    rule(
         r"(?:replace|substitute|swap|exchange) {THE}{KIND}{THE}(?P<old>{ANY})(?:\s+(?:with|by|to|for|into)|"
         r"\s*(?:->|=>|→))\s+"
         r"(?:the (?:word|text|string|value) )?(?P<new>{WORD}|{ANY})" + _WHERE, meaning.replacement),
    rule(
         r"(?:in|inside) (?P<where>{PATH}),? (?:replace|substitute|swap) {THE}{KIND}(?P<old>{ANY}) "
         r"(?:with|by|to|into|for) "
         r"(?P<new>{ANY})", meaning.replacement),
    rule(r"(?:in|inside) (?P<where>{PATH}),? (?:change|set|turn|update) {THE}{KIND}(?P<old>{ANY}) (?:to|into) "
         r"(?P<new>{ANY})", meaning.change),
    rule(r"(?:in|inside) (?P<where>{PATH}),? rename {THE}{KIND}(?P<old>{WORD}){TO}(?P<new>{WORD})", meaning.rename),
    rule(r"(?:change|set|update|increase|raise|lower|decrease|reduce|bump) {THE}(?:value of )?{THE}{KIND}"
         r"(?P<old>{WORD}) from \S+ to (?P<new>{WORD})" + _WHERE, meaning.assign),
    rule(r"(?:change|switch|turn|update|modify|edit|convert) {THE}{KIND}(?P<old>{ANY})(?:\s+(?:to|into)|\s*(?:->|=>|"
         r"→))\s+"
         r"(?P<new>{WORD}|{ANY})" + _WHERE, meaning.change),
    rule(r"(?P<old>[^\W\d]\w*) (?:should|must|has to) (?:be|equal) (?P<new>{WORD})" + _WHERE, meaning.assign),
    rule(r"make (?P<old>[^\W\d]\w*) (?P<new>-?\d[\d._]*)" + _WHERE, meaning.assign),
    rule(r"(?:set|make|increase|raise|lower|decrease|reduce|bump) {THE}(?:value of )?{THE}{KIND}(?P<old>{WORD})"
         r"(?: (?:to|equal to|be|as)|\s*=)\s+(?P<new>{WORD})" + _WHERE,
         meaning.assign),
    rule(r"set {THE}(?:value of )?{THE}{KIND}(?P<old>{WORD})(?: (?:to|equal to|as)|\s*=)\s*(?P<new>{ANY})"
         + _WHERE, meaning.set_value),
    rule(r"(?P<old>[^\W\d]\w*)\s*=\s*(?P<new>{ANY})" + _WHERE, meaning.assign),
    rule(r"(?:create|make|add) {THE}(?:empty )?(?:folder|directory|dir)(?: (?:named|called))? (?P<path>{WORD})",
         _make_folder),
    rule(r"(?:append|add|write|put|insert|place) " + _LINE +
         r"(?P<text>{ANY}) (?:to|at|on|in|into) (?:the )?(?:very )?(?P<place>end|bottom|"
         r"start|top|beginning|head|front) of {THE}{FILE}(?P<path>{PATH})(?: file)?", meaning.insert),
    rule(r"prepend " + _LINE + r"(?P<text>{ANY}) (?:to|in|into) {THE}{FILE}(?P<path>{PATH})",
         lambda g: meaning.insertion(g, Insert(text(g, "path"), text(g, "text"), "start"))),
    rule(r"(?:append|insert|add|put|write|place) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|after|above|below|at|"
         r"on|under|behind) "
         r"(?:the )?(?P<anchor>line (?:number )?\d+){IN}{THE}{FILE}(?P<path>{PATH})", meaning.insert_at),
    rule(r"(?:in|inside) (?P<path>{PATH}),? (?:insert|add|put|append) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|"
         r"after|above|below|at) "
         r"(?:the )?(?P<anchor>line (?:number )?\d+|{ANY})", meaning.insert_at),
    rule(r"(?:append|insert|add|put|write|place) " + _LINE + r"(?P<text>{ANY}) (?P<side>before|after|above|below) "
         r"{THE}(?:lines? )?"
         r"(?:with |containing |that says |saying )?(?P<anchor>{ANY}){IN}{THE}{FILE}(?P<path>{PATH})",
         meaning.insert_at),
    rule(r"(?:create|make|generate|touch|start|write|add|save|set up|produce) {THE}(?:(?:empty|blank|small|simple|"
         r"short|new|text|python|"
         r"markdown|json) )*(?:file|script|module|document)(?: (?:named|called|at|with (?:the )?name|in))? "
         r"(?P<path>{WORD})(?:"
         + _WITH + r")?", meaning.create),
    rule(r"(?:create|make|generate|touch|write|save|new|new file|produce) {THE}(?:empty |blank )?(?P<path>{PATH})(?:"
         + _WITH +
         r")?", meaning.create),
    rule(r"append " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}{FILE}(?P<path>{PATH})(?: file)?", meaning.insert),
    rule(r"append to {THE}{FILE}(?P<path>{PATH})(?P<as> {THE}(?:line|text))?:?\s+(?P<text>\S.*)", meaning.insert),
    rule(r"(?:write|save|store) " + _LINE +
         r"(?P<text>{ANY}) (?:to|into|in|as) {THE}{FILE}(?P<path>{PATH})(?: file)?", meaning.create),
    rule(r"(?:put|add|insert) " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}new file (?P<path>{PATH})",
         meaning.create),
    rule(r"(?:put|add|insert) " + _LINE + r"(?P<text>{ANY}) (?:to|into|in) {THE}{FILE}(?P<path>{PATH})(?: file)?",
         meaning.insert),
    rule(r"(?:delete|remove|rm|erase|trash|drop|get rid of|unlink) {THE}(?:file |script |document )(?P<path>{WORD})",
         lambda g: Delete(text(g, "path"))),
    rule(r"(?:delete|remove|erase|drop|get rid of|strip|cut|take out) {THE}{KIND}(?:lines? )?(?P<old>{ANY}) (?:from|"
         r"in|out of) {THE}{FILE}"
         r"(?P<where>{PATH})", _remove),
    rule(r"(?:delete|remove|rm|erase|trash|drop|get rid of|unlink) (?:-f )?{THE}(?P<path>{PATH}|it|that)(?: file)?",
         lambda g: Delete(text(g, "path"))),
)  # fmt: skip
