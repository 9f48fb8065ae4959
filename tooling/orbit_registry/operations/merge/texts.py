"""Merged text of each conflicting file: records field by field, documents, logs by entry, votes by line."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from orbit_registry.errors import InvalidRecordError, OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import split_separator
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import means, rewrite
from orbit_registry.model.kind import Kind
from orbit_registry.operations.citation_rewrite import (
    CitationMap,
    DocumentMoves,
    kind_of,
    rewrite_file,
    rewrite_mentions,
)
from orbit_registry.operations.merge.conflicts import SIDES, MergedRecord, MergedRecords, MergeState, Side, other_side
from orbit_registry.operations.renumber import (
    in_order,
    moved_document,
    renamed_votes,
    renumbered_data,
    renumbered_document,
)
from orbit_registry.repository.codec import data_in, decode_record, mapping_in
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.repository.votes import FIELDS
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.writer import ChangeSet, validated
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.git import merge_lines
from orbit_registry.workspace.workspace import ORBIT, Workspace

Key = tuple[int, int]
"""An entry's number, a negative one of its title where it has none, and how many entries above have the same."""

ABOVE = "the text above the entries"
BELOW = "the text below the entries"


@dataclass(frozen=True, slots=True)
class LogMerge:
    """A merged log; `contested` names what both sides changed, whose places hold conflict markers."""

    text: str
    contested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    content: str
    gap: str


@dataclass(frozen=True, slots=True)
class _Log:
    head: _Piece
    entries: Mapping[Key, _Piece]
    tail: _Piece


def merge_logs(base: str, ours: str, theirs: str) -> LogMerge:
    """Return the merge of two versions of a log that both come from `base` ('' where there was none)."""
    if ours == theirs or theirs == base:
        return LogMerge(ours)
    if ours == base:
        return LogMerge(theirs)
    newline = _newline(ours) or _newline(theirs)
    texts = (base, ours, theirs)
    uniform = all(_newline(text) is not None for text in texts)
    plain = [text.replace("\r\n", "\n") if uniform else text for text in texts]
    merged = _merge([_split(text) for text in plain])
    return LogMerge(merged.text.replace("\n", "\r\n"), merged.contested) if uniform and newline == "\r\n" else merged


def _newline(text: str) -> str | None:
    crlf = text.count("\r\n")
    if text.count("\r") != crlf or crlf not in (0, text.count("\n")):
        return None
    return "\r\n" if crlf else "\n"


def _split(text: str) -> _Log:
    file = read_document(text, "decisions.md")
    if file.format != "log" or not file.entries:
        return _Log(_Piece(*split_separator(text)), {}, _Piece("", ""))
    starts = [entry.span.start for entry in file.entries]
    ends = [*starts[1:], file.entries[-1].span.end]
    entries: dict[Key, _Piece] = {}
    occurrences: Counter[int] = Counter()
    for entry, start, end in zip(file.entries, starts, ends, strict=True):
        number = int(entry.number) if entry.number else -1 - crc32(entry.title.encode())
        entries[number, occurrences[number]] = _Piece(*split_separator(text[start:end]))
        occurrences[number] += 1
    return _Log(_Piece(*split_separator(text[: starts[0]])), entries, _Piece(*split_separator(text[ends[-1] :])))


def _merge(logs: Sequence[_Log]) -> LogMerge:
    base, ours, theirs = logs
    contested: list[str] = []
    head = _merge_piece(base.head, ours.head, theirs.head, ABOVE, contested) or _Piece("", "")
    merged: list[_Piece] = []
    for key in _order(ours.entries, theirs.entries, base.entries):
        old, mine, other = (log.entries.get(key) for log in logs)
        some = mine or other or old or _Piece("", "")
        name = f"ADR-{key[0]:04d}" if key[0] >= 0 else some.content.partition("\n")[0].strip("# \t")
        piece = _merge_piece(old, mine, other, name, contested)
        if piece is not None:
            merged.append(piece)
    tail = _merge_piece(base.tail, ours.tail, theirs.tail, BELOW, contested) or _Piece("", "")
    return LogMerge(_joined(head, merged, tail, logs), tuple(contested))


