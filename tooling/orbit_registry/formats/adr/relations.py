"""Phrases in a text that relate one decision to another: `Superseded by [ADR-0042](x.md)`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import cast

from orbit_registry.formats.adr.file_names import GENERIC_NAMES
from orbit_registry.formats.adr.model import Rel
from orbit_registry.formats.adr.patterns import expanded, pattern
from orbit_registry.formats.adr.polarity import is_sure
from orbit_registry.formats.adr.vocabulary import VOCABULARY
from orbit_registry.formats.position import Span

_LEAD = 8  # longest text before such a target
_FAR = 80  # characters before a verb that may name a part
_MAY_BE_PLANNED = ("superseded_by", "supersedes", "amended_by", "amends")
_PART_OF: Mapping[Rel, Rel] = {"superseded_by": "amended_by", "supersedes": "amends"}
NOTICE = pattern("notice")
_OPENING = pattern("opening")
_SENTENCE_ENDS = pattern("sentence_ends")
_WORD_BEFORE = re.compile(r"[\w-]")
_CJK = pattern("cjk")
_VERB = pattern("verb")
_MAY_NAME = pattern("may_name")
_WIKI_LINK = pattern("wiki_link")
_TARGET = pattern("target")
_REMARK = pattern("remark")
_NEXT = pattern("next_decision")
_FAR_NEXT = pattern("far_next")
_GLUE = pattern("glue")
_MARK = re.compile(r"[*_]{1,3}(?=[ \t])")
_OPENING_MARK = re.compile(r"[*_]{1,3}(?=[\[A-Z0-9`])")
_FILLER = pattern("filler")
_ID_SHAPE = pattern("id_shape")
_OF_SERIES = pattern("id_of_series")
_UP_TO = pattern("up_to")
_LONGEST_RANGE = 50
_FEWEST_DIGITS = 3
_NUMBER_OF = pattern("number_of")
_NUMBER_OF_ANCHOR = pattern("number_of_anchor")
_LIMITS = {
    "superseded_by": (pattern("part_before"), pattern("has_partly"), pattern("partly_behind")),
    "supersedes": (pattern("partly_before"), pattern("has_part"), pattern("part_behind")),
}
"""What limits a verb to a part: before it, within it, and behind its target."""


@cache
def _endings() -> tuple[tuple[re.Pattern[str] | None, re.Pattern[str], Rel], ...]:
    """Return the verbs behind a target: what comes before it, the verb, the relation."""
    endings = []
    for rel, before, after in VOCABULARY["verbs_behind"]:
        lead = rf"(?i)(?:^|(?<![A-Za-z])){before}\Z"
        endings.append((re.compile(lead) if before else None, re.compile(expanded(after)), rel))

    return tuple(endings)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One target of one verb; `span` covers the target in the searched text."""

    rel: Rel
    target: str
    text: str
    span: Span
    verb: Span  # includes the words that limit it to a part
    of_part: bool = False  # only a part is replaced, which amends the whole
    is_sure: bool = True  # whether it is stated as a fact


def opening_phrases(text: str, start: int, end: int) -> Iterator[Phrase]:
    """Yield the phrases at a line's start; `This ADR has been superseded by ADR-9` has to end with
    its target.
    """
    opening = _OPENING.match(text, start, end)
    if opening is None:
        return

    phrases = [
        phrase
        for phrase in find_phrases(text, opening.end(), end)
        if phrase.verb.start <= opening.end() + 2
    ]
    if opening["itself"] is None or (
        phrases and _SENTENCE_ENDS.match(text[phrases[-1].span.end : end])
    ):
        yield from phrases


def without_label(line: str) -> str:
    """Return the words of a notice behind its mark, its picture or its `Note:`; empty for a line
    that has none.
    """
    opening = _OPENING.match(line)
    label = line[: opening.end()] if opening is not None else ""
    if label.strip(" \t*_>+-"):
        return line[len(label) :]

    return ""


def find_phrases(text: str, start: int = 0, end: int | None = None) -> Iterator[Phrase]:
    """Yield the phrases in `text[start:end]` that state a fact, in order."""
    return (phrase for phrase in _all_phrases(text, start, end) if phrase.is_sure)


def is_superseding(text: str, start: int = 0, end: int | None = None) -> bool:
    """Say whether a text states that another decision replaces this one."""
    return any(phrase.rel == "superseded_by" for phrase in find_phrases(text, start, end))


def unsure_phrases(text: str, start: int = 0, end: int | None = None) -> Iterator[Phrase]:
    """Yield the phrases about supersession that deny, plan or suppose it:
    `to be superseded by ADR-9`.
    """
    return (phrase for phrase in _all_phrases(text, start, end) if not phrase.is_sure)


