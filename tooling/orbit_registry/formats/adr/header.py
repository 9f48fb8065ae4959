"""Header of a document: the lines and front-matter fields that may state metadata."""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.formats.adr.front_matter import NO_FRONT_MATTER, Field, FrontMatter
from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import (
    STATUS_OF,
    Order,
    field_of,
    read_date,
    word_set,
)
from orbit_registry.formats.citations import Citation
from orbit_registry.formats.markdown import Document, Heading
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain

_NAME = pattern("name")
ROLES = ("deciders", "authors", "owner", "reviewers", "contact", "consulted", "informed")
DAYS = ("date", "updated")

_KEYED = pattern("keyed")
_RUN_IN = pattern("header_run_in")
_BARE_DATE = pattern("bare_date")
_DASHED = pattern("dashed")
_NAME_START = re.compile(r"[@\[`*]|[^\W\d_a-z]")
_SHORT = 80
_FIRST_WORD = re.compile(r"[^\w]*(?P<word>[^\W\d_]+)")
_CUT = pattern("cut")
_ON_ONE_LINE = frozenset({"status", "tags", "superseded_by", "supersedes", *DAYS, *ROLES})


@dataclass(frozen=True, slots=True)
class Header:
    """Input of a style: the document, the zone that may state metadata,
    and the headings inside the decision.
    """

    document: Document
    zone: tuple[Span, ...]
    headings: tuple[Heading, ...]  # without the decision's own heading
    in_log: bool
    front_matter: FrontMatter = NO_FRONT_MATTER
    citations: tuple[Citation, ...] = ()  # all ids cited in the file
    footer: Span | None = None
    """Lines of keys below the last rule; what they state counts where nothing above states it."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the front matter."""
        return self.front_matter.fields

    @property
    def text(self) -> str:
        """The whole text of the file."""
        return self.document.text

    def lines(self) -> Iterator[Span]:
        """Yield the zone's lines outside code and HTML."""
        for span in self.zone:
            yield from visible_lines(self.document, span, self.document.hidden)


@dataclass(frozen=True, slots=True)
class Style:
    """A way of stating metadata."""

    name: str
    read: Callable[[Header], Iterator[Fact]]  # yields the facts that a header states in this style
    render: Callable[[Fact, str], str]  # returns the replacement of a fact's span for a new value
    insertion: Callable[[Header, str, str], tuple[int, str] | None]
    """Returns offset and text of an insertion that states a key;
    None if the style is not in use.
    """


def visible_lines(document: Document, span: Span, hidden: Sequence[Span]) -> Iterator[Span]:
    """Yield the lines of `span` outside the sorted `hidden` spans, without their line ends."""
    starts, ends = document.lines.starts, document.lines.ends
    first = document.lines.index_of(span.start)
    beyond = bisect_left(starts, span.end, first)
    next_hidden = bisect_right(hidden, span.start, key=lambda other: other.end)
    for number in range(first, beyond):
        start, end = starts[number], ends[number]
        start = span.start if start < span.start else start
        while next_hidden < len(hidden) and hidden[next_hidden].end <= start:
            next_hidden += 1

        if next_hidden >= len(hidden) or hidden[next_hidden].start > start:
            yield Span(start, span.end if end > span.end else end)


