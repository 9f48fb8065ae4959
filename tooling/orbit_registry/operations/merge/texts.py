"""Merged text of a file that both sides changed:
records field by field, logs by entry, votes by line.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import split_separator
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import means, rewrite
from orbit_registry.model.kind import Kind
from orbit_registry.model.votes import Vote
from orbit_registry.repository.codec import data_in, decode_record, mapping_in
from orbit_registry.repository.votes import vote_in
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.git import merge_lines

Key = tuple[int, int]
"""An entry's number, a negative one of its title where it has none,
and how many entries above have the same.
"""

ABOVE = "the text above the entries"
BELOW = "the text below the entries"


@dataclass(frozen=True, slots=True)
class LogMerge:
    """A merged log; `contested` names what both sides changed,
    whose places hold conflict markers.
    """

    text: str
    contested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    content: str
    gap: str


_NOTHING = _Piece("", "")


@dataclass(frozen=True, slots=True)
class _Log:
    head: _Piece
    entries: Mapping[Key, _Piece]
    tail: _Piece


def merge_logs(base: str, ours: str, theirs: str) -> LogMerge:
    """Return the merge of two versions of a log that come from `base`; '' where there was none."""
    if ours == theirs or theirs == base:
        return LogMerge(ours)
    if ours == base:
        return LogMerge(theirs)

    texts = [base, ours, theirs]
    newlines = [*map(_newline, texts)]
    if None in newlines:
        return _merge([*map(_split, texts)])

    merged = _merge([_split(text.replace("\r\n", "\n")) for text in texts])
    if newlines[1] == "\r\n":
        return LogMerge(merged.text.replace("\n", "\r\n"), merged.contested)

    return merged


def _newline(text: str) -> str | None:
    """Return the line end that all lines of a text have; None where they differ."""
    crlf = text.count("\r\n")
    if text.count("\r") != crlf or crlf not in (0, text.count("\n")):
        return None

    if crlf:
        return "\r\n"

    return "\n"


def _split(text: str) -> _Log:
    file = read_document(text, "decisions.md")
    if file.format != "log" or not file.entries:
        return _Log(_piece(text), {}, _NOTHING)

    starts = [entry.span.start for entry in file.entries]
    ends = [*starts[1:], file.entries[-1].span.end]
    entries: dict[Key, _Piece] = {}
    occurrences: Counter[int] = Counter()

    for entry, start, end in zip(file.entries, starts, ends, strict=True):
        number = int(entry.number) if entry.number else -1 - crc32(entry.title.encode())
        entries[number, occurrences[number]] = _piece(text[start:end])
        occurrences[number] += 1

    return _Log(_piece(text[: starts[0]]), entries, _piece(text[ends[-1] :]))


def _piece(text: str) -> _Piece:
    return _Piece(*split_separator(text))


def _merge(logs: Sequence[_Log]) -> LogMerge:
    base, ours, theirs = logs
    contested: list[str] = []
    head = _merge_piece(base.head, ours.head, theirs.head, ABOVE, contested) or _NOTHING
    merged: list[_Piece] = []

    for key in _order(ours.entries, theirs.entries, base.entries):
        old, mine, other = (log.entries.get(key) for log in logs)
        number = key[0]
        name = f"ADR-{number:04d}"
        if number < 0:
            some = mine or other or old or _NOTHING
            name = some.content.partition("\n")[0].strip("# \t")

        piece = _merge_piece(old, mine, other, name, contested)
        if piece is not None:
            merged.append(piece)

    tail = _merge_piece(base.tail, ours.tail, theirs.tail, BELOW, contested) or _NOTHING
    return LogMerge(_joined(head, merged, tail, logs), tuple(contested))


def _order(ours: Iterable[Key], theirs: Iterable[Key], base: Iterable[Key]) -> list[Key]:
    """Return every entry once: in our order, those of the other versions at their positions."""
    result = list(ours)
    there = list(theirs)
    placed = set(result)
    numbers = [_numbers_of(result), _numbers_of(there)]
    numbered = all(min(order, default=0) >= 0 for order in numbers)
    rising = numbered and all(order == sorted(order) for order in numbers)
    falling = numbered and all(order == sorted(order, reverse=True) for order in numbers)

    for index, key in enumerate(there):
        if key in placed:
            continue

        placed.add(key)

        if rising:
            later = (at for at, other in enumerate(result) if other > key)
            result.insert(next(later, len(result)), key)
        elif falling:
            later = (at for at, other in enumerate(result) if other < key)
            result.insert(next(later, len(result)), key)
        elif index:
            above = there[index - 1]
            result.insert(result.index(above) + 1, key)
        else:
            result.insert(0, key)

    return result + [key for key in base if key not in placed]


def _numbers_of(keys: Iterable[Key]) -> list[int]:
    return [number for number, _ in keys]


def _merge_piece(
    base: _Piece | None,
    ours: _Piece | None,
    theirs: _Piece | None,
    name: str,
    contested: list[str],
) -> _Piece | None:
    old, mine, other = (piece.content if piece else None for piece in (base, ours, theirs))
    if other in (mine, old):
        return ours
    if mine == old:
        return theirs

    if base is not None and ours is not None and theirs is not None:
        text, conflict = merge_lines(*(f"{content}\n" for content in (old, mine, other)))
        if conflict:
            contested.append(name)

        return _Piece(text.rstrip("\n"), ours.gap)

    contested.append(name)
    above = f"{mine}\n" if mine else ""
    below = f"{other}\n" if other else ""
    gap = (ours or theirs or _Piece("", "\n")).gap
    return _Piece(f"<<<<<<< ours\n{above}=======\n{below}>>>>>>> theirs", gap)


def _joined(head: _Piece, entries: Sequence[_Piece], tail: _Piece, logs: Sequence[_Log]) -> str:
    """Return the text of the pieces; the usual gap follows what was the last entry of a log."""
    base, ours, theirs = ([*log.entries.values()] for log in logs)
    ends = [pieces[-1] for pieces in (ours, theirs, base) if pieces]
    usual = _usual_gap([*base[:-1], *ours[:-1], *theirs[:-1]])
    parts = [piece for piece in (head, *entries, tail) if piece.content]

    result: list[str] = []
    for index, piece in enumerate(parts):
        below = parts[index + 1 :]
        is_entry = piece is not head and piece is not tail
        is_last = below in ([], [tail])

        gap = piece.gap
        if is_entry and is_last and ends:
            gap = ends[0].gap
        elif is_entry and any(piece is end for end in ends):
            gap = usual

        if gap.count("\n") < 2 and below:
            gap = usual if is_entry and not is_last else "\n\n"

        result += (piece.content, gap)

    return "".join(result)


def _usual_gap(entries: Iterable[_Piece]) -> str:
    gaps = Counter(piece.gap for piece in entries if piece.gap.count("\n") > 1)
    if gaps:
        return gaps.most_common(1)[0][0]

    return "\n\n"


def merge_driver(base: Path, ours: Path, theirs: Path) -> int:
    """Merge a log for git into `ours`; return 1 if a conflict is left, or a version is not text."""
    try:
        texts = [
            read_bytes(file, limit=DOCUMENT_LIMIT).decode("utf-8") for file in (base, ours, theirs)
        ]
    except (OrbitError, UnicodeDecodeError):
        return 1

    merged = merge_logs(*texts)
    if merged.text != texts[1]:
        write_atomic(ours, merged.text)

    if merged.contested:
        return 1

    return 0


_ABSENT = object()
_LATEST = ("updated_at",)
_UNMERGED_LISTS = ("freshness.fingerprint",)
_VERIFIED = ("fingerprint", "verified_at", "verified_by")
_FAILURE, _ATTEMPTS = "failure", "attempts"
_FAILURE_FIELDS = ("title", "reason", "ttl_days")
"""What a failure says anew each time its target fails."""


OF_DOCUMENT = ("title", "status", "status_raw", "date")
"""Fields in which a record follows its document, where that decides."""


class ContestedError(Exception):
    """Two versions of a record can't be merged; the message says why."""


