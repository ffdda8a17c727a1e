"""Rules for requests that run something: tests, repairs, the linter, a command; and for small talk."""

from __future__ import annotations

import re

from duologue.coder.models.offline.intents.rule import Groups, Rule, rule, text
from duologue.coder.models.offline.intents.steps import Hello, Lint, Repair, Run, Step, Test

_TESTS = (
    r"(?:unit |failing |broken |red |python |existing |regression )*"
    r"(?:tests?|test ?suite|suite|test cases?|pytest|unit ?tests?|specs?)"
)
_OF = r"(?:(?: (?:in|for|of|from|at|against|on))? {THE}{FILE}(?P<x>{PATH}|test\w+|Test\w+)(?: tests?)?)?"
_LINTER = r"(?:lint(?:er|ing|s)?|ruff|flake8|pyflakes|unused imports?|undefined names?|style|code style|static checks?)"
_REPORT = (
    r"(?:,? (?:and|then|and then) (?:report|tell me|show(?: me)?|say|list|explain|see|summari[sz]e)(?: what| which| "
    r"the| if| whether|"
    r" all| any| tests?| ones?| fail(?:s|ed|ures?|ing)?| pass(?:es|ed|ing)?| they| results?| broke| is| are| or|"
    r" not| happen(?:s|ed)|"
    r" errors?)+)?"
)


def _test(groups: Groups) -> Step:
    return Test(groups.get("x"))


def _repair(groups: Groups) -> Step:
    target = groups.get("x")
    return Repair(None if (target or "").lower() in ("it", "this", "that", "them", "these", "everything") else target)


def _run(groups: Groups) -> Step | None:
    command = text(groups, "x")
    return (
        Run(command)
        if command and not re.match(r"(?:(?:it|that|this|them)$|the\s|all\s)", command, re.IGNORECASE)
        else None
    )


SMALL_TALK: tuple[Rule, ...] = (
    rule(r"(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|yo|greetings|hallo|servus|salut|ping|test|"
         r"testing)(?: there| all|"
         r" duologue| agent)?[\s!.,?]*", lambda _: Hello("hello")),
    rule(r"(?:thanks?(?: you)?|thx|ty|cheers|great|nice|cool|perfect|good (?:job|work)|well done|awesome|ok(?:ay)?|"
         r"bye|goodbye|no|yes|"
         r"never ?mind)(?: very much| a lot| so much|,? thanks?| that(?:'s| is) all)?[\s!.]*", lambda _: Hello(
             "thanks")),
    rule(
         r"(?:who|what)(?: are|'re|'s| is) (?:you|your name|this (?:agent|model))\??|(?:are you|what) (?:an? "
         r")?(?:ai|llm|language model|"
         r"gpt|claude|chatgpt|bot|robot|human|model)(?: are you)?(?: is this)?\??|what'?s your name\??|introduce "
         r"yourself",
         lambda _: Hello("who")),
    rule(r"(?:help|what|how)(?: me)?(?: can| do| should| could)?(?: you| i| we)?(?: do| ask| use| say| help| type| "
         r"here| you| this| me| with|"
         r" for)*\??|(?:show|list|tell)(?: me)? (?:what you can do|your (?:commands|abilities|skills)|the help|"
         r"help)|(?:your )?"
         r"(?:abilities|capabilities|usage|commands)\??", lambda _: Hello("help")),
)  # fmt: skip

