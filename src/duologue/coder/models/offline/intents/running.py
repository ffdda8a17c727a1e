"""Rules for requests that run something: tests, repairs, the linter, a command; and for small talk."""

from __future__ import annotations

import re

from duologue.coder.models.offline.intents.rule import Groups, Rule, rule, text
from duologue.coder.models.offline.intents.steps import Declined, Hello, Lint, Repair, Run, Step, Test

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


_SHOW_IT = (
    r"(?:,? (?:and|then|and then) (?:show|tell|give|print|report|say)(?: (?:me|us|what|the|its|all|of|it|that|you|see|"
    r"says?|said|prints?|printed|gives?|outputs?|results?|happens|happened|comes|out))*)?"
)


def _test(groups: Groups) -> Step:
    return Test(groups.get("x"))


def _repair(groups: Groups) -> Step:
    target = groups.get("x")
    return Repair(None if (target or "").lower() in ("it", "this", "that", "them", "these", "everything") else target)


_ACTUAL = (
    r"(?:not (?:pass(?:ing)?|work(?:ing)?|green|ok(?:ay)?)|fail(?:s|ed|ing)?|broken|red|break(?:s|ing)?|broke|"
    r"(?:does|do|did)(?:n't| not) (?:pass|work))"
)
_SOUGHT = (
    r"(?:find|locate|look(?: for)?|search(?: for)?|show|list|identify|see|tell|get|determine|report|which|what|spot)"
    r"(?: me)?(?: out)?(?: for)?(?: which| what| are| is)*"
)
_GIT = (
    "add|am|apply|archive|bisect|blame|branch|bundle|checkout|cherry-pick|clean|clone|commit|config|describe|diff|"
    "fetch|grep|init|log|ls-files|merge|mv|notes|pull|push|rebase|reflog|remote|reset|restore|rev-parse|revert|rm|"
    "shortlog|show|stash|status|submodule|switch|tag|worktree"
)
_ARGUMENTS = r"(?: \S.*)?"
_COMMAND_LINE = (
    rf"git (?:{_GIT}){_ARGUMENTS}|git -\S+{_ARGUMENTS}|(?:python3?|node|bash|sh) (?:-\S+|\S+\.\w+){_ARGUMENTS}"
    rf"|(?:pip3?|npm|pnpm|yarn|uv|poetry|cargo|go|docker) (?:-\S+|install|run|build|test|list|ls|ps|show|check|fmt|vet|"
    rf"mod|sync|add|update|init|freeze|ci|start|exec|logs|images|version){_ARGUMENTS}"
    rf"|(?:ls|wc|head|tail|grep|find|du|df|tree|ps|rm|cp|mkdir|chmod|ruff|mypy|tox|nox|black|make|cat|sort)"
    rf" -{{1,2}}\w\S*{_ARGUMENTS}|(?:ruff|coverage) (?:check|format|run|report){_ARGUMENTS}|mypy \S+|"
    r"make(?: (?:all|build|check|clean|demo|dist|docs?|format|install|lint|test))?|"
    r"pwd|date|whoami|uname(?: -\w+)?|tox|nox|mypy|df|env|echo \S.*"
)


def _again(_: Groups) -> Step:
    return Run("it")


