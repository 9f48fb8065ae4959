"""What a decision names that code can have: tools in its title, identifiers and files in its text.

Names are the words that a reader would search the code for; common words are none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from orbit_registry.formats.sections import RUN_IN, headings_of
from orbit_registry.lifecycle.subjects import short_package_names
from orbit_registry.model.record import Record
from orbit_registry.search.rejected import accepted_part, is_common_word

LONGEST = 6_000
"""Characters of a decision that are read for names."""
MOST_NAMES = 40
MOST_TELLING = 4
"""Telling words of a title of which two in a row say what it is about."""
SHORTEST = 4
"""Letters of a word that is looked for in code."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._+-][A-Za-z0-9]+)*")
_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]{2,120})`(?!`)")
_FENCE = re.compile(r"^([ \t]*)(```+|~~~+)[^\n]*\n(?P<code>.*?)^[ \t]*\2", re.DOTALL | re.MULTILINE)
_DEFINED = re.compile(
    r"\b(?:class|interface|struct|enum|type|func(?:tion)?|def|trait|message|service|rpc|module"
    r"|const|data|newtype|fn)[ \t]+(?:\([^()\n]*\)[ \t]*)?(?P<name>[A-Za-z_]\w+)"
)
_IDENTIFIER = re.compile(r"(?<![\w.-])[A-Za-z_$][\w$]*(?:(?:\.|::|-|/)[A-Za-z_$][\w$]*)*")
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Z]{2,}[a-z]|[A-Za-z]-[A-Za-z]")
_JOINED = re.compile(r"[a-z0-9][A-Z]|_")
"""What a word has that is an identifier outside code too: `retryAfter`, `retry_after`."""
_PATH = re.compile(
    r"(?<![\w./:-])(?:\./)?(?P<path>(?:[\w@.+-]{1,120}/)+[\w@.+-]{1,120}"
    r"|[\w@+-][\w@.+-]{0,120}\.[a-z]\w{0,7})"
)
_ADOPTING = re.compile(
    r"\b(?:adopt|choose|introduce|pick|switch to|migrate to|migration to|move to|use|using|run)"
    r"[ ]+(?:the[ ]+)?\Z",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"\b(?:drop|remov|delete|deleting|retir|replac|deprecat|instead|no longer|not |n't|never"
    r"|without|currently|existing|today|rename|would have|alternativ|reject|unlike|avoid)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\]\([^()\s]*\)|<?https?://[^\s>)]+>?")
