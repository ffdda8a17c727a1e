"""Rules for requests that only look: find, list, show, explain, describe."""

from __future__ import annotations

from duologue.coder.models.offline.intents.rule import Groups, Rule, number, rule, text
from duologue.coder.models.offline.intents.steps import Describe, Explain, Find, FindFiles, ListFiles, Show, Step

_KINDS_OF_FILE = {
    "python": "*.py", "markdown": "*.md", "text": "*.txt", "json": "*.json", "yaml": "*.y*ml", "toml": "*.toml",
    "rust": "*.rs", "go": "*.go", "javascript": "*.js", "typescript": "*.ts", "html": "*.html", "css": "*.css",
    "shell": "*.sh", "c": "*.[ch]", "java": "*.java", "csv": "*.csv", "xml": "*.xml", "config": "*.cfg", "test":
        "*test*",
}  # fmt: skip


def _find(groups: Groups) -> Step | None:
    wanted = text(groups, "x")
    if not wanted or wanted.lower() in ("it", "that", "them", "this"):
        return None
    return Find(wanted, groups.get("where"))


def _definition(groups: Groups) -> Step:
    """Where there is none, the places of the name are shown."""
    return Find(text(groups, "x"), groups.get("where"), definition=True)


def _regex(groups: Groups) -> Step:
    return Find(text(groups, "x"), groups.get("where"), regex=True)


def _kind_of_file(groups: Groups) -> Step | None:
    pattern = _KINDS_OF_FILE.get(text(groups, "x").lower())
    return FindFiles(pattern) if pattern else None


def _extension(groups: Groups) -> Step:
    return FindFiles("*." + text(groups, "x").lstrip("*."))


def _lines(groups: Groups) -> Step:
    first, last = number(groups, "a"), number(groups, "b")
    return Show(text(groups, "path"), first, last if last is not None else first)


def _first_lines(groups: Groups) -> Step:
    return Show(text(groups, "path"), 1, number(groups, "b"))


_LOOK = r"(?:find|search|grep|look|locate|scan|hunt|seek|show|list|give|get|tell)(?: me)?(?: up)?(?: for)?"
_WHERE = r"(?:{EVERYWHERE}|{IN}{THE}{FILE}(?P<where>{WORD})(?: files?| folder| directory)?)"

