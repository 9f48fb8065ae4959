"""Status line (`Accepted · 2026-05 · [TASK-1]`) split into facts,
and the standard status of a word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile
from urllib.parse import unquote

from orbit_registry.formats.adr.header import whole_line, without_links
from orbit_registry.formats.adr.model import Fact, Rel, Status
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import (
    find_phrases,
    is_superseding,
    unsure_phrases,
    value_phrases,
)
from orbit_registry.formats.adr.vocabulary import NEGATIONS, STATUS_OF, find_date, word_set
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain

_QUALIFIERS = word_set("qualifiers")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_CHOICE = pattern("choice")
_WAS = pattern("was")
_BADGE = pattern("badge")
_STRUCK = pattern("struck")
_BOXES = pattern("boxes")
_UNTICKED = pattern("unticked")
_TAG = pattern("markup")
_PICTURE_NAME = re.compile(r"(?<!\w):[a-z][\w+-]{1,30}:(?!\w)")
_ARROW = pattern("arrow")
_LISTED = pattern("listed")
_OPTIONS = pattern("options")
_OPEN = pattern("open")
_BOTH = pattern("both")
_CHOSEN = pattern("chosen")
_TAKEN_OVER = pattern("taken_over")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_CLAUSE = re.compile(r"[.;,:(|。；，（]")
_PARTIAL = pattern("partial_status")
_IN_PROGRESS = pattern("status_in_progress")
_ACCEPTED = pattern("status_accepted")
_LIMIT = 4000


@lru_cache(maxsize=4096)
def normalise_status(raw: str) -> tuple[Status, tuple[tuple[Rel, str], ...]]:
    """Return the standard status that `raw` states and the (relation, target as written) pairs in
    it.

    The first status word decides (`Accepted; supersedes ADR-0045` is accepted). A template's choice
    (`proposed | accepted`) and unknown words are `unknown`; a marked option is chosen. Struck text
    does not count, and of `Proposed → Accepted` the last status does.
    """
    if _OPEN.match(raw) or is_open_choice(raw):
        return "unknown", ()

    seen = _TAG.sub(" ", _COMMENT.sub(" ", raw[:_LIMIT]))
    boxes = [*_BOXES.finditer(seen)]
    if boxes and _UNTICKED.search(seen):  # `[ ] Proposed [x] Accepted`
        ticked = [box["words"] for box in boxes if not _UNTICKED.match(box.group())]
        seen = ticked[0] if len(ticked) == 1 else ""

    bare = _PICTURE_NAME.sub(" ", seen)
    text = _without_options(_STRUCK.sub(" ", bare)).strip()
    current, *parts = _ARROW.split(_WAS.sub(" ", text))
    for part in parts:
        word = _WORD.search(part)
        is_stage = _status(part) != "unknown" or (
            word is not None and plain(word.group()) in NEGATIONS
        )
        current = part if is_stage else f"{current} → {part}"  # an arrow in prose is no history

    listed = [_status(part.strip("*_`[]{}() ")) for part in _LISTED.split(without_links(current))]
    if sum(status != "unknown" for status in listed) > 2:
        chosen = {_status(match["status"]) for match in _CHOSEN.finditer(current)} - {"unknown"}
        return (chosen.pop() if len(chosen) == 1 else "unknown"), ()

    targets = _targets(current)
    if _CHOICE.search(without_links(current)) and not targets:
        return "unknown", ()  # a template's choice, still open

    return _status(current), targets


_PARTS = re.compile(r"[^\W\d_]+|[^\w\s*_]|\d+")
_AFTER = word_set("after_status")


def states_status(words: str) -> bool:
    """Say whether words state a status: `deprecated since May`, but not `deprecated fields stay`,
    where the word for it is about something else.
    """
    if normalise_status(words)[0] == "unknown":
        return False

    parts = _PARTS.findall(words)
    at = next((index for index, part in enumerate(parts) if plain(part) in STATUS_OF), None)
    if at is None or at + 1 == len(parts):
        return True

    after = parts[at + 1]
    return not after.isalpha() or plain(after) in _AFTER or plain(after) in STATUS_OF


def is_open_choice(raw: str) -> bool:
    """Say whether a status is still the template's: `{accepted | superseded by [x](x.md)}`."""
    bare = raw.strip()
    choices = bare[1:-1].split("|")
    if bare.startswith("{") and bare.endswith("}"):
        return len(choices) > 1

    is_listed = bare.startswith("[") and bare.endswith("]")
    return is_listed and sum(_status(choice.strip()) != "unknown" for choice in choices) > _FEWEST