def _order(ours: Iterable[Key], theirs: Iterable[Key], base: Iterable[Key]) -> list[Key]:
    """Return every entry once: in our order, those of the other versions inserted at their positions."""
    result = list(ours)
    there = list(theirs)
    placed = set(result)
    numbers = [[key[0] for key in keys] for keys in (result, there)]
    numbered = all(number >= 0 for order in numbers for number in order)
    falling = numbered and all(order == sorted(order, reverse=True) for order in numbers) and max(map(len, numbers)) > 1
    rising = numbered and all(order == sorted(order) for order in numbers)
    for index, key in enumerate(there):
        if key in placed:
            continue
        placed.add(key)
        if rising or falling:
            later = (at for at, other in enumerate(result) if (other > key if rising else other < key))
            result.insert(next(later, len(result)), key)
        else:
            above = there[index - 1] if index else None
            result.insert(result.index(above) + 1 if above else 0, key)
    return result + [key for key in base if key not in placed]


def _merge_piece(
    base: _Piece | None, ours: _Piece | None, theirs: _Piece | None, name: str, contested: list[str]
) -> _Piece | None:
    contents = [piece.content if piece else None for piece in (base, ours, theirs)]
    if contents[1] == contents[2] or contents[2] == contents[0]:
        return ours
    if contents[1] == contents[0]:
        return theirs
    if base is not None and ours is not None and theirs is not None:
        text, conflict = merge_lines(*(f"{piece.content}\n" for piece in (base, ours, theirs)))
        if conflict:
            contested.append(name)
        return _Piece(text.rstrip("\n"), ours.gap)
    contested.append(name)
    sides = [f"{content}\n" if content else "" for content in contents[1:]]
    gap = (ours or theirs or _Piece("", "\n")).gap
    return _Piece(f"<<<<<<< ours\n{sides[0]}=======\n{sides[1]}>>>>>>> theirs", gap)


def _joined(head: _Piece, entries: Sequence[_Piece], tail: _Piece, logs: Sequence[_Log]) -> str:
    usual = _usual_gap(logs)
    ends = [list(log.entries.values())[-1] for log in (logs[1], logs[2], logs[0]) if log.entries]
    was_last = {id(piece) for piece in ends}
    parts = [piece for piece in (head, *entries, tail) if piece.content]
    result: list[str] = []
    for index, piece in enumerate(parts):
        follows = parts[index + 1] if index + 1 < len(parts) else None
        gap = piece.gap
        if piece is not head and piece is not tail:
            if follows is None or follows is tail:
                gap = ends[0].gap if ends else gap
            elif id(piece) in was_last:
                gap = usual
        if follows is not None and gap.count("\n") < 2:
            gap = usual if piece is not head and follows is not tail else "\n\n"
        result += (piece.content, gap)
    return "".join(result)


def _usual_gap(logs: Sequence[_Log]) -> str:
    gaps: Counter[str] = Counter()
    for log in (logs[1], logs[2], logs[0]):
        gaps.update(piece.gap for piece in list(log.entries.values())[:-1] if piece.gap.count("\n") > 1)
    return gaps.most_common(1)[0][0] if gaps else "\n\n"


def merge_driver(base: Path, ours: Path, theirs: Path) -> int:
    """Merge a log for git into `ours`; return 1 if a conflict is left, or a version is not text."""
    try:
        texts = [read_bytes(file, limit=DOCUMENT_LIMIT).decode("utf-8") for file in (base, ours, theirs)]
    except (OrbitError, UnicodeDecodeError):
        return 1
    merged = merge_logs(*texts)
    if merged.text != texts[1]:
        write_atomic(ours, merged.text)
    return 1 if merged.contested else 0


_ABSENT = object()
_LATEST = ("updated_at",)
_UNMERGED_LISTS = ("freshness.fingerprint",)
_VERIFIED = ("fingerprint", "verified_at", "verified_by")
_FAILURE, _ATTEMPTS = "failure", "attempts"
_FAILURE_FIELDS = ("title", "reason", "ttl_days")  # what a failure says anew each time its target fails


class _ContestedError(Exception):
    """Two versions of a record can't be merged; the message says why."""


