"""Search for records by words: narrows, weighs and cuts what the index of their texts ranks.

A record is one text, or, where its prose is a whole file, one for its head and one for each chunk:
it is found by the best of them, and the hit names the lines of that part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from orbit_registry.errors import ConfigError, ProgramError, UsageError
from orbit_registry.formats.adr.vocabulary import field_of
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.model.rank import rank_order
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet, Retirement
from orbit_registry.model.scope import version_factor
from orbit_registry.repository.documents import is_prompt, prompts_of
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.index import Index, index_of
from orbit_registry.search.query import BUDGETS, MARKS, Budget, Query, context_factor
from orbit_registry.search.reading import Reading, places_of, ranked, reading_of
from orbit_registry.search.text import terms
from orbit_registry.search.texts import chunks, parts_of
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.chunks import Chunk
    from orbit_registry.search.vectors import Embedder, Meanings, Vectors

SNIPPET = 150  # characters a snippet has at most
_WORD = re.compile(r"\S+")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)$")
_HEADER_LINE = re.compile(
    r"[ \t>|]*(?:[-*+][ \t]+)?[*_]{0,2}([^\W\d_][\w -]{1,30}?)[*_]{0,2}[ \t]*[:：|]"
)
_LOOSE_ID = re.compile(r"#?\d+|[A-Za-z]+-\w*\d\w*")
LINKED = 0.5  # what a record that a hit links to is worth, as a part of that hit
LINKING_HITS = 5  # so many of the best hits lead to what they link to


@dataclass(frozen=True, slots=True)
class Score:
    """What a hit's score is made of: the text's part, and the factors for version and context."""

    text: float
    version: float = 1.0
    context: float = 1.0
    via: str = ""  # what led to it where its text did not: an id, or the hit that links to it

    @property
    def total(self) -> float:
        """The score: from 0 to 1."""
        return min(self.text * self.version * self.context, 1.0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found: how well it fits, from 0 to 1, and the text that shows why."""

    record: Record
    score: float
    snippet: str
    parts: Score = field(default=Score(0.0))
    chunk: Chunk | None = None  # its best part, if the text is long
    matched: tuple[str, ...] = ()  # the words of the query that the text has
    retired: Retirement | None = None
    """The closed record that it is, or whose place it took, which led to it."""

    @property
    def name(self) -> str:
        """What `orbit show` takes: the record's id, and the code of its best part."""
        if self.chunk is None:
            return self.record.id

        return f"{self.record.id}#{self.chunk.code}"

    @property
    def text(self) -> str:
        """The text that the snippet is from."""
        if self.chunk is not None:
            return self.chunk.body

        return self.record.prose or parts_of(self.record)[2]

    @property
    def is_markdown(self) -> bool:
        """Whether that text is Markdown: in a script a line that begins with `#` is no heading."""
        source = self.record.source
        return source is None or is_markdown(source.path)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best hits, and what the search could not do."""

    hits: tuple[Hit, ...]
    omitted: int  # how many more there are
    unknown: tuple[str, ...]  # the words of the query that no record has
    budget: str = "balanced"  # how deep was looked
    generic: bool = False  # whether the text named nothing to look for
    note: str = ""  # why less was done than is configured
    retired: tuple[Retirement, ...] = ()  # the closed records that the text names
    corrected: Mapping[str, str] = field(default_factory=dict)
    """What mistyped words were read as."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A record that may become a hit, and the slot of the text that led to it, -1 for none."""

    record: Record
    score: Score
    slot: int = -1


_Ranking = tuple[list[_Candidate], int]  # the candidates, and how many records fit