def _without_options(text: str) -> str:
    """Return a status without a list of options: `Proposed [Proposed, Accepted, Rejected]`."""
    options = _OPTIONS.search(text)
    if options is None or not text[: options.start()].strip("*_` "):
        return text
    listed = [_status(part.strip("*_` ")) for part in _LISTED.split(options["listed"])]
    is_list = sum(status != "unknown" for status in listed) > 2
    if is_list:
        return text[: options.start()] + text[options.end() :]

    return text


def _targets(text: str) -> tuple[tuple[Rel, str], ...]:
    return tuple((phrase.rel, phrase.target) for phrase in find_phrases(text))


def _status(text: str) -> Status:
    badge = _BADGE.search(text)
    if badge is not None:
        text = unquote(badge["status"]).replace("_", " ")

    bare = text.lstrip("*_`\"' ")
    phrase = next(find_phrases(bare), None)
    unsure = next(unsure_phrases(bare), None)
    if unsure is not None and phrase is None and _opens_with(bare, unsure.verb.start):
        return "unknown"  # `To be superseded by ADR-9`: it says nothing of today

    taken_over = _TAKEN_OVER.match(text)
    of_part = (
        phrase.rel
        if phrase is not None and phrase.of_part and _opens_with(bare, phrase.verb.start)
        else None
    )

    if (
        _PARTIAL.match(bare)
        or of_part == "amended_by"
        or (taken_over and _PARTIAL.search(taken_over.group()))
    ):
        return "accepted"  # a part was replaced, the rest is live

    opens = phrase.rel if phrase is not None and phrase.verb.start <= len("已") else None
    if opens == "supersedes" or of_part:
        return "unknown"  # `Ersetzt ADR-3`: what it does to another one

    is_deprecated = plain(_first_word(bare)) == "deprecated"  # in favour of another one
    if (opens == "superseded_by" and not is_deprecated) or (
        taken_over and (phrase is None or phrase.rel == "superseded_by")
    ):
        return "superseded"  # the word comes last: `被 ADR-0045 取代`

    by_phrase = _of_phrase(text.lstrip("*_`\"'{[( "))
    if by_phrase is not None:
        return by_phrase

    label = without_links(text)[:400]
    words = [plain(word) for word in _WORD.findall(label)]
    for index, word in enumerate(words[:4]):
        if word in NEGATIONS:
            return "unknown"

        status = STATUS_OF.get(word)
        if status is not None:
            after = _predicate(words[index:]) if word in _QUALIFIERS else None
            if after is None and status == "proposed":
                after = _after_both(label)

            if after is not None:
                return after

            if word in ("retired", "obsoleted") and any(
                rel == "superseded_by" for rel, _ in _targets(text)
            ):
                return "superseded"

            return status

        if word not in _QUALIFIERS and index > 0:
            return "unknown"

    return "unknown"


def _of_phrase(text: str) -> Status | None:
    """Return the status that several words say together: `In review`, `ready for release`."""
    if _IN_PROGRESS.match(text):
        return "proposed"

    if _ACCEPTED.match(text):
        return "accepted"

    return None


_VERBS = frozenset({"is", "was", "has", "been", "now"})


def _predicate(words: Sequence[str]) -> Status | None:
    """Return the status that words state of their first one: `proposal was accepted`."""
    after = list(dropwhile(_VERBS.__contains__, words[1:]))
    has_verb = len(after) < len(words) - 1
    statuses = {STATUS_OF[word] for word in after if word in STATUS_OF}
    if not has_verb or len(statuses) != 1 or after[0] not in STATUS_OF:
        return None

    return statuses.pop()