def merge_records(base: str | None, ours: str, theirs: str, kind: Kind, path: str) -> str:
    """Return the merge of two versions of one record's file.

    A field that one side changed is taken from it; lists take what either side added and lose what either removed;
    the later time of change wins, and the later verification. A failure that both met again
    says what the later one says, and counts the attempts of both. What else both changed differently is contested, and
    named. A base that can't be read counts as none.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    try:
        old, here, there = data_in(base) or {}, load(ours), load(theirs)
    except YamlProblemError as error:
        raise _ContestedError(f"one side is not valid YAML: {error.problem.message}") from None
    if not isinstance(here, dict) or not isinstance(there, dict):
        raise _ContestedError("one side is not a mapping")
    contested: list[str] = []
    _take_later(old, here, there, kind)
    merged = _merged(old, here, there, "", contested)
    text = _text(base, ours, theirs, merged, kind) if not contested and isinstance(merged, dict) else None
    if text is None:
        raise _ContestedError("; ".join(contested) or "a comment was added or changed on both sides")
    record, problems = decode_record(text, kind, path)
    if record is None:
        raise _ContestedError("; ".join(f"the merge is not valid: {problem.message}" for problem in problems))
    return text


def _take_later(base: Mapping[str, object], ours: dict[str, object], theirs: dict[str, object], kind: Kind) -> None:
    """Where both sides verified a record, let both say what the later one says, as if it had followed the other."""
    old, here, there = _freshness(base), _freshness(ours), _freshness(theirs)
    if old.get("verified_at") in (here.get("verified_at"), there.get("verified_at")):
        return
    earlier, later = sorted((ours, theirs), key=lambda data: (str(_freshness(data).get("verified_at", "")), str(data)))
    freshness = {**_freshness(earlier)}
    _replace(old, freshness, _freshness(later), _VERIFIED)
    earlier["freshness"] = freshness
    if kind.name == _FAILURE:
        _replace(base, earlier, later, _FAILURE_FIELDS)
        counts = [count for data in (base, ours, theirs) if isinstance(count := data.get(_ATTEMPTS), int)]
        if len(counts) == len(SIDES) and counts[0] not in counts[1:]:
            ours[_ATTEMPTS] = theirs[_ATTEMPTS] = counts[1] + counts[2] - counts[0]


def _freshness(data: Mapping[str, object]) -> Mapping[str, object]:
    return mapping_in(data, "freshness")


def _replace(
    base: Mapping[str, object], earlier: dict[str, object], later: Mapping[str, object], names: Iterable[str]
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
            sides = [side.get(key, _ABSENT) for side in (old, ours, theirs)]
            value = _merged(sides[0], sides[1], sides[2], f"{name}.{key}".lstrip("."), contested)
            if value is not _ABSENT:
                result[key] = value
        return result
    if isinstance(ours, list) and isinstance(theirs, list) and name not in _UNMERGED_LISTS:
        base_items = base if isinstance(base, list) else []
        own_items = [entry for entry in ours if entry in theirs or entry not in base_items]
        return own_items + [entry for entry in theirs if entry not in ours and entry not in base_items]
    if name in _LATEST and isinstance(ours, str) and isinstance(theirs, str):
        return max(ours, theirs)
    contested.append(f"`{name}` is {_excerpt(ours)} in ours, {_excerpt(theirs)} in theirs")
    return ours


def _excerpt(value: object) -> str:
    if value is _ABSENT:
        return "removed"
    return cut(json.dumps(value, ensure_ascii=False, default=str), 80)


def _text(base: str | None, ours: str, theirs: str, merged: dict[str, object], kind: Kind) -> str | None:
    if base is not None:
        lines, conflict = merge_lines(base, ours, theirs)
        if not conflict and means(lines, merged):
            return lines
    try:
        text = rewrite(ours, merged, order=kind.schema.properties)
    except YamlProblemError:
        return None
    kept_comments = {*_comments(text), *_comments(base or "")}
    return text if all(comment in kept_comments for comment in _comments(theirs)) else None


def _comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]


def _merge_votes(ours: str, theirs: str) -> str:
    newline = "\r\n" if "\r\n" in ours else "\n"
    votes: dict[object, tuple[str, str]] = {}
    for line in filter(str.strip, (*ours.splitlines(), *theirs.splitlines())):
        key, at = _vote_key(line)
        votes[key] = min(votes.get(key, (at, line)), (at, line), key=lambda vote: vote[0])
    return "".join(f"{line}{newline}" for _, line in votes.values())


def _vote_key(line: str) -> tuple[object, str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return line, ""
    if not isinstance(row, dict) or set(row) != set(FIELDS) or not all(isinstance(row[name], str) for name in FIELDS):
        return line, ""
    return (row["learning_id"], row["voter_model"], row["task_id"]), row["voted_at"]


_MARKER = re.compile(r"(?m)^(?:<{7,}|\|{7,}|={7,}|>{7,})(?:[ \t].*)?$")
_OPEN = re.compile(r"(?m)^<{7,} ")
_BY_HAND = "it was edited by hand since; if it is right, `git add` it"


@dataclass(slots=True)
class Resolution:
    """A merge being resolved: its state, and the files drafted so far."""

    workspace: Workspace
    state: MergeState
    subjects: MergedRecords
    draft: ChangeSet
    resolved: set[str] = field(default_factory=set)  # unmerged paths that are settled
    reasons: dict[str, str] = field(default_factory=dict)  # unmerged paths that need a person → why
    created: set[str] = field(default_factory=set)  # paths that the merge brings into being or moves
    drafted: set[str] = field(default_factory=set)  # uids of the records that were drafted
    documents: dict[str, str] = field(default_factory=dict)  # uid → where the record's document is afterwards
    moves: dict[str, str] = field(default_factory=dict)  # documents that move: old path → new path
    owners: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Document of one record → what an id in a link to it becomes; a log, which both sides share, tells nothing."""
    came_from: dict[str, str] = field(default_factory=dict)  # new path → the path it has on its side
    belongs: dict[str, Side] = field(default_factory=dict)  # files that are one side's alone
    translated: set[str] = field(default_factory=set)
    """Files that were merged from versions whose citations were put right before."""
    done: dict[str, str] = field(default_factory=dict)  # path → what was done with it, in words

    def settle(self, path: str, text: str | None, what: str) -> bool:
        """Draft the text of an unmerged path, unless a person has worked on it; says whether it was drafted."""
        try:
            if not self.may_replace(path, text):
                if path in self.state.unmerged:
                    self.reasons[path] = _BY_HAND
                return False
            self.draft.put(path, text)
        except OrbitError as error:
            self.reasons[path] = error.message
            return False
        if path in self.state.unmerged:
            self.resolved.add(path)
        self.done[path] = what
        return True

    def may_replace(self, path: str, text: str | None) -> bool:
        """Say whether the work tree holds what git left there: no new line, no conflict settled by hand."""
        current = self.draft.on_disk(path)
        sides = [side_text for side in SIDES if (side_text := self.state.text(side, path)) is not None]
        if current is None or current == text:
            return True
        if path not in self.state.unmerged:
            return current == self.state.text("ours", path) or (len(sides) == 3 and current == merge_lines(*sides)[0])
        if current in sides:
            return True
        if not _OPEN.search(current):
            return False
        side_lines = {line.rstrip("\r") for side_text in (*sides, text or "") for line in side_text.split("\n")}
        return all(line.rstrip("\r") in side_lines for line in _MARKER.sub("", current).split("\n"))