class Searcher:
    """The records of a workspace, ready to be searched many times."""

    def __init__(
        self,
        workspace: Workspace,
        records: Iterable[Record],
        applies: Callable[[str], Collection[str]],
        embedder: Callable[[], Embedder] | None = None,
        index: Index | None = None,
    ) -> None:
        """`records` are all there are, with their prose.

        `applies` gives the paths of the records that apply to a file, whatever their phase.
        `embedder` gives the model of meaning, where one is wanted, `index` what their words count,
        if it is made already.
        """
        self._workspace = workspace
        self._embedder = embedder
        self._note = ""
        self._applies = cache(applies)
        self._records = {record.path: record for record in records}
        self._index = index or index_of(self._records.values(), workspace.cache)
        self._owners = self._index.keys

    def search(self, query: Query) -> SearchResult:
        """Return the records that fit a query best.

        A hit has every one of the tags in its scope, a scope that covers the path, a version in
        common with those asked for, and a status that searches find.

        Without a text, a tag or a path leads to all in its scope, in the order in which they are
        pushed.
        """
        _refuse_empty(query)
        budget = query.depth
        if query.is_generic:
            return SearchResult((), 0, (), budget.name, generic=True)

        # A tag may have other names, which weigh the same.
        context: dict[str, float] = {}
        for tag, weight in query.context.items():
            context |= dict.fromkeys(self._workspace.config.names_of(tag), weight)

        query = replace(query, context=context)
        reading = reading_of(query, self._index)
        # What looks like an identifier may be in the parts of long texts alone.
        if budget.name == "lean" and not query.budget and self._is_in_parts_alone(reading.exact):
            budget = BUDGETS["balanced"]

        limit = query.limit or budget.limit
        if query.words:
            candidates, number = self._candidates(query, reading, budget, limit)
        else:
            candidates, number = self._in_scope(query)

        if not candidates and query.words and not query.budget and budget.name == "lean":
            budget = BUDGETS["balanced"]
            candidates, number = self._candidates(query, reading, budget, limit)

        best = _ordered(candidates, limit, half_life_days())[:limit]
        retirements = map(self._set.retirement, self._named(query))
        return SearchResult(
            hits=tuple(self._hit(query, reading, candidate) for candidate in best),
            omitted=max(number - len(best), 0),
            unknown=tuple(self._unknown(query)),
            budget=budget.name,
            note=self._note,
            retired=tuple(filter(None, retirements)),
            corrected=reading.corrected,
        )

    def vectors(self, texts: Sequence[str] = ()) -> Vectors | None:
        """Return the records' vectors and those of some texts; None without a model."""
        if self._embedder is None:
            return None

        return self._meanings.vectors(list(map(without_secrets, texts)))

    # ---------------------------------------------------------------------------------------- steps

    def _is_in_parts_alone(self, slots: frozenset[int]) -> bool:
        """Say whether some texts are all parts of long ones."""
        return bool(slots) and all(self._owners[slot][1] for slot in slots)

    def _candidates(self, query: Query, reading: Reading, budget: Budget, limit: int) -> _Ranking:
        """Return candidates, more than `limit` because factors reorder them, and how many fit."""
        # A mask that allows all texts would only cost time.
        slots = self._mask(query, budget, reading.only)
        mask = slots if 0 in slots else None

        # What an id names comes before what words lead to.
        candidates = {}
        for record in self._named(query):
            for candidate in self._standing_for(query, record, 1.0, via=record.id):
                candidates[candidate.record.path] = candidate

        most = max(budget.pool, limit * 4)
        for slot, text in ranked(self._index, reading, budget.pool, most, mask):
            record = self._records[self._owners[slot][0]]
            for candidate in self._standing_for(query, record, text, slot):
                candidates.setdefault(candidate.record.path, candidate)

        if self._embedder is not None and budget.pool:
            candidates = self._with_meaning(query, candidates, budget.pool)
        if budget.linked:
            leading = list(candidates.values())[:LINKING_HITS]
            candidates |= self._linked(query, leading, candidates)

        return list(candidates.values()), self._count(query, reading, mask, candidates)

    def _in_scope(self, query: Query) -> _Ranking:
        """Return all that tags and a path lead to, without a text."""
        candidates = []
        for record in self._records.values():
            if self._is_allowed(query, record):
                candidates.append(self._candidate(query, record, 1.0))

        return candidates, len(candidates)

    def _unknown(self, query: Query) -> Iterator[str]:
        """Yield the words of the query that no record has, and that name none."""
        apart = set()
        for word, number in pairwise(query.text.split()):
            if self._named_by(f"{word}-{number}"):
                apart.add(word)

        for word, its in query.words.items():
            is_used = word in apart or any(map(self._index.holders, its))
            if not is_used and not self._named_by(word):
                yield word

    def _with_meaning(
        self, query: Query, candidates: Mapping[str, _Candidate], most: int
    ) -> dict[str, _Candidate]:
        """Return what terms and meaning lead to.

        It is what terms alone led to where the model can't be used, which is noted.
        """
        from orbit_registry.search.vectors import z_fused

        try:
            near = {} if self._note else self._meanings.cosines(without_secrets(query.text))
        except (ConfigError, ProgramError) as error:
            self._note = f"searched by words alone: {error.message}"
            near = {}

        if not near:
            return dict(candidates)

        # Those that an id or a link led to stay in front.
        fused = {}
        by_terms = {}
        for path, candidate in candidates.items():
            if candidate.score.via:
                fused[path] = candidate
            else:
                by_terms[path] = candidate.score.text

        by_meaning = {
            path: nearness
            for path, nearness in near.items()
            if path not in fused and self._is_allowed(query, self._records[path])
        }
        for path, text in z_fused(by_terms, by_meaning, most):
            record = self._records[path]
            if path in candidates:
                fused[path] = self._candidate(query, record, text, candidates[path].slot)
            else:
                fused[path] = self._candidate(query, record, text, via="meaning")

        return fused

    @cached_property
    def _meanings(self) -> Meanings:
        from orbit_registry.search.vectors import Meanings

        if self._embedder is None:
            raise ConfigError("no model is configured", hint="set `search.model`")

        embedder = self._embedder()  # one that can't be used says so before all texts are read
        texts = {}
        for path, record in self._records.items():
            texts[path] = without_secrets("\n".join((*parts_of(record), record.prose)))

        return Meanings(self._workspace, embedder, texts)

    def _count(
        self,
        query: Query,
        reading: Reading,
        mask: Sequence[int] | None,
        candidates: Iterable[str],
    ) -> int:
        """Return how many records have a word of the query, or are candidates without one."""
        paths = set(candidates)
        for slot in {*chain.from_iterable(map(self._index.holders, reading.terms))}:
            path, _ = self._owners[slot]
            if (mask is None or mask[slot]) and self._is_found(query, self._records[path]):
                paths.add(path)

        return len(paths)

    def _mask(self, query: Query, budget: Budget, only: frozenset[int] | None) -> bytearray:
        """Return for each text whether it may lead to a hit; `only` has the slots, if not all."""
        allowed = set()
        for path, record in self._records.items():
            is_allowed = self._is_allowed(query, record)
            if not is_allowed:
                is_allowed = any(
                    self._is_allowed(query, heir) for heir in self._heirs(query, record)
                )
            if is_allowed:
                allowed.add(path)

        mask = bytearray(
            path in allowed and (not chunk or budget.chunks) for path, chunk in self._owners
        )
        if only is not None:
            mask = bytearray(slot in only and may for slot, may in enumerate(mask))

        return mask

    def _is_allowed(self, query: Query, record: Record) -> bool:
        """Say whether what narrows a query lets a record be a hit."""
        if not self._is_found(query, record):
            return False
        if not _is_narrowed(query):
            return True
        if query.path is not None and record.path not in self._applies(query.path):
            return False

        return (
            query.kind in (None, record.kind.name)
            and self._workspace.config.is_tagged(record.tags, query.tags)
            and version_factor(record.words("versions"), query.versions) > 0
        )

    def _is_found(self, query: Query, record: Record) -> bool:
        return query.everything or record.status.searched

    def _current(self, query: Query, record: Record) -> Sequence[Record]:
        """Return a record, or what took the place of a closed one that the search does not find."""
        return self._heirs(query, record) or (record,)

    def _heirs(self, query: Query, record: Record) -> Sequence[Record]:
        """Return what took the place of a closed record that the search does not find."""
        if record.phase != "closed" or self._is_found(query, record):
            return ()

        return self._successors.get(record.path, ())

    @cached_property
    def _set(self) -> RecordSet:
        return RecordSet(self._records.values())

    @cached_property
    def _successors(self) -> Mapping[str, Sequence[Record]]:
        return {
            record.path: self._set.live_successors(record)
            for record in self._set
            if record.phase == "closed"
        }

    def _candidate(
        self, query: Query, record: Record, text: float, slot: int = -1, via: str = ""
    ) -> _Candidate:
        version = version_factor(record.words("versions"), query.versions)
        context = context_factor(record.scope.tags, query.context)
        return _Candidate(record, Score(text, version, context, via), slot)

    def _named(self, query: Query) -> list[Record]:
        """Return the records whose ids the text names, and the closed ones whose title it is."""
        words = query.text.split()
        names = [word for word in words if "-" in word or len(words) == 1]
        for word, number in pairwise(words):
            if number.strip(MARKS).isdigit():  # `ADR 87`
                names.append(f"{word}-{number}")

        records = list(chain.from_iterable(map(self._named_by, dict.fromkeys(names))))
        titled = self._by_title.get(_title(query.text), ())
        if all(record.phase == "closed" for record in titled):
            records += titled

        return records

    def _named_by(self, word: str) -> Sequence[Record]:
        """Return the records that a word names, by an id or a form of one: `adr-87`, `#0087`."""
        name = word.strip(MARKS)
        if name in self._by_name:
            return (self._by_name[name],)
        if _LOOSE_ID.fullmatch(name):
            return self._set.matches(name.removeprefix("#"))

        return ()

    @cached_property
    def _by_title(self) -> Mapping[str, Sequence[Record]]:
        by_title: dict[str, list[Record]] = {}
        for record in self._records.values():
            by_title.setdefault(_title(record.title), []).append(record)

        return by_title

    def _standing_for(
        self, query: Query, record: Record, text: float, slot: int = -1, via: str = ""
    ) -> Iterator[_Candidate]:
        """Yield a record that a text led to, or what took its place, which its id led to."""
        for current in self._current(query, record):
            if current is not record:
                slot = -1
                via = record.id

            if self._is_allowed(query, current):
                yield self._candidate(query, current, text, slot, via)

    def _linked(
        self, query: Query, leading: Sequence[_Candidate], existing: Mapping[str, object]
    ) -> dict[str, _Candidate]:
        """Return what the leading hits link to, but for what is there already."""
        linked = {}
        for candidate in leading:
            for link in candidate.record.links:
                target = self._by_name.get(link.to)
                if target is None or target.path in existing or target.path in linked:
                    continue

                if self._is_allowed(query, target):
                    text = candidate.score.text * LINKED
                    via = candidate.record.id
                    linked[target.path] = self._candidate(query, target, text, via=via)

        return linked

    @cached_property
    def _by_name(self) -> Mapping[str, Record]:
        by_name: dict[str, Record] = {}
        for record in self._records.values():
            by_name |= dict.fromkeys(record.legacy_ids, record)

        return by_name | {record.id: record for record in self._records.values()}

    def _hit(self, query: Query, reading: Reading, candidate: _Candidate) -> Hit:
        """Return a candidate with what a person wants to see of it."""
        record = candidate.record
        score = candidate.score
        number = 0
        if candidate.slot >= 0:
            _, number = self._owners[candidate.slot]

        chunk = chunks(record)[number - 1] if number else None
        source = self._by_name.get(score.via, record)
        retired = self._set.retirement(source) or self._set.retirement(record)
        hit = Hit(record, score.total, "", score, chunk, retired=retired)

        text = hit.text
        record_terms = set(terms("\n".join((text, record.title, parts_of(record)[1]))))
        matched = [word for word, its in reading.words.items() if not record_terms.isdisjoint(its)]
        prompts = prompts_of(source.kind.folder, source.kind.in_document)
        line = snippet(
            text, set(reading.terms), record.title, prompts, query.text, markdown=hit.is_markdown
        )
        return replace(hit, snippet=line, matched=tuple(matched))


