"""Consolidation: learnings that say the same become one, a theme a rule; unused ones are offered for retirement."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, combinations

from orbit_registry.analytics.effect import Report
from orbit_registry.formats.diff import unified_diff
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import parse_time
from orbit_registry.repository.writer import create_record, prepare_edit, writing
from orbit_registry.review.proposals import ADDITIVE, Draft, proposal_digest
from orbit_registry.search.similarity import Scores, TermWeights, Vector, Words, contrast, pair_scores
from orbit_registry.search.text import terms
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

LEARNING, RULE = "learning", "rule"
TOGETHER, FLOOR = 0.22, 0.11
"""Mean similarity of one theme, and what counts as 0.

On the 50 learnings of a project it made seven clusters: five of one matter, two of one folder only. From 0.20 on came
three more, one of them of one matter.
"""
SAME = 0.55  # similarity of summaries that say the same
MOST_MEMBERS, MOST_PAIRS = 8, 500_000
SHOWN_DAYS, SHOWN_SESSIONS = 30, 20  # days and sessions that the log needs before `never shown` means anything
UNOPENED = 10  # sessions that were shown a learning without opening it
_FEW = 8
_WILD = re.compile(r"[*?\[{!]")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Learnings that belong together: their mean similarity, and the words, tags and folders that they share."""

    members: tuple[Record, ...]
    likeness: float
    shared: tuple[str, ...]
    kind: str = RULE  # kind to propose: a learning where the members say the same

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the members."""
        return tuple(member.id for member in self.members)

    def fields(self) -> dict[str, object]:
        """Return the fields of the proposed rule or learning; its headline is the first member's."""
        first = inert_line(self.members[0].title)
        reasons = "\n".join(f"- {member.id}: {inert_line(member.title)}" for member in self.members)
        paths = list(dict.fromkeys(chain.from_iterable(member.scope.paths for member in self.members)))
        counts = Counter(chain.from_iterable({*member.scope.tags} for member in self.members))
        tags = sorted(tag for tag, count in counts.items() if count > 1)
        scope = {name: words for name, words in (("paths", paths), ("tags", tags)) if words}
        links = [{"rel": "derived_from", "to": member.id} for member in self.members]
        fields: dict[str, object] = {"scope": scope, "links": links, "labels": ["consolidated"]}
        if self.kind == LEARNING:
            prose = f"These say nearly the same.\n\n{reasons}"
            return {"summary": first, "body": prose, **fields, "distinct_from": list(self.ids)}
        return {"title": first, "rationale": f"These have in common: {', '.join(self.shared)}.\n\n{reasons}", **fields}

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "kind": self.kind, "members": [{"id": member.id, "title": member.title} for member in self.members],
            "likeness": round(self.likeness, 3), "shared": list(self.shared),
        }  # fmt: skip


def clusters(records: Iterable[Record]) -> list[Cluster]:
    """Return the themes of learnings, the closest first, of at most eight members (average linkage)."""
    by_path = {record.path: record for record in records if without_secrets(record.title) == record.title}
    counts = {path: Counter(_words(record)) for path, record in by_path.items()}
    scores = pair_scores(counts, FLOOR, MOST_PAIRS)
    groups = [_cluster([by_path[path] for path in paths], scores, counts) for paths in _agglomerate(scores)]
    titles = {path: Counter(terms(record.title)) for path, record in by_path.items()}
    weights = TermWeights.of(titles.values())
    vectors = {path: weights.vector(title) for path, title in titles.items()}
    groups = [replace(cluster, kind=LEARNING) if _says_the_same(cluster, vectors) else cluster for cluster in groups]
    return sorted(groups, key=lambda cluster: (-cluster.likeness, cluster.members[0].sort_key))


def _says_the_same(cluster: Cluster, titles: Mapping[str, Vector]) -> bool:
    first, *others = (titles[member.path] for member in cluster.members)
    return all(first.cosine(other) >= SAME for other in others)