def write_records(resolution: Resolution) -> None:
    """Draft each record under the id it has afterwards, with the files of its folder."""
    state = resolution.state
    record_files = [path for path in state.unmerged if kind_of(resolution.workspace, path)]
    resolution.reasons |= resolution.subjects.unreadable
    for path in record_files:
        if not state.unmerged[path]:
            resolution.reasons[path] = "it is not a regular file on one side"
    finals = Counter(subject.final_path for subject in resolution.subjects.all)
    for subject in resolution.subjects.all:
        path = subject.final_path
        if finals[path] > 1:
            reason = f"two records took the code {subject.final}; give one of them another by hand"
            resolution.reasons[subject.unmerged_path(state)] = reason
            continue
        text = _record_text(resolution, subject, path)
        if text is None:
            continue
        resolution.translated.add(path)
        if resolution.settle(path, text, "merged"):
            resolution.drafted.add(subject.uid)
            if path not in state.unmerged:
                resolution.created.add(path)
        if subject.is_renumbered:
            _move_folder(resolution, subject, path)
    for path in record_files:
        if path not in finals and path not in resolution.reasons:
            resolution.settle(path, None, "moved")


def _record_text(resolution: Resolution, subject: MergedRecord, path: str) -> str | None:
    unmerged_path = subject.unmerged_path(resolution.state)
    try:
        texts = {side: _with_final_ids(resolution, subject, side) for side in subject.texts}
        ours, theirs, base = texts.get("ours"), texts.get("theirs"), texts.get("base")
        if ours is not None and theirs is not None:
            return merge_records(base, ours, theirs, subject.kind, path)
        if base is not None and (ours or theirs) != base:
            keeper, remover = ("ours", "theirs") if ours is not None else ("theirs", "ours")
            resolution.reasons[unmerged_path] = f"{remover} removed {subject.ids.get('base')}, {keeper} changed it"
            return None
        text = ours if ours is not None else theirs
        if text is not None:
            validated(text, subject.kind, path)
        return text
    except YamlProblemError as error:
        resolution.reasons[unmerged_path] = f"{subject.final}: {error.problem.message}"
    except (InvalidRecordError, _ContestedError) as error:
        resolution.reasons[unmerged_path] = str(error)
    return None