RULES: tuple[Rule, ...] = (
    rule(r"(?:fix|repair|mend|correct|resolve|clean ?up|remove|delete|solve|apply) {THE}(?:\w+ )?" + _LINTER +
         r"(?: errors?| warnings?| problems?| issues?| findings?| complaints?| "
         r"fixes)*(?:{IN}{THE}{FILE}(?P<x>{PATH})|{EVERYWHERE})",
         lambda g: Lint(repair=True, target=g["x"])),
    rule(r"(?:(?:run|check|start|execute|do|show|find|report|list|look for|use|call)(?: me)?(?: with| for)? )?"
         r"{THE}" + _LINTER +
         r"(?: errors?| warnings?| problems?| check| code| project)*(?:(?: (?:on|in|for|over))? "
         r"{THE}{FILE}(?P<x>{PATH})|{EVERYWHERE})?",
         lambda g: Lint(target=g["x"])),
    rule(r"(?:fix|repair|mend|correct|debug|solve|heal|resolve|unbreak|sort out|take care of) {THE}(?:" + _TESTS +
         r"|bugs?|fail(?:ure|ing|ed|s)+|errors?|problems?|issues?|regressions?|defects?|build|code|project|program|"
         r"it|that|them|everything|mistake|fault)"
         r"(?: tests?| fail(?:s|ing|ures?)?| errors?| cases?| bugs?)*" + _OF +
         r"(?: (?:that|which) (?:is|are|was|were|the)? ?(?:tests?|fail(?:s|ing|ed)?|broken|red|breaks|finds?|shows?|"
         r"catch(?:es)?|caught|found|\s)*)?"
         r"(?: so (?:that )?(?:the |all |it |tests? )+pass(?:es)?)?(?: (?:and|so that) (?:prove|check|verify) (?:it|"
         r"that|the fix))?"
         r"{EVERYWHERE}", _repair),
    rule(r"(?:fix|repair|mend|debug|correct|solve) {THE}{FILE}(?P<x>{PATH}|test\w+|Test\w+|{WORD})(?: tests?)?",
         _repair),
    rule(r"(?:make|get){+THE}(?: " + _TESTS + r")?(?: (?P<x>{PATH}|test\w+|Test\w+))?(?: to)? (?:pass|green|work|"
         r"succeed|go green|be green|run)"
         r"(?: again)?", _repair),
    rule(r"why (?:is|does|do|are|did){+THE}(?: " + _TESTS + r")?(?: (?P<x>{PATH}|test\w+))? (?:fail(?:s|ing|ed)?|"
         r"broken|red|not pass(?:ing)?|"
         r"break)", _test),
    rule(r"(?:(?:run|re-?run|execute|start|launch|check|do|try|perform|call|use|invoke)(?: again)? "
         r")?{THE}(?:project'?s? |its )?" + _TESTS +
         _OF + r"(?: again)?(?: (?:for|of|in|from) (?:this|the) {PROJECT})?" + _REPORT, _test),
    rule(r"(?:run|execute) (?P<x>test\w+|Test\w+|[\w/]*test\w*\.py(?:::\S+)?)", _test),
    rule(r"(?:do|does|are|is|did|will|see if|check (?:if|whether|that)|tell me (?:if|whether)|verify (?:that )?) "
         r"?{THE}" + _TESTS + _OF +
         r"(?: all| still| now)*(?: pass(?:es|ing|ed)?| green| fail(?:s|ing|ed)?| ok(?:ay)?| work(?:s|ing)?| "
         r"succeed)(?: now| again)?", _test),
    rule(r"(?:which|what|how many|show(?: me)?|list|report|tell me|see)(?: which| what| are| is| the)*{+THE}(?: " +
         _TESTS +
         r")?"
         r"(?: is| are| has| have)? (?:fail(?:s|ing|ed|ures?)?|broken|red|pass(?:es|ing|ed)?|broke|test "
         r"results?)(?: tests?)?"
         r"(?: currently| now| here)?", _test),
    rule(r"test (?:it|this|that|everything|again|{THE}{PROJECT}|{THE}(?P<x>{PATH}))", _test),
    rule(r"(?:(?:python3? )?-m )?pytest(?: (?P<x>[\w./:\[\]-]+))?", _test),
    rule(r"(?:run|execute|exec|launch|start|issue|invoke|call|try|type)(?: {THE}(?:shell |terminal |bash |console |"
         r"system )?"
         r"(?:commands?|cmd|line|program|script|process|shell))?(?: called)?:?\s+(?P<x>\S.*?)(?: in (?:the |a |my "
         r")?(?:shell|terminal|console"
         r"|bash|command line))?", _run),
    rule(r"(?:in (?:the |a )?(?:shell|terminal|console),? )(?:run|execute|type|do)?\s*(?P<x>\S.*)", _run),
    rule(r"[$!]\s*(?P<x>\S.*)", _run),
)  # fmt: skip