def _run(groups: Groups) -> Step | None:
    command = text(groups, "x")
    if command.startswith("`"):  # a shell would run what is quoted, and then what that prints
        return Declined(
            f"I do not know what is the command in “{command}”. Say it alone, as in “run `ls -la`”: it runs in the "
            "folder of the project."
        )
    return (
        Run(command)
        if command
        and not re.match(r"(?:(?:it|that|this|them|those|again|check|everything)$|the\s|all\s)", command, re.IGNORECASE)
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
    rule(r"(?:(?:re-?run|re-?try|repeat|run|execute|start|try)(?: (?:it|them|those|these|that|the same))?(?: all| once "
         r"more)*|again|once more)", _again),
    rule(_SOUGHT + r" {THE}(?:currently |unit )*(?:failing|failed|broken|red) (?:unit )?(?:tests?|test ?cases?|suite|"
         r"specs?)(?: (?:are|is)(?: there)?)?" + _OF + r"(?:{IN}{THE}{PROJECT}|{EVERYWHERE})", _test),
    rule(_SOUGHT + r" {THE}" + _TESTS + r" (?:(?:that|which|who) )?(?:is |are |do |does )?(?:currently )?" + _ACTUAL +
         r"(?:{IN}{THE}{PROJECT}|{EVERYWHERE})", _test),
    rule(r"(?:find|locate|look|see|tell|show|identify|check|determine)(?: me)?(?: out)? (?:what|which|whatever)"
         r"(?: is| are)? " + _ACTUAL + r"(?:{IN}{THE}{PROJECT}|{EVERYWHERE})", _test),
    rule(r"(?:find|locate|identify|look for|hunt|track down|search for) {THE}(?:bugs?|faults?|defects?|regressions?)",
         _test),
    rule(_SOUGHT + r" {THE}(?:test )?failures?", _test),
    rule(r"(?:find out|see|tell me|figure out|check|determine|explain|show me|look) why(?:{+THE}(?: " + _TESTS + r")?"
         r"(?: (?P<x>test_\w+|Test[A-Z]\w*))?(?: (?:it|they|that))?(?: (?:is|are|do|does))? " + _ACTUAL +
         r")?|why(?: is (?:that|it))?", _test),
    rule(r"(?:(?:(?:there )?(?:is|'s|are)|i have|we have|i see|i get|got) )?(?:(?:a|an|one|two|three|some|several|"
         r"many|most|all|both|of|the|my|our|few|\d+) )*" + _TESTS + _OF +
         r"(?: (?:is|are|seems?(?: to be)?|now|still|currently|keeps?|always|just|do|does|did|all))* " + _ACTUAL +
         r"(?: (?:in|for|on) (?:this|the) {PROJECT}| here)?", _test),
    rule(r"(?:(?:there )?(?:is|'s|are)|i have|we have|i see|i get) (?:(?:a|an|one|two|three|some|several|many|few|"
         r"\d+) )*(?:failing|failed|broken|red) tests?(?: here)?(?: cases?)?" + _OF, _test),
    rule(r"{THE}(?:test )?(?P<x>(?:[\w.-]+/)*test_\w+(?:\.py)?(?:::\S+)?|Test\w+)"
         r"(?: (?:is|are|does|still|now))* " + _ACTUAL, _test),
    rule(r"what(?:'s| is|s) (?:(?:currently|still) )?(?:failing|broken|red|wrong)(?: here)?", _test),
    rule(r"(?:figure|work) out (?:what|which|why)(?: is| are|{+THE} " + _TESTS + r")? " + _ACTUAL, _test),
    rule(r"{THE}" + _TESTS + r" (?:(?:should|must|all|now|still|do) )*(?:pass(?:es|ing)?|work|succeed)", _test),
    rule(r"(?:fix|repair)(?: (?:the )?(?:rest|lot))?", lambda _: Repair()),
    rule(r"(?:fix|repair|mend) {THE}(?:failing|failed|broken|red) ones?", lambda _: Repair()),
    rule(r"(?:fix|repair|mend) {THE}(?:test )?(?P<x>test_\w+){IN}{THE}{FILE}{PATH}", _repair),
    rule(r"(?:something|it)(?:'s| is) (?:broken|failing|red)|something fails", _test),
    rule(r"(?:fix|repair|mend|correct|solve|debug|resolve|handle) (?:(?:what|whatever|anything|everything|something|"
         r"those|that|the ones?|all|any|things?|which) ?)+(?:(?:is|are|was|were|does|do|did|you) ?)*(?:" + _ACTUAL +
         r"|found?|finds?|wrong|red|is)(?: out)?", lambda _: Repair()),
    rule(r"(?:fix|repair|mend|correct|resolve|clean ?up|remove|delete|solve|apply) {THE}(?:\w+ )?" + _LINTER +
         r"(?: errors?| warnings?| problems?| issues?| findings?| complaints?| "
         r"fixes)*(?:{IN}{THE}{FILE}(?P<x>{PATH})|{EVERYWHERE})",
         lambda g: Lint(repair=True, target=g["x"])),
    rule(r"(?:(?:run|check|start|execute|do|show|find|report|list|look for|use|call)(?: me)?(?: with| for)? )?"
         r"{THE}" + _LINTER +
         r"(?: errors?| warnings?| problems?| check| code| project)*"
         r"(?: {THE}(?:{PROJECT}|files|everything|it|this|that))?(?:(?: (?:on|in|for|over))? "
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
    rule(r"(?:make|get){+THE}(?: " + _TESTS + r")?(?: (?P<x>{PATH}|test\w+|Test\w+))?(?: to)? (?:pass(?:ing)?|green|"
         r"work|succeed|go green|be green|run)"
         r"(?: again)?", _repair),
    rule(r"why (?:is|does|do|are|did){+THE}(?: " + _TESTS + r")?(?: (?P<x>{PATH}|test\w+))? (?:fail(?:s|ing|ed)?|"
         r"broken|red|not pass(?:ing)?|"
         r"break)", _test),
    rule(r"(?:(?:run|re-?run|execute|start|launch|check|do|try|perform|call|use|invoke)(?: again)? "
         r")?{THE}(?:project'?s? |its )?" + _TESTS +
         _OF + r"(?: again)?(?: (?:for|of|in|from) (?:this|the) {PROJECT})?" + _REPORT, _test),
    rule(r"(?:run|execute) (?:only |just )?(?P<x>test\w+|Test\w+|[\w/]*test\w*\.py(?:::\S+)?)", _test),
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
         r"|bash|command line))?" + _SHOW_IT, _run),
    rule(r"(?:in (?:the |a )?(?:shell|terminal|console),? )(?:run|execute|type|do)?\s*(?P<x>\S.*)", _run),
    rule(r"[$!]\s*(?P<x>\S.*)", _run),
    rule(rf"(?P<x>{_COMMAND_LINE})", _run),
    rule(r"(?:show|give|tell)(?: me)? {THE}(?P<x>git (?:status|log|diff))", _run),
)  # fmt: skip