def _meaning_on(resolution: Resolution, side: Side, base: str | None) -> CitationMap:
    """Return what citations in one side's version of a file become; what stood there before both sides stays."""
    renames = resolution.subjects.renames(side)
    inherited = {line.rstrip("\r") for line in (base or "").split("\n")}
    base_ids = resolution.subjects.ids("base")

    def meaning(path: str, line: str, cited: str) -> str:
        del path
        if side != "base" and cited not in base_ids and line.rstrip("\r") in inherited:
            return cited
        return renames.get(cited, cited)

    return meaning


def _with_final_ids(resolution: Resolution, subject: MergedRecord, side: Side) -> str:
    text = subject.texts[side]
    ids = frozenset(resolution.subjects.renames(side))
    if ids:
        meaning = _meaning_on(resolution, side, subject.texts.get("base"))
        text = rewrite_file(resolution.workspace, subject.paths[side], text, ids, meaning, DocumentMoves()).text
    old = subject.ids.get(side) or subject.final
    if old == subject.final:
        return text
    document = moved_document(subject.source, old, subject.final) if subject.is_renumbered else None
    data = renumbered_data(data_in(text) or {}, old, subject.final, subject.aliases, document)
    return rewrite(text, data, order=subject.kind.schema.properties)


def _move_folder(resolution: Resolution, subject: MergedRecord, path: str) -> None:
    state, side = resolution.state, subject.side
    old_folder, new_folder = subject.paths[side].rpartition("/")[0], path.rpartition("/")[0]
    other = other_side(side)
    resolution.came_from[path] = resolution.draft.came_from[path] = subject.paths[side]
    resolution.belongs[path] = side
    for name in state.files_below(side, old_folder):
        text = state.text(side, name)
        target = f"{new_folder}{name.removeprefix(old_folder)}"
        if text is None or name == subject.paths[side]:
            continue
        if name.endswith(f"/{VOTES}"):
            text = renamed_votes(text, subject.ids.get(side) or "", subject.final)
        resolution.draft.put(target, text)
        resolution.created.add(target)
        resolution.came_from[target] = resolution.draft.came_from[target] = name
        resolution.belongs[target] = side
        other_text = state.text(other, name)
        if other_text is None or name in state.unmerged:
            resolution.settle(name, other_text, "moved" if other_text is None else "merged")
            resolution.created.add(name)


def merge_documents(resolution: Resolution) -> None:
    """Draft the documents of renumbered records: the number in the text, and the new name."""
    state = resolution.state
    for subject in resolution.subjects.all:
        path = str(subject.source.get("path") or "")
        if not path or subject.uid not in resolution.drafted:
            continue
        side, old = subject.side, subject.ids.get(subject.side) or ""
        if not subject.is_renumbered:
            if not _is_log(resolution, path):
                resolution.owners.setdefault(path, {name: name for name in resolution.subjects.ids(side)})
            continue
        target = moved_document(subject.source, old, subject.final) or path
        resolution.documents[subject.uid] = target
        if _is_log(resolution, path):
            if path not in state.unmerged:
                _number_in(resolution, subject, path, path)
            continue
        if path in state.unmerged and len(state.unmerged[path]) > 1:
            _separate_documents(resolution, subject, path, target)
            continue
        if target != path:
            resolution.moves[path] = target
            resolution.came_from[target] = path
            resolution.created |= {path, target}
        resolution.owners[path] = resolution.owners[target] = {old: subject.final}
        _number_in(resolution, subject, path, target)