def _agglomerate(scores: Scores) -> Iterator[list[str]]:
    groups = {number: [path] for number, path in enumerate(sorted(set(chain.from_iterable(scores))))}
    number_of = {path: number for number, (path,) in groups.items()}
    sums: dict[int, dict[int, float]] = {number: {} for number in groups}
    for (first, other), score in scores.items():
        a, b = number_of[first], number_of[other]
        sums[a][b] = sums[b][a] = score
    heap = [(-score, a, b) for a, near in sums.items() for b, score in near.items() if a < b and score >= TOGETHER]
    heapq.heapify(heap)
    following = len(groups)
    while heap:
        _, a, b = heapq.heappop(heap)
        if a not in groups or b not in groups or len(groups[a]) + len(groups[b]) > MOST_MEMBERS:
            continue
        groups[following] = groups.pop(a) + groups.pop(b)
        near, more = sums.pop(a), sums.pop(b)
        sums[following] = {}
        for number in sorted({*near, *more}):
            if number in groups and number != following:
                both = near.get(number, 0.0) + more.get(number, 0.0)
                sums[following][number] = sums[number][following] = both
                mean = both / (len(groups[following]) * len(groups[number]))
                if mean >= TOGETHER:
                    heapq.heappush(heap, (-mean, number, following))
        following += 1
    yield from (paths for paths in groups.values() if len(paths) > 1)


def _cluster(members: Sequence[Record], scores: Scores, counts: Mapping[str, Counter[str]]) -> Cluster:
    worth: dict[str, float] = defaultdict(float)
    for pair in combinations(sorted(member.path for member in members), 2):
        for path in pair:
            worth[path] += scores.get(pair, 0.0)
    ranked = sorted(members, key=lambda member: (-len(member.votes), -worth[member.path], member.sort_key))
    pairs = len(members) * (len(members) - 1) / 2
    common = Counter(chain.from_iterable(counts[member.path] for member in members))
    every = [term for term, count in common.items() if count == len(members)]
    shared = [term for term in every if not any(other.startswith(f"{term}/") for other in every)]
    shared.sort(key=lambda term: (term[0] not in "#/", -len(term), term))
    return Cluster(tuple(ranked), sum(worth.values()) / 2 / pairs, tuple(shared[:_FEW]))


def _words(record: Record) -> list[str]:
    tags = [f"#{tag.replace(':', '_')}" for tag in record.scope.tags]
    folders = {f"/{folder.replace(':', '_')}" for glob in record.scope.paths for folder in _folders(glob)}
    return [*terms(f"{record.title}\n{record.prose}"), *tags, *tags, *sorted(folders)]


def _folders(glob: str) -> Iterator[str]:
    plain = _WILD.split(glob, maxsplit=1)[0]
    names = plain.split("/")[:-1]
    yield from ("/".join(names[:depth]) for depth in range(2, len(names) + 1))
    if plain == glob:
        yield plain


def without_derived(candidates: Iterable[Cluster], records: RecordSet) -> list[Cluster]:
    """Return the clusters that no record was derived from yet; two thirds of a cluster count as the same."""
    decided = (record for record in records if record.kind.name in (LEARNING, RULE))
    derived = [{link.to for link in record.links if link.rel == "derived_from"} for record in decided]
    earlier = [ends for ends in derived if len(ends) > 1]
    return [
        cluster for cluster in candidates
        if not any(3 * len(ends.intersection(cluster.ids)) >= 2 * len(cluster.ids) for ends in earlier)
    ]  # fmt: skip


def propose_cluster(workspace: Workspace, cluster: Cluster, author: Author) -> Record:
    """Write the rule or learning that a cluster is proposed to become, as a pending record."""
    kind = workspace.kinds[cluster.kind]
    return create_record(workspace, kind, author, {**cluster.fields(), "status": kind.initial["agent"]})