def merge_records(
    base: str | None,
    ours: str,
    theirs: str,
    kind: Kind,
    path: str,
    *,
    follows: Iterable[str] = (),
) -> str:
    """Return the merge of two versions of one record's file.

    A field that one side changed is taken from it; lists take what either side added and lose what
    either removed; the later time of change wins, and the later verification. A failure that both
    met again says what the later one says, and counts the attempts of both. What else both changed
    differently is contested, and named; but fields that follow something else stay as in ours.
    A base that can't be read counts as none.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs

    try:
        old, here, there = data_in(base) or {}, load(ours), load(theirs)
    except YamlProblemError as error:
        raise ContestedError(f"one side is not valid YAML: {error.problem.message}") from None

    if not isinstance(here, dict) or not isinstance(there, dict):
        raise ContestedError("one side is not a mapping")

    contested: list[str] = []
    _take_later(old, here, there, kind)
    _replace(old, there, here, follows)
    merged = _merged(old, here, there, "", contested)
    text = None
    if not contested and isinstance(merged, dict):
        text = _text(base, ours, theirs, merged, kind)

    if text is None:
        raise ContestedError("; ".join(contested) or "a comment was added or changed on both sides")

    record, problems = decode_record(text, kind, path)
    if record is None:
        messages = (f"the merge is not valid: {problem.message}" for problem in problems)
        raise ContestedError("; ".join(messages))

    return text


def _take_later(
    base: Mapping[str, object],
    ours: dict[str, object],
    theirs: dict[str, object],
    kind: Kind,
) -> None:
    """Where both sides verified a record, let both say what the later one says,
    as if it had followed the other.
    """
    old, here, there = _freshness(base), _freshness(ours), _freshness(theirs)
    if old.get("verified_at") in (here.get("verified_at"), there.get("verified_at")):
        return

    def age(data: Mapping[str, object]) -> tuple[str, str]:
        return str(_freshness(data).get("verified_at", "")), str(data)

    earlier, later = sorted((ours, theirs), key=age)
    freshness = {**_freshness(earlier)}
    _replace(old, freshness, _freshness(later), _VERIFIED)
    earlier["freshness"] = freshness

    if kind.name == _FAILURE:
        _replace(base, earlier, later, _FAILURE_FIELDS)
        counts = (data.get(_ATTEMPTS) for data in (base, ours, theirs))
        before, mine, other = (count if isinstance(count, int) else None for count in counts)
        if before is None or mine is None or other is None:
            return

        if before not in (mine, other):
            ours[_ATTEMPTS] = theirs[_ATTEMPTS] = mine + other - before


def _freshness(data: Mapping[str, object]) -> Mapping[str, object]:
    return mapping_in(data, "freshness")


def _replace(
    base: Mapping[str, object],
    earlier: dict[str, object],
    later: Mapping[str, object],
    names: Iterable[str],
) -> None:
    for name in names:
        if base.get(name) not in (earlier.get(name), later.get(name)):
            if name in later:
                earlier[name] = later[name]
            else:
                earlier.pop(name, None)


def _merged(base: object, ours: object, theirs: object, name: str, contested: list[str]) -> object:
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs

    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        old = base if isinstance(base, Mapping) else {}
        result: dict[str, object] = {}
        for key in dict.fromkeys((*ours, *theirs)):
            before, mine, other = (side.get(key, _ABSENT) for side in (old, ours, theirs))
            value = _merged(before, mine, other, f"{name}.{key}".lstrip("."), contested)
            if value is not _ABSENT:
                result[key] = value

        return result

    if isinstance(ours, list) and isinstance(theirs, list) and name not in _UNMERGED_LISTS:
        items = base if isinstance(base, list) else []
        remaining = [entry for entry in ours if entry in theirs or entry not in items]
        added = [entry for entry in theirs if entry not in ours and entry not in items]
        return remaining + added

    if name in _LATEST and isinstance(ours, str) and isinstance(theirs, str):
        return max(ours, theirs)

    contested.append(f"`{name}` is {_excerpt(ours)} in ours, {_excerpt(theirs)} in theirs")
    return ours


def _excerpt(value: object) -> str:
    if value is _ABSENT:
        return "removed"
    return cut(json.dumps(value, ensure_ascii=False, default=str), 80)


def _text(
    base: str | None,
    ours: str,
    theirs: str,
    merged: dict[str, object],
    kind: Kind,
) -> str | None:
    if base is not None:
        lines, conflict = merge_lines(base, ours, theirs)
        if not conflict and means(lines, merged):
            return lines

    try:
        text = rewrite(ours, merged, order=kind.schema.properties)
    except YamlProblemError:
        return None

    lost = _comments(theirs) - _comments(text) - _comments(base or "")
    if lost:
        return None

    return text


def _comments(text: str) -> set[str]:
    lines = map(str.strip, text.splitlines())
    return {line for line in lines if line.startswith("#")}


def merge_votes(ours: str, theirs: str) -> str:
    """Return the votes of both sides, each once, with the earliest time."""
    newline = "\r\n" if "\r\n" in ours else "\n"
    votes: dict[object, tuple[float, str]] = {}
    for line in filter(str.strip, (*ours.splitlines(), *theirs.splitlines())):
        vote = vote_in(line)
        key: object = line
        at = 0.0
        if isinstance(vote, Vote):
            key, at = vote.key, vote.voted_at.timestamp()
        if key not in votes or at < votes[key][0]:
            votes[key] = at, line

    return "".join(f"{line}{newline}" for _, line in votes.values())