def _number_in(resolution: Resolution, subject: MergedRecord, path: str, target: str) -> None:
    text = resolution.draft.readable(path)
    if text is None:
        return
    old = subject.ids.get(subject.side) or ""
    heading = str(subject.source["heading"]) if "heading" in subject.source else None
    numbered = renumbered_document(text, path, heading, subject.title, old, subject.final)
    try:
        resolution.draft.put(path, numbered)
        resolution.draft.move(path, target)
    except OrbitError as error:
        resolution.reasons[path] = error.message


def _separate_documents(resolution: Resolution, subject: MergedRecord, path: str, target: str) -> None:
    side = subject.side
    other = other_side(side)
    mine, other_text = resolution.state.text(side, path), resolution.state.text(other, path)
    old = subject.ids.get(side) or ""
    if target == path or mine is None or other_text is None:
        resolution.reasons[path] = f"two decisions have one name; move {subject.final}'s away by hand"
        return
    if not resolution.settle(path, other_text, "merged"):
        return
    numbered = renumbered_document(mine, path, None, subject.title, old, subject.final)
    forms = resolution.workspace.kinds.id_forms

    def meaning(_path: str, _line: str, cited: str) -> str:
        return subject.final if cited == old else cited

    result = rewrite_mentions(numbered, target, forms, frozenset((old,)), meaning, DocumentMoves())
    resolution.draft.put(target, result.text)
    resolution.created.add(target)
    resolution.belongs[target] = side
    resolution.belongs[path] = other


def _is_log(resolution: Resolution, path: str) -> bool:
    if path.rpartition("/")[2] == LOG_NAME:
        return True
    texts = [resolution.state.text(side, path) for side in SIDES]
    return any(text and read_document(text, path).format == "log" for text in texts)


def merge_logs_of(resolution: Resolution) -> None:
    """Draft each unmerged log by entry; what both sides changed stays a conflict around that entry alone."""
    state = resolution.state
    for path, stages in state.unmerged.items():
        if not is_markdown(path) or path in resolution.resolved or len(stages) < 2 or path.startswith(f"{ORBIT}/"):
            continue
        if state.is_oversized(path):
            if path.rpartition("/")[2] == LOG_NAME:
                resolution.reasons[path] = f"one side is larger than {DOCUMENT_LIMIT:,} bytes"
            continue
        if not _is_log(resolution, path):
            continue
        if "ours" not in stages or "theirs" not in stages:
            resolution.reasons[path] = "one side removed the log, the other changed it"
            continue
        texts = [_log_text(resolution, side, path) for side in SIDES]
        try:
            merged = merge_logs(texts[0], texts[1], texts[2])
        except OrbitError as error:
            resolution.reasons[path] = error.message
            continue
        resolution.translated.add(path)
        if resolution.settle(path, merged.text, "merged by entry") and merged.contested:
            resolution.resolved.discard(path)
            resolution.reasons[path] = f"changed on both sides: {', '.join(merged.contested)}"


def _log_text(resolution: Resolution, side: Side, path: str) -> str:
    text = resolution.state.text(side, path) or ""
    renames = resolution.subjects.renames(side)
    if not renames or not text:
        return text
    meaning = _meaning_on(resolution, side, resolution.state.text("base", path))
    for subject in resolution.subjects.all:
        old = subject.ids.get(side)
        if old in renames and subject.source.get("path") == path:
            text = renumbered_document(text, path, old, subject.title, old or "", subject.final)
    forms = resolution.workspace.kinds.id_forms
    text = rewrite_mentions(text, path, forms, frozenset(renames), meaning, DocumentMoves()).text
    return in_order(text, path, *sorted(renames.values()))


def merge_votes_of(resolution: Resolution) -> None:
    """Draft each unmerged file of votes: those of both sides."""
    state = resolution.state
    for path, stages in state.unmerged.items():
        is_votes = path.startswith(f"{ORBIT}/") and path.endswith(f"/{VOTES}")
        if is_votes and stages and path not in resolution.resolved and path not in resolution.reasons:
            ours, theirs = state.text("ours", path) or "", state.text("theirs", path) or ""
            resolution.settle(path, _merge_votes(ours, theirs), "both sides' votes")