@lru_cache(maxsize=1024)  # several readers of a header ask about the same lines
def _all_phrases(text: str, start: int, end: int | None) -> tuple[Phrase, ...]:
    limit = len(text) if end is None else end
    if not any(match["name"] for match in _MAY_NAME.finditer(text, start, limit)):
        return ()

    behind = list(_ending_phrases(text, start, limit))
    phrases = [*behind]
    for phrase in _leading_phrases(text, start, limit):
        if not any(other.verb.start <= phrase.verb.start < other.verb.end for other in behind):
            phrases.append(phrase)

    if behind:
        phrases.sort(key=lambda phrase: phrase.span.start)

    return tuple(_limited(text, start, limit, phrase) for phrase in phrases)


def _limited(text: str, start: int, limit: int, phrase: Phrase) -> Phrase:
    """Return the phrase as an amendment if it replaces only a part:
    `Section 3 was superseded by ADR-9`.
    """
    if phrase.rel not in _MAY_BE_PLANNED:
        return phrase
    if not is_sure(text, start, limit, phrase.verb, phrase.span):
        return replace(phrase, is_sure=False)
    if phrase.rel not in _PART_OF:
        return phrase

    ahead, inside, behind = _LIMITS[phrase.rel]
    far = max(start, phrase.verb.start - _FAR)
    before = ahead.search(text, far, phrase.verb.start)
    between = ((phrase.verb.start, phrase.span.start), (phrase.span.end, phrase.verb.end))
    is_limited = before is not None or any(inside.search(text, *part) for part in between)
    if not is_limited and behind.match(text, phrase.span.end, limit) is None:
        return phrase

    verb = Span(before.start() if before is not None else phrase.verb.start, phrase.verb.end)
    rel = _PART_OF[phrase.rel]
    return Phrase(rel, phrase.target, phrase.text, phrase.span, verb, True)


def _leading_phrases(text: str, start: int, limit: int) -> Iterator[Phrase]:
    """Yield the phrases whose verb comes first: `Superseded by ADR-9`."""
    for match in _VERB.finditer(text, start, limit):
        before = text[match.start() - 1] if match.start() > start else ""
        if _WORD_BEFORE.match(before) and not _CJK.match(text, match.start()):
            continue

        rel = cast(Rel, match.lastgroup)
        mark = _MARK.match(text, match.end(), limit)  # `**Superseded by** ADR-9`
        at = _skip(_GLUE, text, mark.end() if mark else match.end(), limit)
        at = _skip(_OPENING_MARK, text, at, limit)  # `Superseded by **ADR-9**`
        target = _target(text, at, limit) or _target(text, _skip(_FILLER, text, at, limit), limit)

        while target is not None:
            verb = Span(match.start(), match.end())
            targets = _with_range(text, target, limit)
            yield from (Phrase(rel, *each, verb) for each in targets)
            target = targets[-1]
            behind = _skip(_REMARK, text, target[2].end, limit)
            following = _skip(_GLUE if behind == target[2].end else _NEXT, text, behind, limit)
            if following == behind:
                break
            target = _target(text, following, limit)


def _ending_phrases(text: str, start: int, limit: int) -> Iterator[Phrase]:
    """Yield the phrases whose verb comes last:
    `durch ADR-9 ersetzt`, `被 ADR-9 取代`, `ADR-9 に置き換え`.
    """
    group: list[tuple[str, str, Span]] = []
    for match in _TARGET.finditer(text, start, limit):
        target = _target(text, match.start(), limit)
        before_it = text[match.start() - 1] if match.start() > start else ""
        if target is None or (_WORD_BEFORE.match(before_it) and not _CJK.match(before_it)):
            continue
        if group and _skip(_GLUE, text, group[-1][2].end, limit) != target[2].start:
            group = []

        group.append(target)

        for before, after, rel in _endings():
            verb = after.match(text, target[2].end, limit)
            first = group[0][2].start
            if before is not None:
                lead = before.search(text, max(start, first - _LEAD), first)
            else:
                lead = None

            if verb is not None and (before is None or lead is not None):
                begin = lead.start() if lead is not None else first
                yield from (Phrase(rel, *member, Span(begin, verb.end())) for member in group)
                break