def _first_word(text: str) -> str:
    match = _WORD.match(text)
    if match:
        return match.group()

    return ""


def _opens_with(text: str, at: int) -> bool:
    before = text[:at]
    value_facts = any(
        plain(word) in STATUS_OF or plain(word) in NEGATIONS for word in _WORD.findall(before)
    )
    return not value_facts and _CLAUSE.search(before) is None


def _after_both(text: str) -> Status | None:
    """Return the last status of `Drafted & Accepted` if it is a verdict."""
    first, *second = _BOTH.split(text, maxsplit=1)
    words = second[0].split() if second else []
    status = STATUS_OF.get(plain(words[0].strip(".,;:*_`"))) if words else None
    if status in ("accepted", "rejected") and len(first.split()) < _FEW_WORDS:
        return status

    return None


_FEW_WORDS = 4
_SEPARATOR = pattern("separator")
_NESTING = {"(": 1, "[": 1, ")": -1, "]": -1}
_ISO_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d(?:-\d\d)?(?![\w-])")
_SENTENCE_END = re.compile(r"(?<!\d)[.;!?。；][ \t\r\n]|[。；]")
_UNTIL = pattern("until")
_BETWEEN_STAGES = re.compile(r"(?:[,;]|→|->|=>|⇒)[ \t]{1,4}(?=[*_]{0,3}[^\W\d_])")
_DATED_STATUS = pattern("dated_status")
_FEWEST = 2  # stages of a history
_BRACKETED = pattern("bracketed")
_BARE_TASK = pattern("bare_task")
_LEGACY = pattern("legacy")
_LEGACY_ID = pattern("legacy_id")
_TRAILING_TASKS = pattern("trailing_tasks")


def read_statement(text: str, span: Span, style: str) -> Iterator[Fact]:
    """Yield the facts in `text[span]`: the status first, then dates, tasks,
    legacy ids and superseding remarks.
    """
    history = latest_of(text, _parts_of(text, span))
    pieces = _pieces(text, span if history is None else history)
    first = _status_piece(text, pieces[0])
    yield Fact("status", first.of(text), first, style)
    yield Fact("statement", span.of(text), span, style)

    date = _date_in(text, first)
    if date is not None:
        yield Fact("status_date", date.of(text), date, style)

    yield from _tasks(text, Span(first.end, span.end), style)

    for number, piece in enumerate(pieces[1:], start=1):
        dated = find_date(text, piece)
        if dated is not None and dated.start == piece.start:
            yield Fact("date", dated.of(text), dated, style)

        bare = _BARE_TASK.match(text, piece.start, piece.end)
        if bare and not bare.group().startswith("ADR-"):
            yield Fact("tasks", bare.group(), Span(*bare.span()), style, (bare.group(),))

        legacy = _LEGACY.match(text, piece.start, piece.end)
        if legacy:
            ids = tuple(
                match.group() for match in _LEGACY_ID.finditer(text, legacy.end(), piece.end)
            )
            yield Fact(
                "legacy_ids",
                text[legacy.end() : piece.end],
                Span(legacy.end(), piece.end),
                style,
                ids,
            )

        if is_superseding(text, piece.start, piece.end):
            remark = Span(pieces[number - 1].end, piece.end)
            yield Fact("superseding", piece.of(text), remark, style)