_ISSUES = (
    re.compile(
        r"git(?:hub\.com|lab\.[\w.]+)/([\w.-]+/[\w.-]+)/(?:-/)?"
        r"(?:pull|issues|merge_requests)/(\d{1,7})"
    ),
    re.compile(r"#(?<![\w/&]#)()(\d{1,7})\b"),
)
"""Addresses and numbers of issues; a pattern that begins with plain signs is fast."""
_QUOTE = re.compile(r"^[ \t]{0,3}>.*\n?", re.MULTILINE)
_OTHER_SECTION = re.compile(
    r"context|background|problem|motivation|option|alternative|considered|driver|pros|cons\b"
    r"|reference|link|status|history|related|more information|appendix|question"
    r"|current|rejected|changelog|note",
    re.IGNORECASE,
)
_DECIDING = re.compile(
    r"decision|consequence|outcome|conclusion|solution|proposal|implementation|resolution|what we"
    r"|entscheidung|d[ée]cision|decisi[óo]n|decis[ãa]o",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Names:
    """Names as a decision writes them, each once."""

    adopted: tuple[str, ...] = ()
    """What its title says to use."""
    identifiers: tuple[str, ...] = ()
    """Other names in its title and its text."""
    phrases: tuple[str, ...] = ()
    """Two words of its title that follow each other, which code may write as one name."""
    paths: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    """Issues and pull requests that it links: `#12`, or `owner/name#12` by an address."""


def names_in(record: Record) -> Names:
    """Return what a decision names; of what it rejects and replaces nothing."""
    text = deciding_part(record.prose)[:LONGEST]
    ruled_out: set[str] = set()
    for option in record.rejected:
        ruled_out.update(option.option.lower().split())

    adopted: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    for name, is_adopted in _title_names(record.title):
        if name.lower() not in ruled_out:
            (adopted if is_adopted else identifiers).setdefault(name.lower(), name)

    for name in _in_text(text):
        if name.lower() not in ruled_out and name.lower() not in adopted and not _is_path(name):
            identifiers.setdefault(name.lower(), name)

    paths: dict[str, None] = {}
    for match in _PATH.finditer(_LINK.sub(" ", text)):
        if not _is_denied(text, match["path"]):
            paths.setdefault(match["path"].strip(".").removeprefix("./"))

    return Names(
        tuple(adopted.values()),
        tuple(identifiers.values())[:MOST_NAMES],
        tuple(_phrases(record.title)),
        tuple(paths)[:MOST_NAMES],
        tuple(sorted(_issues(record.prose))),
    )


def _issues(prose: str) -> set[str]:
    matches = chain.from_iterable(pattern.finditer(prose) for pattern in _ISSUES)
    return {f"{match[1]}#{match[2]}".lower() for match in matches}


def deciding_part(prose: str) -> str:
    """Return the sections that say what is decided; if none is marked so, all that is not about
    something else.
    """
    # A quote is others' words, or a later note.
    sections = list(_sections(_QUOTE.sub("", prose)))
    deciding = [text for name, text in sections if _DECIDING.search(name)]
    if deciding:
        return "\n".join(deciding)

    return "\n".join(text for name, text in sections if not _OTHER_SECTION.search(name))


def _sections(prose: str) -> Iterator[tuple[str, str]]:
    """Yield each heading with the text up to the next one; one below counts as its parent's too."""
    headings = [heading for heading in headings_of(prose) if heading.level < RUN_IN]
    first = headings[0].start if headings else len(prose)
    yield "", prose[:first]

    parents: list[tuple[int, str]] = []
    for position, heading in enumerate(headings):
        parents = [(depth, name) for depth, name in parents if depth < heading.level]
        parents.append((heading.level, heading.name))
        end = headings[position + 1].start if position + 1 < len(headings) else len(prose)
        names = [name for depth, name in parents if depth > 1 or len(headings) == 1]
        # "Options" below a decision are not what was decided.
        other = next((name for name in reversed(names) if _OTHER_SECTION.search(name)), None)
        yield other or " / ".join(names), prose[heading.end : end]


def _title_names(title: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a title that name something, and whether it says to use them."""
    part = accepted_part(title)
    matches = list(_WORD.finditer(part))
    capitals = sum(match[0][:1].isupper() for match in matches)
    # Where most words have a capital, none of them is a name for it.
    is_sentence = capitals * 2 <= len(matches) + 1
    end = -1
    for match in matches:
        word = match[0]
        before = part[: match.start()].rstrip('`"*')
        joint = part[end : match.start()] if end >= 0 else "."
        follows = re.fullmatch(r"(?:,| and|, and|[ ]&)?[ ]`?", joint) is not None
        is_code = part[: match.start()].endswith("`")
        starts = _ADOPTING.search(before) is not None
        if word.lower() in _SMALL:
            continue
        if (starts or follows) and word[:1].isupper():
            end = match.end()
        if not is_looked_for(word) or is_common(word) or word.lower() in _KEYWORDS:
            continue

        is_adopted = is_code or starts or follows
        is_name = re.search(r"[a-z0-9][A-Z]|[A-Z]{2}|_", word) is not None
        is_name |= is_sentence and word[:1].isupper() and bool(before.strip())
        if is_code:
            end = match.end()
        if is_adopted or is_name:
            yield word, is_adopted


def is_common(name: str) -> bool:
    """Say whether a name is made of words that many projects write."""
    return all(is_common_word(part) or len(part) < 2 for part in re.split(r"[-_.+]", name))


def _phrases(title: str) -> Iterator[str]:
    """Yield the pairs of telling words in a row, if they make most of the title."""
    words = re.findall(r"[A-Za-z][A-Za-z0-9]+|[^\sA-Za-z0-9]", accepted_part(title).lower())
    telling = {word for word in words if len(word) > 3 and word not in _SMALL}
    if len(telling) > MOST_TELLING:
        return

    for pair in pairwise(words):
        if telling.issuperset(pair):
            yield " ".join(pair)


_SMALL_WORDS = """
a adopt all an and are as at be by code each every for from have how in into is it its make new not
of on only or our out over should support than that the their them this through to use using via we
when which with without your
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_KEYWORD_WORDS = """
adr adrs api async await bool boolean class const enum export extends false func function github
gitlab implements import interface int lambda module namespace null package private protected public
readonly return self static string struct super this true type typeof undefined void
"""
_KEYWORDS = frozenset(_KEYWORD_WORDS.split())


def _in_text(text: str) -> Iterator[str]:
    """Yield the identifiers of a text: in code spans, defined in its examples, written in humps."""
    for fence in _FENCE.finditer(text):
        for match in _DEFINED.finditer(fence["code"]):
            if is_looked_for(match["name"]) and _HUMPS.search(match["name"]):
                yield match["name"]

    prose = _LINK.sub(" ", _FENCE.sub("\n", text))
    for sentence in re.split(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*[-*|\d])", prose):
        has_code = "`" in sentence
        has_joined = _JOINED.search(sentence) is not None
        if not (has_code or has_joined) or _NOT_TAKEN.search(sentence):
            continue

        for span in _CODE_SPAN.finditer(sentence):
            for match in _IDENTIFIER.finditer(span[1]):
                name = match[0]
                is_name = _HUMPS.search(name) is not None or not is_common_word(name)
                if is_name and is_looked_for(name) and name.lower() not in _KEYWORDS:
                    yield name

        words = _WORD.finditer(_CODE_SPAN.sub(" ", sentence)) if has_joined else ()
        for match in words:
            if _JOINED.search(match[0]) and is_looked_for(match[0]):
                yield match[0]


def is_looked_for(name: str) -> bool:
    """Say whether a name is long enough to mean something where it occurs."""
    letters = sum(map(str.isalpha, name))
    return letters >= SHORTEST or (letters >= SHORTEST - 1 and not name.islower())


def _is_path(name: str) -> bool:
    return "/" in name and not name.startswith("@")


def _is_denied(text: str, path: str) -> bool:
    at = text.find(path)
    start = max(text.rfind("\n", 0, at), text.rfind(". ", 0, at)) + 1
    return _NOT_TAKEN.search(text, start, at) is not None


def words_of(text: str) -> set[str]:
    """Return the names that a file has, in lower case, their parts, and the pairs of these."""
    short = short_package_names(SHORTEST - 1)
    words: set[str] = set()
    for token in set(_TOKEN.findall(text)):
        if len(token) < SHORTEST - 1 and token.lower() not in short:
            continue

        words.add(token.lower())
        if "-" in token or "_" in token or not (token.islower() or token.isupper()):
            parts = [part.lower() for part in _PART.findall(token)]
            words.update(part for part in parts if len(part) >= SHORTEST - 1)
            words.update(phrase_key(*pair) for pair in pairwise(parts))

    return words


def phrase_key(first: str, second: str) -> str:
    """Return how two words in a row are kept, one or many alike: `reference scripts`."""
    return f"{first.rstrip('s')} {second.rstrip('s')}"


_TOKEN = re.compile(r"[A-Za-z_$][\w$]{0,60}(?:-[A-Za-z0-9_]{1,40}){0,5}")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*")


def forms_of(name: str) -> Sequence[str]:
    """Return how code may write a name: `io-classes` also as `io_classes`, `a.b.C` as `c`."""
    name = name.lower()
    last = re.split(r"\.|::|/", name)[-1]
    parted = (last.replace("-", "_"), last.replace("_", "-"), re.sub(r"[-_]", "", last))
    # In their order: which of them a page quotes is the same in each build.
    forms = dict.fromkeys((name, last, *parted))
    return [form for form in forms if len(form) >= SHORTEST - 1]