def _skip(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    match = pattern.match(text, at, limit)
    if match:
        return match.end()

    return at


def _target(text: str, at: int, limit: int) -> tuple[str, str, Span] | None:
    """Return (target, text, span) of the link, id, number or file name at `at`."""
    match = _TARGET.match(text, at, limit)
    if match is None:
        return None

    span = Span(*match.span())
    if match["href"]:
        return match["href"], match["text"], span
    if match["wiki"]:
        wiki = match["wiki"].strip()
        return wiki, (match["shown"] or wiki).strip(), span

    if match["bracket"]:
        bracket = match["bracket"].strip("`* ")
        if match["label"]:  # `[the new one][n]`: the caller resolves `n` in the document
            return match["label"].strip(), bracket, span
        if _ID_SHAPE.search(bracket):
            return (bracket, bracket, span)

        return None

    name = match["id"] or match["file"]
    name = name.rstrip(".")
    return name, name, span


def wiki_links(text: str, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Yield (target, text, span) of each `[[name]]` outside code in a line."""
    for match in _WIKI_LINK.finditer(text, start, end):
        target = _target(text, match.start(), end)
        if match["wiki"].strip("_ ").lower() == "toc":  # where a forge puts the list of contents
            continue

        if target is not None and text.count("`", start, match.start()) % 2 == 0:
            yield target


def find_targets(text: str, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Yield (target, text, span) of each decision in a list that fills `text[start:end]`."""
    at = _skip(_GLUE, text, start, end)
    target = _target(text, at, end)
    while target is not None:
        targets = _with_range(text, target, end)
        yield from targets
        last = targets[-1][2].end
        target = _target(text, _skip(_GLUE, text, last, end), end)


def _with_range(text: str, first: tuple[str, str, Span], limit: int) -> list[tuple[str, str, Span]]:
    """Return a decision, and those up to the last one of a range: `ADR-3 to ADR-6` names four."""
    series = _OF_SERIES.fullmatch(first[1].strip("`"))
    upto = _UP_TO.match(text, first[2].end, limit) if series is not None else None
    if series is None or upto is None:
        return [first]

    last = _target(text, upto.start("last"), limit)
    last = last or (upto["last"], upto["last"], Span(*upto.span("last")))
    end = _OF_SERIES.fullmatch(last[1].strip("`"))
    if end is None or end["lead"].casefold() not in ("", series["lead"].casefold()):
        return [first]

    is_bare = not end["lead"]
    is_close = upto["dash"] is None and upto["ends"] is not None
    has_zeros = min(len(series["number"]), len(end["number"])) >= _FEWEST_DIGITS
    if is_bare and not (is_close and (series["lead"] or has_zeros)):
        return [first]

    lower, upper = int(series["number"]), int(end["number"])
    if not lower < upper <= lower + _LONGEST_RANGE:
        return [first]

    width = len(series["number"])
    names = [f"{series['lead']}{number:0{width}}" for number in range(lower + 1, upper + is_bare)]
    between = [(name, name, last[2]) for name in names]
    if is_bare:
        return [first, *between]

    return [first, *between, last]


def value_phrases(rel: Rel, text: str, start: int, end: int) -> Iterator[Phrase]:
    """Yield the decisions that the value of a key names, each as its remark limits it:
    `Supersedes: ADR-8 (in part), ADR-9`.
    """
    at = _skip(_OPENING_MARK, text, start, end)
    first = _skip(_GLUE, text, at, end)
    if _target(text, first, end) is None:  # `the queue of ADR-3`
        at = _skip(_FILLER, text, first, end)

    while at < end:
        targets = list(find_targets(text, at, end))
        if not targets:
            return

        verb = Span(at, at)  # a remark is about the decisions that it follows, not the next ones
        for name, label, span in targets:
            yield _limited(text, at, end, Phrase(rel, name, label, span, verb))
            at = span.end

        behind = _skip(_REMARK, text, at, end)
        following = _NEXT.match(text, behind, end)
        if following is None or _target(text, following.end(), end) is None:
            following = _FAR_NEXT.match(text, at, end)

        if following is None:
            return

        at = following.end()


def target_key(target: str) -> tuple[str, str | None]:
    """Return the number that a target names, else its name without suffix,
    and the file that it links to.
    """
    if "://" in target:
        return target.casefold(), None

    if target[:1] == "#" and target[1:].isdecimal():
        return target[1:].lstrip("0") or "0", None

    path = target.partition("#")[0].casefold()
    folder, _, base = path.rpartition("/")
    stem = base.removesuffix(".md").removesuffix(".markdown")
    file = None

    if stem != base:  # in folders `0042/README.md` the folder is the name
        file = "/".join(path.split("/")[-2:]) if stem in GENERIC_NAMES else base

    anchor = _NUMBER_OF_ANCHOR.search(target)
    if anchor:
        return anchor["number"], file

    number = _NUMBER_OF.match(stem)
    if number is None:
        return stem, file

    is_in_folder = folder and path[:1].isalpha() and "." not in path
    return f"{folder}/{number['number']}" if is_in_folder else number["number"], file
