"""Finds records by words: keeps their index from run to run, narrows and cuts what `bm25` ranks; changes no record."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.errors import UsageError
from orbit_registry.records.rank import rank_order
from orbit_registry.records.record import Record
from orbit_registry.search.bm25 import TextIndex
from orbit_registry.search.terms import terms
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.glob_syntax import Glob
from orbit_registry.text.globs import match_any, parse_glob

SNIPPET = 150
"""Characters a snippet has at most."""
_WORD = re.compile(r"\S+")
_ENVELOPE = """
schema_version id uid status title labels project scope links evidence source supersedes superseded_by legacy_ids
distinct_from freshness created_at updated_at created_by date tasks feature status_raw approval confidence
"""
_NO_TEXT = frozenset(_ENVELOPE.split())
"""Fields that are not read as text: identity, state and what has a weight of its own."""
_FIRST = 5
"""So many hits of a task's text are told apart where they fit alike: more of them lead to nothing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found: how well it fits (0 to 1) and the part of its text that shows why."""

    record: Record
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best hits, how many more there are, and the words of the query that no record has."""

    hits: tuple[Hit, ...]
    omitted: int
    unknown: tuple[str, ...]


class Searcher:
    """The records of a workspace, ready to be searched; what is asked often is loaded once."""

    def __init__(self, workspace: Workspace, records: Iterable[Record]) -> None:
        """`records` are all there are, with their prose."""
        self._records = {record.path: record for record in records}
        self._index = _index(workspace, self._records)

    def search(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        path: str | None = None,
        limit: int = 10,
        keep: Callable[[Record], bool] = lambda record: record.status.searched,
    ) -> SearchResult:
        """Return the records that fit a text best.

        A hit has every one of `tags` in its scope, a scope that covers `path`, and is one that `keep` lets pass.

        Raises:
            UsageError: the text has no word to search for.
        """
        words = _words(text)
        query = [term for found in words.values() for term in found]
        unknown = set(self._index.unknown(dict.fromkeys(query)))
        found = [
            (record, score)
            for key, score in self._index.search(query)
            if keep(record := self._records[key])
            and all(tag in record.scope.tags for tag in tags)
            and (path is None or covers(record, path))
        ]
        found = _ties_in_order(found, limit, half_life_days())
        hits = tuple(Hit(record, score, snippet(record, set(query))) for record, score in found[:limit])
        strange = tuple(word for word, its in words.items() if unknown.issuperset(its))
        return SearchResult(hits, len(found) - len(hits), strange)

    def fitting(self, text: str) -> list[tuple[str, float]]:
        """Return the files of all records that fit a text, with scores from 0 to 1, the best first."""
        query = [term for word in text.split() for term in terms(word)]
        found = [
            (record, score)
            for key, score in self._index.search(query)
            if (record := self._records[key]).status.searched
        ]
        return [(record.path, score) for record, score in _ties_in_order(found, _FIRST, half_life_days())]


def _ties_in_order(found: list[tuple[Record, float]], limit: int, half_life: float) -> list[tuple[Record, float]]:
    """Return the hits, those with equal scores as they are pushed, as far as they can be among the first."""
    last = found[limit - 1][1] if len(found) >= limit else 0.0
    head = [hit for hit in found if hit[1] >= last]
    return [*sorted(head, key=lambda hit: (-hit[1], rank_order(hit[0], half_life))), *found[len(head) :]]


def covers(record: Record, path: str) -> bool:
    """Say whether a record's scope names a path, from the root."""
    globs = [glob for said in record.scope.paths if isinstance(glob := parse_glob(said), Glob)]
    return match_any(globs, path) is not None


def snippet(record: Record, query: set[str]) -> str:
    """Return one line of at most `SNIPPET` characters of a record's text, from where most words of the query stand."""
    line = " ".join((record.prose or _body(record)).split()) or record.title
    places = [word.start() for word in _WORD.finditer(line) if not query.isdisjoint(terms(word[0]))]
    room = SNIPPET - 2
    around = max(places, key=lambda at: (sum(at <= other < at + room for other in places), -at), default=0)
    start = 0 if around < room // 2 else line.find(" ", max(around - 30, 0)) + 1
    if start + room >= len(line):
        start = min(start, max(len(line) - room, 0))
    cut = line[start : start + room]
    return f"{'…' if start else ''}{cut.strip()}{'…' if start + room < len(line) else ''}"


def _words(text: str) -> Mapping[str, list[str]]:
    """Return the words of a query that weigh, each with its terms."""
    if not text.strip():
        hint = 'give some words: `orbit search "retry uploads"`; `orbit match PATH` lists what applies to a file'
        raise UsageError("there is nothing to search for", hint=hint)
    words = {word: found for word in text.split() if (found := terms(word))}
    if not words:
        said = f"{' '.join(text.split())[:80]!r} has only words that nearly every text has"
        raise UsageError(said, hint="give a word that stands in few records")
    return words


def _index(workspace: Workspace, records: Mapping[str, Record]) -> TextIndex:
    """Return the index of the records, made from the one that was kept where that saves work."""
    kept = KeptValue(workspace, "search", code_stamp())
    index, seen = TextIndex.from_state(kept.value.get("index")), kept.value.get("texts")
    if index is None or not isinstance(seen, dict) or index.is_worn:
        index, seen = TextIndex(), {}
    fields = {path: _fields(record) for path, record in records.items()}
    digests = {path: _digest(found) for path, found in fields.items()}
    for path in seen.keys() - digests.keys():
        index.remove(path)
    for path, digest in digests.items():
        if seen.get(path) != digest:
            index.put(path, *fields[path])
    if seen != digests:
        kept.keep({"index": index.to_state(), "texts": digests})
    return index


def _fields(record: Record) -> tuple[str, str, str]:
    """Return a record's title, its tags (labels and symbols among them) and its text."""
    scope = record.data.get("scope")
    named: list[str] = []
    seed = ""
    if isinstance(scope, Mapping):
        named = [str(one) for axis in ("tags", "symbols") for one in scope.get(axis, ())]
        seed = str(scope.get("semantic_seed") or "")
    return record.title, "\n".join((*named, *record.words("labels"))), f"{record.prose}\n{_body(record)}\n{seed}"


def _body(record: Record) -> str:
    """Return the texts of a record's own fields beside title and prose."""
    apart = (record.kind.headline, record.kind.prose)
    own = (value for name, value in record.data.items() if name not in _NO_TEXT and name not in apart)
    return "\n".join(text for value in own for text in _texts(value))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _digest(fields: tuple[str, str, str]) -> str:
    return hashlib.sha256("\0".join(fields).encode("utf-8", "surrogatepass")).hexdigest()[:32]