def _parts_of(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    for cut in _BETWEEN_STAGES.finditer(text, span.start, span.end):
        yield Span(start, start + len(text[start : cut.start()].rstrip()))
        start = cut.end()

    yield Span(start, span.end)


def latest_of(text: str, parts: Iterable[Span]) -> Span | None:
    """Return the last part of a history: of `Proposed 2026-04-01, accepted 2026-05-01` the second.
    None unless there are several parts, and each is a date and a status.
    """
    dated: list[tuple[str, int, Span]] = []
    for part in parts:
        match = _DATED_STATUS.fullmatch(text, part.start, part.end)
        if match is None or not _is_of_history(match):
            return None

        dated.append((match["date"] or match["last"], part.start, part))

    if len(dated) < _FEWEST:
        return None

    *_, latest = max(dated)
    statuses = {normalise_status(part.of(text))[0] for *_, part in dated}
    is_open = normalise_status(latest.of(text))[0] == "proposed"
    if is_open and statuses != {"proposed"}:
        return None  # `Accepted 2026-05-01`, then `Review 2027-05-01`: a day to come

    return latest


def _is_of_history(stage: re.Match[str]) -> bool:
    """Say whether a dated line states a status: `Review of x 2027-05-01` does not, nor does
    `Valid until 2027-05-01`.
    """
    if stage["status"]:
        return normalise_status(stage["status"])[0] != "unknown"

    return states_status(stage["first"]) and not _UNTIL.search(stage["first"])


def _date_in(text: str, piece: Span) -> Span | None:
    """Return where a status states its date: a day in ISO's form, or any date in its first
    sentence.
    """
    for day in _ISO_DATE.finditer(text, piece.start, piece.end):
        if not _UNTIL.search(text, piece.start, day.start()):
            return Span(*day.span())

    stop = _SENTENCE_END.search(text, piece.start, piece.end)
    date = find_date(text, Span(piece.start, stop.start() if stop else piece.end))
    if date is None or _UNTIL.search(text, piece.start, date.start):
        return None

    return date


def value_facts(text: str, key: str, span: Span, style: str) -> Iterator[Fact]:
    """Yield the facts of one `Key: value`."""
    if key == "status":
        yield from read_statement(text, span, style)
        return
    raw = span.of(text)
    yield Fact(key, raw, span, style, (raw,) if raw else ())
    if key != "superseded_by":
        return

    for phrase in value_phrases("superseded_by", text, span.start, span.end):
        if phrase.rel == key and phrase.is_sure:
            yield Fact("superseding", raw, whole_line(text, span), style)
            return


def _pieces(text: str, span: Span) -> list[Span]:
    pieces: list[Span] = []
    start, depth, at, in_code = span.start, 0, span.start, False
    separators = {
        match.start(): match.end() for match in _SEPARATOR.finditer(text, span.start, span.end)
    }
    while at < span.end:
        if depth <= 0 and not in_code and at in separators:
            pieces.append(Span(start, at))
            start = at = separators[at]
            continue

        char = text[at]
        in_code = not in_code if char == "`" else in_code
        depth = max(0, depth + _NESTING.get(char, 0))
        at += 1

    pieces.append(Span(start, span.end))

    if (
        depth > 0 and len(pieces) == 1 and separators
    ):  # a bracket never closed: separators count after all
        starts, ends = [span.start, *separators.values()], [*separators, span.end]
        return [Span(start, end) for start, end in zip(starts, ends, strict=True)]

    return pieces


def _status_piece(text: str, piece: Span) -> Span:
    start, end = piece.start, piece.end
    trailing = _TRAILING_TASKS.search(text[start:end])
    if trailing and trailing.start() > 0:
        end = start + trailing.start()

    end = start + len(text[start:end].rstrip(" \t\r\n"))
    start = end - len(text[start:end].lstrip(" \t\r\n"))
    for mark in ("**", "__", "`", "*", "_"):
        if (
            end - start > 2 * len(mark)
            and text.startswith(mark, start)
            and text.endswith(mark, start, end)
        ):
            inner = text[start + len(mark) : end - len(mark)]
            if mark not in inner:
                return Span(start + len(mark), end - len(mark))

    return Span(start, end)


def _tasks(text: str, span: Span, style: str) -> Iterator[Fact]:
    for match in _BRACKETED.finditer(text, span.start, span.end):
        if not match["task"].upper().startswith("ADR"):
            yield Fact("tasks", match.group(), Span(*match.span()), style, (match["task"],))