@dataclass(frozen=True, slots=True)
class Usage:
    """Sessions in which each record was shown and opened, by id, and the days and sessions of the log."""

    shown: Mapping[str, int]
    opened: Mapping[str, int]
    sessions: int
    days: float
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_enough(self) -> bool:
        """Whether the log is long enough to say that something did not happen."""
        return self.days >= SHOWN_DAYS and self.sessions >= SHOWN_SESSIONS

    @classmethod
    def from_report(cls, report: Report) -> Usage:
        """Return the usage in a report."""
        shown_sessions = {record_id: effect.shown for record_id, effect in report.records.items()}
        opened = {record_id: int(counts["opened"]) for record_id, counts in report.signals.items()}
        scores = {record_id: counts["score"] for record_id, counts in report.signals.items()}
        proven = [record_id for record_id, effect in report.records.items() if effect.avoided and effect.avoided[1] > 0]
        return cls(shown_sessions, opened, report.sessions, report.days, {**scores, **dict.fromkeys(proven, 1.0)})


def retirement_candidates(records: RecordSet, usage: Usage, now: datetime) -> dict[str, str]:
    """Return why live learnings may be retired, by id; one with votes only where it is contradicted."""
    live = [learning for learning in records.of_kind(LEARNING) if learning.phase == "live"]
    contradicting: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.phase == "live":
            for target in {link.to for link in record.links if link.rel == "contradicts"}:
                contradicting[target].append(record.id)
    reasons: dict[str, str] = {}
    for candidate in live:
        shown_count = usage.shown.get(candidate.id, 0)
        if candidate.id in contradicting:
            reasons[candidate.id] = f"contradicted by {', '.join(contradicting[candidate.id])}"
        elif candidate.votes:
            continue
        elif usage.is_enough and not shown_count and _age_days(candidate, now) >= usage.days:
            reasons[candidate.id] = f"never shown in {usage.days:.0f} days and {usage.sessions} sessions"
        elif shown_count >= UNOPENED and not usage.opened.get(candidate.id) and usage.scores[candidate.id] <= 0:
            reasons[candidate.id] = f"shown in {shown_count} sessions, opened in none, without a vote"
    return {**reasons, **{learning.id: reason for learning, reason in _opposites(live)}}


def _opposites(live: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Yield each learning that another one negates: the one with fewer votes, else the older."""
    scores = pair_scores({learning.path: Counter(terms(learning.title)) for learning in live}, SAME, MOST_PAIRS)
    by_path = {learning.path: learning for learning in live}
    words = {learning.path: Words.of(learning.title) for learning in live}
    for paths in sorted(scores):
        pair = (by_path[path] for path in paths)
        old, new = sorted(
            pair, key=lambda record: (len(record.votes), record.text("created_at") or "", record.sort_key)
        )
        apart = {*old.words("distinct_from"), *new.words("distinct_from")}
        differs = contrast(words[new.path], words[old.path])
        if differs is not None and apart.isdisjoint((old.id, new.id)):
            yield old, f"{new.id} says otherwise: {differs}"


def retirements(workspace: Workspace, records: RecordSet, reasons: Mapping[str, str]) -> list[Draft]:
    """Return a proposal for each learning to retire: a diff of its file."""
    drafts = []
    with writing(workspace):
        for any_id, reason in reasons.items():
            record = records.get(any_id)
            change, _ = prepare_edit(workspace, record, lambda data: {**data, "status": "retired"})
            digest = proposal_digest(record.path, "retire", record.title, reason.partition(" in ")[0])
            title = f"Retire {record.id}: {inert_line(record.title)}"[:200]
            diff = unified_diff(record.path, change.before or "", change.after or "")
            drafts.append(Draft(record.path, ADDITIVE, title, f"{reason}.", (digest,), (record.id,), diff, record.id))
    return drafts


def _age_days(record: Record, now: datetime) -> float:
    try:
        return (now - parse_time(record.text("created_at") or "")).total_seconds() / 86_400
    except ValueError:
        return 0.0