RULES: tuple[Rule, ...] = (
    rule(rf"(?:(?:{_LOOK}|any|are there|what|which|where are|how many) )?{{THE}}(?:open |remaining |left )*"
         r"(?P<x>todo|fixme|xxx|hack)s?(?: (?:comments?|notes?|items?|markers?|are|there|left|remain|we|have|do|open))*"
         + f"(?:{_WHERE})?", lambda g: Find(text(g, "x").upper(), g.get("where"))),
    rule(
        r"(?:what(?:'s| is| does| do| are)|tell me (?:about|what)|describe|explain|summari[sz]e|outline|introduce|"
        r"(?:give|show|write)(?: me)? (?:an? )?(?:short |quick |brief )?(?:overview|summary|description|outline|"
        r"tour) of|"
        r"how (?:is|does|do)|walk me through|get to know|overview of|summary of) {THE}{PROJECT}"
        r"(?: do| does| is| work| works| for| about| all about| is about| organi[sz]ed| structured| laid out| here)*",
        lambda _: Describe(),
    ),
    rule(
        r"(?:what(?:'s| is| does) (?:this|it|all this|here)(?: all)?(?: do| about| for)?|what am i looking at|"
        r"(?:project )?(?:overview|summary)|describe|explain(?: this| everything)?|summari[sz]e(?: this| everything)?)",
        lambda _: Describe(),
    ),
    rule(r"(?:show|print|display|read|view|open|cat|give|get)(?: me)? (?:the )?lines? (?P<a>\d+)"
         r"(?:\s*(?:-|–|to|until|through|and)\s*(?P<b>\d+))?{IN}{THE}{FILE}(?P<path>{WORD})", _lines),
    rule(r"(?:show|print|display|read|view|open|cat|give|get)(?: me)? {THE}{FILE}(?P<path>{PATH}),? (?:at |from "
         r")?lines? "
         r"(?P<a>\d+)(?:\s*(?:-|–|to|until|through|and)\s*(?P<b>\d+))?", _lines),
    rule(r"(?:show|print|display|read|view|give|get|head)(?: me)? (?:the )?(?:first|top) (?P<b>\d+) "
         r"lines?{IN}{THE}{FILE}"
         r"(?P<path>{WORD})", _first_lines),
    rule(r"(?:(?:have|take) a )?(?:look|glance|peek) (?:at|into|inside|over) {THE}{FILE}(?P<path>{PATH})(?: file)?",
         lambda g: Show(text(g, "path"))),
    rule(rf"(?:{_LOOK}|which|what){{+THE}} (?P<x>\w+) (?:files|scripts)(?: are there| do (?:we|you|i) have| exist| "
         rf"here)?{{EVERYWHERE}}",
         _kind_of_file),
    rule(r"(?:list|ls|dir|show|print|display|give|tell|what|which|see)(?: me)?(?: are)? {THE}(?:source |project )?"
         r"(?:files|folders|tree|directories|directory|layout|file list|contents of the (?:folder|directory)|folder|"
         r"structure)"
         r"(?: are there| are| do (?:we|you|i) have| exist| there| here)*(?:(?:{IN}|\s+){THE}{FILE}(?P<where>{WORD})"
         r"(?: folder| directory)?|{EVERYWHERE})?", lambda g: ListFiles(_folder(g.get("where")))),
    rule(r"(?:ls|dir|tree)(?: (?P<where>{PATH}))?", lambda g: ListFiles(g["where"])),
    rule(r"(?:list|ls) (?:the )?(?:folder |directory )?(?P<where>[\w./-]*/)", lambda g: ListFiles(g["where"])),
    rule(rf"(?:{_LOOK}|which|what|where are|are there(?: any)?) {{THE}}files? (?:(?:that )?(?:are |is )?(?:named|"
         rf"called|matching|like|"
         r"with (?:the )?name|whose name (?:is|contains|has|matches|starts with|ends with)|by name)) (?P<x>{WORD})",
         lambda g: FindFiles(text(g, "x"))),
    rule(rf"(?:{_LOOK}|which|what|where are) {{THE}}(?:files? (?:ending (?:in|with)|with (?:the )?(?:extension|"
         rf"suffix|ending)) "
         r"(?P<x>{WORD}))", _extension),
    rule(rf"(?:{_LOOK}|where are) {{THE}}(?P<x>\*?\.\w+) files?", _extension),
    rule(r"(?:which|what) files? (?:contains?|uses?|mentions?|imports?|has|have|includes?|references?|calls?) "
         r"{THE}{KIND}"
         r"(?P<x>{ANY})" + _WHERE, _find),
    rule(r"where(?:'s| is| are| was| were| do (?:we|you|i)| does(?: it)?| can i find) {THE}{KIND}(?P<x>{ANY}) "
         r"(?:defined|declared|"
         r"implemented|created|written|introduced)" + _WHERE, _definition),
    rule(rf"(?:{_LOOK}|jump to|go to) {{THE}}(?:definition|declaration|implementation)(?:s)? of "
         rf"{{THE}}{{KIND}}(?P<x>{{ANY}})" + _WHERE,
         _definition),
    rule(r"where(?:'s| is| are| was| were| do (?:we|you|i)(?: use| call)?| does(?: it)?) {THE}{KIND}(?P<x>{ANY}) "
         r"(?:used|called|"
         r"mentioned|referenced|set|imported|read|found|come from|happen)" + _WHERE, _find),
    rule(r"(?:who|what|which (?:function|code|part)s?) (?:calls|uses|imports|mentions|references) "
         r"{THE}{KIND}(?P<x>{ANY})" + _WHERE,
         _find),
    rule(r"where(?:'s| is| are) {THE}{FILE}(?P<x>{PATH})", lambda g: FindFiles(text(g, "x"))),
    rule(r"(?:find|search|look|locate|seek)(?: me)?(?: for)? {THE}(?:file|script|module|document) (?:named |"
         r"called )?(?P<x>{WORD})", lambda g: FindFiles(text(g, "x"))),
    rule(rf"(?:{_LOOK}) {{THE}}(?:lines? |text |everything )?(?:matching |with |by )?{{THE}}(?:regex|regexp|regular "
         rf"expression|pattern):? "
         r"(?P<x>{ANY})" + _WHERE, _regex),
    rule(r"(?:search|look|grep|scan) (?:in|inside|through|within) {THE}{FILE}(?P<where>{PATH}) for "
         r"{THE}{KIND}(?P<x>{ANY})", _find),
    rule(r"(?:search|look|grep|scan) {THE}(?:{PROJECT}|files|tree|sources?) for {THE}{KIND}(?P<x>{ANY})", _find),
    rule(r"(?:find|search|grep|look|locate|scan|hunt|seek)(?: me)?(?: up)?(?: out)?(?: for)?(?: "
         r"where)?{+THE}{+KIND}(?: (?:of|to|where|"
         r"with|containing|that (?:contains?|uses?|mentions?|has|have|calls?|says?)|which (?:contains?|uses?|"
         r"mentions?)))?{+THE}{+KIND} "
         r"(?P<x>{ANY})(?: is (?:used|called|mentioned))?" + _WHERE, _find),
    rule(r"(?:show|list|count|give)(?: me)?{+THE} (?:lines?|places?|occurrences?|usages?|uses|mentions?|references?|"
         r"calls|callers|"
         r"instances?|matches)(?: where)?(?: (?:of|to|with|containing|that (?:contain|use|mention)|"
         r"for))?{+THE}{+KIND} (?P<x>{ANY})"
         + _WHERE, _find),
    rule(r"where(?:'s| is) {THE}{KIND}(?P<x>(?!(?:it|that|this|them)\b)[^\W\d]\w*)(?:\(\))?"
         r"(?: function| class| method| variable| constant)?" + _WHERE, _definition),
    rule(r"(?:where|how)(?:'s| is| are) {THE}{KIND}(?P<x>{ANY})" + _WHERE, _find),
    rule(r"(?:show|print|display|read|view|open|cat|type|dump|see)(?: me)? {THE}(?:contents? of |text of |source(?: "
         r"code)? of |what's "
         r"in )?{THE}{FILE}(?P<path>{PATH}|README)(?: file)?", lambda g: Show(text(g, "path"))),
    rule(r"(?:show|print|display|see)(?: me)? {THE}(?:function|class|method) (?P<path>[\w.]+)(?:\(\))?",
         lambda g: Explain(text(g, "path"))),
    rule(r"(?:what|which){+THE} (?:functions|classes|methods|definitions)(?: (?:and|or) (?:functions|classes|methods))?"
         r" (?:are there in|are defined in|does|do|has) {THE}{KIND}{FILE}(?P<path>{WORD})"
         r"(?: (?:have|contain|define|offer|hold)s?)?", lambda g: Explain(text(g, "path"))),
    rule(r"how (?:many lines (?:are (?:in|there in)|does|has)|long is|big is|large is) "
         r"{THE}{FILE}(?P<path>{PATH})(?: have| file)*",
         lambda g: Explain(text(g, "path"))),
    rule(r"(?:what(?:'s| is) (?:in|inside)|what does) {THE}{KIND}{FILE}(?P<path>{WORD})(?: file| module| function| "
         r"class| method| package| folder| directory)?"
         r"(?: do| does| contain| have| say| look like)?", lambda g: Explain(text(g, "path"))),
    rule(r"(?:explain|outline|describe|summari[sz]e|analy[sz]e|document|tell me (?:about|what is in|what's in)|walk "
         r"me through|review|"
         r"(?:give|show|make|write)(?: me)? {THE}(?:short |quick |brief )?(?:outline|overview|summary|structure|"
         r"explanation|functions|"
         r"classes|headings) (?:of|in|for)|(?:the )?(?:outline|overview|summary|structure) of|how does|what is|what "
         r"are|what's|"
         r"what (?:functions|classes|methods) (?:are|does)(?: there)?(?: in)?|list {THE}(?:functions|classes|"
         r"methods|headings) "
         r"(?:of|in)(?: and classes)?) (?:what |how )?{THE}{KIND}{FILE}(?P<path>{WORD})(?: file| module| function| "
         r"class| method| package| folder| directory)?"
         r"(?: to me)?(?: do| does| work| works| have| contain| about| for)*", lambda g: Explain(text(g, "path"))),
)  # fmt: skip


def _folder(where: str | None) -> str | None:
    return None if where in (None, "here", "project", "repo", ".", "folder", "directory", "it") else where