def _is_narrowed(query: Query) -> bool:
    """Say whether a query leaves out records for what they are, whatever their text."""
    return bool(query.kind or query.tags or query.versions) or query.path is not None


def _refuse_empty(query: Query) -> None:
    if not all(version.strip() for version in query.versions):
        hint = "name one, or leave it out; a shell variable may be unset"
        raise UsageError("a version is empty", hint=hint)

    if not query.text.strip():
        if query.tags or query.path is not None:
            return

        hint = 'give some words: `orbit search "retry uploads"`; or a tag or a path alone'
        raise UsageError("there is nothing to search for", hint=hint)

    if not query.words:
        has = "no letter and no digit"
        if any(map(str.isalnum, query.text)):
            has = "only words that nearly every text has"

        message = f"{' '.join(query.text.split())[:80]!r} has {has}"
        raise UsageError(message, hint="give a word that is in few records")


def _ordered(candidates: Sequence[_Candidate], limit: int, half_life: float) -> list[_Candidate]:
    """Return hits by score, equal ones as they are pushed if they can be among the first."""
    by_score = sorted(candidates, key=lambda candidate: -candidate.score.total)
    last = by_score[limit - 1].score.total if len(by_score) >= limit else 0.0
    head = [candidate for candidate in by_score if candidate.score.total >= last]
    head.sort(key=lambda hit: (-hit.score.total, rank_order(hit.record, half_life)))
    return [*head, *by_score[len(head) :]]


