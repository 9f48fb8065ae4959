"""Consolidation: learnings that say the same become one, a theme a rule;
unused ones are offered for retirement.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, combinations, product

from orbit_loop.history import History
from orbit_loop.proposals import ADDITIVE, Draft, proposal_digest, record_note
from orbit_registry.errors import RefusedError, plural
from orbit_registry.formats.diff import unified_diff
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.judgements.contradicts import Contrast, contradicts
from orbit_registry.model.freshness import created_at
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import create_record, prepare_edit, writing
from orbit_registry.search.similarity import Scores, TermWeights, Vector, pair_scores
from orbit_registry.search.text import terms
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

LEARNING, RULE = "learning", "rule"
TOGETHER, FLOOR = 0.22, 0.11
"""Mean similarity of one theme, and what counts as 0.

On the 50 learnings of a project it made seven clusters: five of one matter, two of one folder only.
From 0.20 on came three more, one of them of one matter.
"""
SAME = 0.55  # similarity of summaries that say the same
MOST_MEMBERS, MOST_PAIRS = 8, 500_000
SHOWN_DAYS, SHOWN_SESSIONS = (
    30,
    20,
)  # days and sessions that the log needs before `never shown` means anything
UNOPENED = 10  # sessions that were shown a learning without opening it
_FEW = 8
_WILD = re.compile(r"[*?\[{!]")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Learnings that belong together: their mean similarity, and the words,
    tags and folders that they share.
    """

    members: tuple[Record, ...]
    likeness: float
    shared: tuple[str, ...]
    kind: str = RULE  # kind to propose: a learning where the members say the same

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the members."""
        return tuple(member.id for member in self.members)

    def fields(self) -> dict[str, object]:
        """Return the fields of the proposed rule or learning;
        its headline is the first member's.
        """
        first = inert_line(self.members[0].title)
        reasons = "\n".join(f"- {member.id}: {inert_line(member.title)}" for member in self.members)
        paths = list(
            dict.fromkeys(chain.from_iterable(member.scope.paths for member in self.members))
        )
        counts = Counter(chain.from_iterable({*member.scope.tags} for member in self.members))
        tags = sorted(tag for tag, count in counts.items() if count > 1)
        scope = {name: words for name, words in (("paths", paths), ("tags", tags)) if words}

        links = [{"rel": "derived_from", "to": member.id} for member in self.members]
        fields: dict[str, object] = {"scope": scope, "links": links, "labels": ["consolidated"]}
        if self.kind == LEARNING:
            prose = f"These say nearly the same.\n\n{reasons}"
            return {"summary": first, "body": prose, **fields, "distinct_from": list(self.ids)}

        return {
            "title": first,
            "rationale": f"These have in common: {', '.join(self.shared)}.\n\n{reasons}",
            **fields,
        }

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "kind": self.kind,
            "members": [{"id": member.id, "title": member.title} for member in self.members],
            "likeness": round(self.likeness, 3),
            "shared": list(self.shared),
        }


def clusters(records: Iterable[Record]) -> list[Cluster]:
    """Return the themes of learnings, the closest first,
    of at most eight members (average linkage).
    """
    by_path = {
        record.path: record for record in records if without_secrets(record.title) == record.title
    }
    counts = {path: Counter(_words(record)) for path, record in by_path.items()}
    scores = pair_scores(counts, FLOOR, MOST_PAIRS)
    vectors = _title_vectors(by_path)
    apart = {
        (path, other)
        for path, other in scores
        if _contrast(by_path[path], by_path[other], vectors) is not None
    }
    groups: list[Cluster] = []
    for paths in _agglomerate(scores, apart):
        cluster = _cluster([by_path[path] for path in paths], scores, counts)
        is_same = _says_the_same(cluster, vectors)
        groups.append(replace(cluster, kind=LEARNING) if is_same else cluster)

    return sorted(groups, key=lambda cluster: (-cluster.likeness, cluster.members[0].sort_key))


def _title_vectors(by_path: Mapping[str, Record]) -> dict[str, Vector]:
    titles = {path: Counter(terms(record.title)) for path, record in by_path.items()}
    weights = TermWeights.of(titles.values())
    return {path: weights.vector(title) for path, title in titles.items()}


def _contrast(first: Record, other: Record, titles: Mapping[str, Vector]) -> Contrast | None:
    """Return where two learnings whose summaries are alike contradict each other."""
    differs = contradicts(first.title, other.title)
    if differs is None or differs.alone:
        return differs

    if titles[first.path].cosine(titles[other.path]) >= SAME:
        return differs

    return None


def contradictions(records: Iterable[Record]) -> list[Draft]:
    """Return a note for each pair of learnings that say the opposite; links may say so already."""
    by_path = {
        record.path: record for record in records if without_secrets(record.title) == record.title
    }
    counts = {path: Counter(terms(record.title)) for path, record in by_path.items()}
    drafts = []
    for pair in sorted(pair_scores(counts, FLOOR, MOST_PAIRS)):
        first, later = sorted((by_path[path] for path in pair), key=lambda each: each.sort_key)
        differs = contradicts(first.title, later.title)
        if differs is None or not differs.alone or _is_settled(first, later):
            continue

        title = f"{first.id} says the opposite"
        reason = f"{first.id} says: {first.title}; {differs}."
        drafts.append(record_note(later, first.id, title, reason))

    return drafts


def _is_settled(first: Record, other: Record) -> bool:
    """Say whether one of two learnings has a link to the other, or says that they differ."""
    for record, peer in ((first, other), (other, first)):
        names = {link.to for link in record.links}
        if peer.id in names.union(record.words("distinct_from")):
            return True

    return False


def _says_the_same(cluster: Cluster, titles: Mapping[str, Vector]) -> bool:
    first, *others = (titles[member.path] for member in cluster.members)
    return all(first.cosine(other) >= SAME for other in others)


def _agglomerate(scores: Scores, apart: Set[tuple[str, str]]) -> Iterator[list[str]]:
    """Join the groups of each pair, the most alike first,
    where their members are alike on average and none are `apart`.
    """
    groups = {path: [path] for path in sorted(chain.from_iterable(scores))}
    for (first, other), score in sorted(scores.items(), key=lambda entry: (-entry[1], entry[0])):
        group, more = groups[first], groups[other]
        if score < TOGETHER or group is more or len(group) + len(more) > MOST_MEMBERS:
            continue
        pairs = [(min(pair), max(pair)) for pair in product(group, more)]
        if not apart.isdisjoint(pairs):
            continue

        between = [scores.get(pair, 0.0) for pair in pairs]
        if sum(between) >= TOGETHER * len(between):
            group += more
            groups |= dict.fromkeys(more, group)

    yield from (group for path, group in groups.items() if len(group) > 1 and path == group[0])


def _cluster(
    members: Sequence[Record], scores: Scores, counts: Mapping[str, Counter[str]]
) -> Cluster:
    worth: dict[str, float] = defaultdict(float)
    for pair in combinations(sorted(member.path for member in members), 2):
        for path in pair:
            worth[path] += scores.get(pair, 0.0)

    ranked = sorted(
        members, key=lambda member: (-len(member.votes), -worth[member.path], member.sort_key)
    )
    pairs = len(members) * (len(members) - 1) / 2
    common = Counter(chain.from_iterable(counts[member.path] for member in members))
    every = [term for term, count in common.items() if count == len(members)]
    above = set(chain.from_iterable(map(_parents, every)))
    shared = [term for term in every if term not in above]
    shared.sort(key=lambda term: (term[0] not in "#/", -len(term), term))

    return Cluster(tuple(ranked), sum(worth.values()) / 2 / pairs, tuple(shared[:_FEW]))


def _parents(term: str) -> Iterator[str]:
    """Yield the folders above the one that a term names."""
    parts = term.split("/")
    yield from ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _words(record: Record) -> list[str]:
    tags = [f"#{tag.replace(':', '_')}" for tag in record.scope.tags]
    names = chain.from_iterable(map(_folders, record.scope.paths))
    folders = {f"/{folder.replace(':', '_')}" for folder in names}
    return [*terms(f"{record.title}\n{record.prose}"), *tags, *tags, *sorted(folders)]


def _folders(glob: str) -> Iterator[str]:
    plain = _WILD.split(glob, maxsplit=1)[0]
    names = plain.split("/")[:-1]
    yield from ("/".join(names[:depth]) for depth in range(2, len(names) + 1))
    if plain == glob:
        yield plain


def without_derived(candidates: Iterable[Cluster], records: RecordSet) -> list[Cluster]:
    """Return the clusters that no record was derived from yet;
    two thirds of a cluster count as the same.
    """
    decided = (record for record in records if record.kind.name in (LEARNING, RULE))
    derived = [record.linked("derived_from") for record in decided]
    earlier = [sources for sources in derived if len(sources) > 1]
    return [cluster for cluster in candidates if not _is_decided(cluster, earlier)]


def _is_decided(cluster: Cluster, earlier: Iterable[Set[str]]) -> bool:
    ids = set(cluster.ids)
    return any(3 * len(ends & ids) >= 2 * len(ids) for ends in earlier)


def propose_cluster(workspace: Workspace, cluster: Cluster, author: Author) -> Record:
    """Write the rule or learning that a cluster is proposed to become, as a pending record."""
    kind = workspace.kinds[cluster.kind]

    def admit(_: Record) -> None:
        if not without_derived([cluster], read_collection(workspace).records):
            message = f"another process has just proposed what {' and '.join(cluster.ids)} come to"
            raise RefusedError(message, hint="run the command again")

    return create_record(
        workspace, kind, author, {**cluster.fields(), "status": kind.initial["agent"]}, admit
    )


def is_long_enough(history: History) -> bool:
    """Say whether the event log is long enough to say that something did not happen."""
    return history.days >= SHOWN_DAYS and history.sessions >= SHOWN_SESSIONS


def retirement_candidates(records: RecordSet, history: History, now: datetime) -> dict[str, str]:
    """Return why live learnings may be retired, by id; one with votes only where it is
    contradicted.
    """
    contradicting: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.phase == "live":
            for target in record.linked("contradicts"):
                contradicting[target].append(record.id)

    reasons: dict[str, str] = {}
    for candidate in records.of_kind(LEARNING):
        against = contradicting.get(candidate.id)
        if candidate.phase != "live":
            continue
        if against:
            reasons[candidate.id] = f"contradicted by {', '.join(against)}"
            continue

        reason = _unused(candidate, history, now)
        if reason and not candidate.votes:
            reasons[candidate.id] = reason

    return reasons


def _unused(learning: Record, history: History, now: datetime) -> str:
    """Return why a learning seems unused; empty if it may be of use.

    One whose error came before it was shown, and not after that, has helped.
    """
    shown = history.shown[learning.id]
    has_helped = history.failed_before[learning.id] and not history.failed_after[learning.id]
    if shown >= UNOPENED and not history.opened[learning.id] and not has_helped:
        return f"shown in {plural(shown, 'session')}, opened in none, without a vote"

    is_old = now - created_at(learning) >= timedelta(history.days)
    if not shown and is_old and is_long_enough(history):
        sessions = plural(history.sessions, "session")
        return f"never shown in {history.days:.0f} days and {sessions}"

    return ""


def retirements(
    workspace: Workspace, records: RecordSet, reasons: Mapping[str, str]
) -> list[Draft]:
    """Return a proposal for each learning to retire: a diff of its file."""
    drafts = []
    with writing(workspace):
        for any_id, reason in reasons.items():
            record = records.get(any_id)
            change, _ = prepare_edit(workspace, record, lambda data: {**data, "status": "retired"})
            digest = proposal_digest(
                record.path, "retire", record.title, reason.partition(" in ")[0]
            )
            title = f"Retire {record.id}: {inert_line(record.title)}"[:200]
            diff = unified_diff(record.path, change.before or "", change.after or "")
            drafts.append(
                Draft(
                    record.path,
                    ADDITIVE,
                    title,
                    f"{reason}.",
                    (digest,),
                    (record.id,),
                    diff,
                    record.id,
                )
            )

    return drafts