def key_value(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return (key, span of the value) if `text[start:end]` is `Key:
    value` with a known key, bold or plain.
    """
    match = _KEYED.match(text, start, end)
    if match is None:
        forms = (_dashed, _run_in, _bare_date)
        return next(filter(None, (form(text, start, end) for form in forms)), None)

    key = field_of(match["key"])
    if key is None:
        return None

    stop = match.end() + len(text[match.end() : end].rstrip(" \t\\"))
    close = match["close"]
    is_closed = match["open"] in text[match.end("key") : match.start("close")]
    has_mark = close and is_closed and close in text[match.end() : stop]
    value_start = (
        match.start("close") if has_mark else match.end()
    )  # `Status: **Accepted**`: the value's own mark

    opening = match["open"]
    if (
        opening
        and text[value_start:stop].endswith(opening)
        and opening not in text[match.end("key") : value_start]
    ):
        stop -= len(match["open"])  # `**Status: Accepted**`: the mark closes after the value

    return key, Span(min(value_start, stop), stop)


def _bare_date(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return key and value of `Date 09/04/2018`, a line with nothing else."""
    match = _BARE_DATE.match(text, start, end)
    key = field_of(match["key"]) if match is not None else None
    if match is None or key not in DAYS:
        return None

    value = match["value"]
    orders: tuple[Order | None, ...] = (None, "day", "month")
    is_date = any(read_date(value, order) is not None for order in orders)
    if is_date:
        return (key, Span(*match.span("value")))

    return None


def _dashed(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return key and value of `Status – Accepted`, if the value can't be prose."""
    match = _DASHED.match(text, start, end)
    key = field_of(match["key"]) if match is not None else None
    if match is None or key is None:
        return None

    value = match["value"].rstrip(" \t\\")
    is_name = key in ROLES and len(value) <= _SHORT and _NAME_START.match(value) is not None
    is_value = is_name or _is_status_or_day(key, value)
    if is_value:
        return (key, Span(match.start("value"), match.start("value") + len(value)))

    return None


def _is_status_or_day(key: str, value: str) -> bool:
    word = _FIRST_WORD.match(value)
    is_status = key == "status" and word is not None and plain(word["word"]) in STATUS_OF
    return is_status or (key in DAYS and any(char.isdigit() for char in value[:20]))


def _run_in(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return key and value of `**Status.** Accepted`;
    without the stop only if the value can't be prose.
    """
    match = _RUN_IN.match(text, start, end)
    key = field_of(match["key"]) if match is not None else None
    if match is None or key not in ("status", "deciders", *DAYS):
        return None

    value = match["value"].rstrip(" \t\\")
    stopped = (match["stop"] or match["after"]) and key not in DAYS
    if not (stopped or not value or _is_status_or_day(key, value)):
        return None

    return key, Span(match.start("value"), match.start("value") + len(value))


def split_key_values(text: str, start: int, end: int) -> list[Span]:
    """Split a line with several keys: `Status: accepted | Date: 2026-05-01`."""
    first = _KEYED.match(text, start, end)
    if first is None:
        return [Span(start, end)]

    cuts = [
        cut
        for cut in _CUT.finditer(text, first.end("key"), end)
        if cut["known"] is None
        or ((pair := key_value(text, cut.end(), end)) is not None and pair[0] in _ON_ONE_LINE)
    ]
    starts, ends = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
    return [Span(begin, stop) for begin, stop in zip(starts, ends, strict=True)]


def whole_line(text: str, span: Span) -> Span:
    """Return the lines of `span`, with the line end and blank lines above them."""
    start = text.rfind("\n", 0, span.start) + 1
    while start > 0 and text[start - 1] in "\r\n \t":
        start -= 1
    end = span.end
    while end < len(text) and text[end] in " \t\\*_":
        end += 1
    return Span(start, end)


_LAST_NAMES_FIRST = re.compile(r"[^,;]+,[^,;]+(?:;[^,;]+,[^,;]+)+")
_GIVEN_NAMES = word_set("given_names")
_OF_TEAMS = word_set("words_of_teams")
_WIKI_LINK = pattern("wiki_link")
LINK = re.compile(r"\[(?P<text>[^\[\]]{0,300})\]\((?P<url>[^()\s]{0,500})\)")


_NAME_LINK = pattern("name_link")
_SIDE_BY_SIDE = pattern("side_by_side")
_ESCAPED = re.compile(r"\\([<>()\[\]_*])")
_PAIR_OF_NAMES = pattern("pair_of_names")
_BETWEEN_PEOPLE = pattern("between_people")


def without_links(text: str) -> str:
    """Return a text with the words of its links alone."""
    return LINK.sub(lambda match: match["text"], text)


def names_text(value: str) -> str:
    """Return the value of a key that lists people as a reader sees it: two links side by side are
    two names.
    """
    apart = _SIDE_BY_SIDE.sub(r"\g<link>, ", _BETWEEN_PEOPLE.sub(", ", value))
    words = _NAME_LINK.sub(lambda match: match["text"], apart)
    words = _WIKI_LINK.sub(lambda match: match["shown"] or match["wiki"], words)
    return html.unescape(_ESCAPED.sub(r"\1", words))


def split_names(value: str) -> tuple[str, ...]:
    """Return the names in `a, b and c`, `{a, b}` or `@a @b`; a template's prose gives none."""
    bare = value.strip()
    if bare.startswith(("{", "[")) and bare.endswith(("}", "]")):
        bare = bare[1:-1]
        if "," not in bare and len(bare.split()) > 3:
            return ()
    if _are_last_names_first(bare):
        return tuple(name.strip() for name in bare.split(";"))

    pair = _PAIR_OF_NAMES.fullmatch(bare)
    if pair is not None and not _is_one_team(pair["first"], pair["second"]):
        return tuple(_bare_name(pair[part]) for part in ("first", "second"))

    has_marks = re.search("[,;、，；]", bare) is not None
    # `Ada Lo @ada` is one person, `@ada @bob` are two.
    handles = re.split(r"[ ]+(?=@)", bare) if bare.startswith("@") else [bare]
    parts = _NAME.findall(bare) if has_marks else handles
    return tuple(name for part in parts if (name := _bare_name(part)))


def _bare_name(part: str) -> str:
    name = part.lstrip(" -").strip(" *_")
    is_marked = name[:1] + name[-1:] in ("<>", "``")
    if is_marked:
        return name[1:-1]

    return name


def _are_last_names_first(names: str) -> bool:
    """Say whether names are `Example, Ada; Sample, Bob`; `Alice, Bob; Carol, Dave` are four."""
    if names.startswith("@") or not _LAST_NAMES_FIRST.fullmatch(names):
        return False

    firsts = (pair.partition(",")[0] for pair in names.split(";"))
    return not all(plain(first.strip()) in _GIVEN_NAMES for first in firsts)


def _is_one_team(first: str, second: str) -> bool:
    """Say whether `X and Y` is the name of one team: `Research and Development`."""
    words = [plain(first).split(), plain(second).split()]
    return min(map(len, words)) == 1 and any(not _OF_TEAMS.isdisjoint(each) for each in words)
