"""Names that people mistake for one another, a family a line."""

from __future__ import annotations


def _table(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in text.splitlines() if line.strip())


FUNCTION_FAMILIES = _table("""
    min max
    any all
    sum len max min
    sorted reversed list
    int float str bool
    str repr
    round int
    abs int
    list tuple set frozenset dict
    bytes bytearray str
    ord chr
    hex oct bin
    zip enumerate zip_longest
    map filter
    next iter
    isinstance issubclass
    getattr hasattr
    staticmethod classmethod
    floor ceil trunc round
    add sub mul
    lt gt le ge eq ne
    deepcopy copy
    quote unquote quote_plus
    dumps loads
    takewhile dropwhile
    attrgetter itemgetter
    islice chain
    combinations permutations product
    OrderedDict dict defaultdict Counter
    bisect_left bisect_right bisect
    insort_left insort_right
    heappush heappop
    update_wrapper wraps
    exists isfile isdir
    basename dirname
""")

METHOD_FAMILIES = _table("""
    lower upper title capitalize swapcase casefold
    strip lstrip rstrip
    removeprefix removesuffix
    split rsplit splitlines
    partition rpartition
    find rfind index rindex
    count index
    startswith endswith
    ljust rjust center zfill
    replace translate
    join format
    encode decode
    isdigit isalpha isalnum isspace isdecimal isnumeric isidentifier
    isupper islower istitle
    append extend insert add
    append appendleft
    extend extendleft
    pop popleft popitem get remove
    sort reverse
    clear copy
    copy deepcopy
    add discard remove update
    union intersection difference symmetric_difference
    issubset issuperset
    keys values items
    key value
    get pop setdefault
    read readline readlines
    write writelines
    stdout stderr
    match search fullmatch
    findall finditer
    sub subn
    group groups groupdict
    start end span
    start stop step
    min max
    floor ceil
    real imag
    numerator denominator
    year month day weekday isoweekday
    hour minute second microsecond
    days seconds microseconds
    left right
    first last
    row col
    x y z
    width height
    parent parents name stem suffix
    exists isfile isdir
    basename dirname
""")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Members that are so rare that they count only where the project uses them.
RARE = _names("""
    casefold swapcase title isdecimal isnumeric isidentifier istitle rindex rpartition splitlines appendleft extendleft
    popitem subn span groupdict issubclass bytearray frozenset isoweekday symmetric_difference issuperset writelines oct
    bin hex trunc zip_longest takewhile dropwhile insort_left insort_right islice quote_plus removesuffix removeprefix
    translate finditer fullmatch microseconds microsecond imag real denominator numerator
""")

EXCEPTIONS = _names("""
    ValueError TypeError KeyError IndexError AttributeError RuntimeError StopIteration LookupError NotImplementedError
    OSError ZeroDivisionError OverflowError NameError ImportError UnicodeError UnicodeDecodeError UnicodeEncodeError
    AssertionError ArithmeticError Exception FileNotFoundError
""")