def _title(text: str) -> str:
    return " ".join(text.casefold().split())


_COMMENT = re.compile(r"<!--[\s\S]{0,4000}?-->")
"""What no page shows."""
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{1,1000}\)")
"""A link, of which a page shows the words."""


def snippet(
    text: str,
    query: set[str],
    title: str,
    prompts: frozenset[str],
    exact: str = "",
    *,
    markdown: bool = True,
) -> str:
    """Return a line of at most `SNIPPET` characters, where most words of the query are.

    A place with an identifier of `exact` is preferred.
    """
    if markdown:
        plain = _LINK.sub(r"\1", _COMMENT.sub(" ", text))
        text = " ".join(_prose_lines(plain, prompts))

    line = " ".join(text.split()) or title
    places = [word.start() for word in _WORD.finditer(line) if not query.isdisjoint(terms(word[0]))]
    places = places_of(line, exact) or places
    room = SNIPPET - 2

    def words_from(at: int) -> int:
        return sum(at <= other < at + room for other in places)

    # The line begins a few words before the place that most words of the query follow.
    around = max(places, key=lambda at: (words_from(at), -at), default=0)
    start = 0
    if around >= room // 2:
        start = line.find(" ", max(around - 30, 0)) + 1
    if len(line) <= room:
        start = 0
    elif start + room >= len(line):
        start = min(start, line.find(" ", len(line) - room) + 1)

    cut = line[start : start + room].strip()
    if start:
        cut = f"…{cut}"
    if start + room < len(line):
        cut += "…"

    return cut


def _prose_lines(text: str, prompts: frozenset[str]) -> Iterator[str]:
    """Yield the lines of a text but headings, prompts, the status and lines such as `Date: …`."""
    is_status = False
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading is not None:
            is_status = field_of(heading[1].rstrip(" \t#")) == "status"
            continue

        if is_status or not line.strip("|:- \t") or is_prompt(line, prompts):
            continue

        header = _HEADER_LINE.match(line)
        if header is None or field_of(header[1]) is None:
            yield line
