"""Near duplicates of a new record, by the measure and the thresholds of the gate (6xx).

Commands ask before they write: what the gate would report as a duplicate is better voted for than
written again.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from orbit_registry.errors import OrbitError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.wording import normalised
from orbit_registry.judgements.contradicts import Contrast, contradicts
from orbit_registry.judgements.is_duplicate import (
    Likeness,
    Limits,
    Wording,
    alike_by_headline,
    is_duplicate,
    limits_of,
    repeated_texts,
    wording_of,
)
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import similar_pairs
from orbit_registry.search.text import terms
from orbit_registry.workspace.cache import Cache
from orbit_registry.workspace.workspace import Workspace

_FORM = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)"
)
_STATED = re.compile(
    r"^#{1,6}[ \t]+(?:Status|Date|Deciders|Tags)[ \t]*\r?(?:\n(?!#).*)*", re.MULTILINE
)
"""A section that states what header lines do."""


def wordings_of(
    records: Iterable[Record], kinds: str, cache: Cache, clean: Container[str] = ()
) -> dict[str, Wording]:
    """Return what records say, by path; the cache keeps it until a record changes.

    `kinds` is a hash of what kinds there are; `clean` are the paths of records without secrets.
    """
    by_path = {record.path: record for record in records}

    def make(path: str) -> list[object]:
        record = by_path[path]
        return wording_of(record, wording(record)).to_row()

    keys = {path: _key(record, kinds) for path, record in by_path.items()}
    rows = cache.values("wordings", keys, make, clean=clean)
    return {path: Wording.from_row(row) for path, row in rows.items()}


def _key(record: Record, kinds: str) -> str:
    text = "\0".join((kinds, record.kind.name, record.title, record.prose))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def wording(record: Record) -> str:
    """Return a record's headline and prose, without the headings,
    header lines and prompts that all share.
    """
    if not record.kind.in_document:
        return f"{record.title}\n{record.prose}"

    # Prompts need the Markdown parser.
    from orbit_registry.repository.documents import is_prompt, prompts_of

    prompts = prompts_of(record.kind.folder, True)
    lines = [line for line in _STATED.sub("", record.prose).split("\n") if not _FORM.match(line)]
    lines = [line for line in lines if not is_prompt(line, prompts)]
    return "\n".join((record.title, *lines))


def says_the_same(first: str, second: str, share: float) -> bool:
    """Say whether one of two sentences holds the other,
    or a share of the shorter one's words and no other negation.
    """
    plain = normalised(first)
    others = normalised(second)
    words = {*terms(plain)}, {*terms(others)}
    fewer = min(map(len, words))
    common = len(words[0] & words[1])
    if not fewer or not (
        f" {plain} " in f" {others} " or f" {others} " in f" {plain} " or common > 1
    ):
        return False

    differs = contradicts(first, second)
    return common >= share * fewer and not (differs is not None and differs.alone)


_NEW = "\0"
_COPIES = Limits(2.0, 2.0, 2.0)  # no likeness of texts reaches them


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A near duplicate; of a rejected record it may be the title alone that is the same."""

    record: Record
    likeness: Likeness
    is_settled: bool = False
    """Whether the new one says that it differs from this one, although it is a copy."""

    @property
    def score(self) -> float:
        """How alike the texts are, at most 1."""
        return self.likeness.score

    @property
    def is_exact(self) -> bool:
        """Whether they say the same, word for word."""
        return self.likeness.reason == "copy"

    @property
    def is_duplicate(self) -> bool:
        """Whether the gate would call the pair an error."""
        return self.likeness.level == "error" and not self.is_settled

    @property
    def contrast(self) -> Contrast | None:
        """Where a negation or a number tells them apart."""
        return self.likeness.contrast

    @property
    def words(self) -> str:
        """How alike they are, and where a negation or a number tells them apart."""
        if self.is_settled:
            return f"{self.likeness.words}, although `distinct_from` says that they differ"

        return self.likeness.words

    @property
    def rejection(self) -> str:
        """When, by whom and why a review rejected it; empty if none did."""
        if not self.record.is_rejected:
            return ""

        approval = self.record.approval
        rejected = "rejected"
        if approval.get("rejected_at"):
            rejected += f" on {approval['rejected_at'][:10]}"
        if "rejected_by" in approval:
            rejected += f" by {approval['rejected_by']}"
        if "reason" in approval:
            rejected += f": {' '.join(approval['reason'].split())}"

        return rejected


def near_duplicates(
    workspace: Workspace, records: Sequence[Record], new: Record
) -> list[Neighbour]:
    """Return the open or rejected records of the new one's kind that are like it,
    the most alike first.
    """
    return near_duplicates_of_all(workspace, records, [new])[0]


def near_duplicates_of_all(
    workspace: Workspace, records: Sequence[Record], news: Sequence[Record]
) -> list[list[Neighbour]]:
    """Return `near_duplicates` of each of some new records of one kind;
    they are not compared with each other.
    """
    if not news:
        return []

    compared = [record for record in records if _is_compared(record, news[0])]
    by_path = {record.path: record for record in compared}
    wordings = wordings_of(compared, workspace.kinds.fingerprint, workspace.cache)
    new_wordings = [wording_of(new, wording(new)) for new in news]
    numbers = {f"{_NEW}{number}": number for number in range(len(news))}
    together = {**wordings, **dict(zip(numbers, new_wordings, strict=True))}
    scores = _scores(workspace, together, numbers)

    configured = workspace.config.duplicates
    limits = limits_of(configured, len(compared) + 1)
    of_rejected = Limits(configured["warning"], configured["error"], configured["meaning"])
    neighbours = []
    by_words = chain(alike_by_headline(together), repeated_texts(together, numbers))
    titled = _of_each(dict.fromkeys(by_words, 0.0), numbers)
    threshold = configured["meaning"]
    by_meaning = headline_meanings(workspace, news[0].kind, together, threshold, numbers.keys())
    meant = _of_each(by_meaning, numbers)
    every = zip(news, new_wordings, scores, titled, meant, strict=True)
    for new, words, of_new, same, meanings in every:
        near = []
        apart = _apart(new)
        for path in {**of_new, **same, **meanings}:
            record = by_path[path]
            judged = of_rejected if record.is_rejected else limits
            score, meaning = of_new.get(path, 0.0), meanings.get(path, 0.0)
            likeness = is_duplicate(words, wordings[path], score, judged, meaning)
            is_turned_down = likeness.reason == "copy" and record.is_rejected
            is_settled = _is_named(record, apart) and not is_turned_down
            if not likeness.level or record.uid == new.uid:
                continue

            # That two texts differ is no answer to a copy of one.
            is_odd = likeness.reason == "copy" and _is_named(record, {*new.words("distinct_from")})
            if is_odd or not is_settled:
                near.append(Neighbour(record, likeness, is_settled))

        near.sort(key=lambda each: (not each.is_duplicate, -each.score, each.record.sort_key))
        neighbours.append(near)

    return neighbours


def _of_each(
    pairs: Mapping[tuple[str, str], float], numbers: Mapping[str, int]
) -> list[dict[str, float]]:
    """Return for each new record the paths of the others that it makes a pair with, each with the
    value of the pair. Two new ones are no pair.
    """
    near: list[dict[str, float]] = [{} for _ in numbers]
    for pair, value in pairs.items():
        for new, other in (pair, pair[::-1]):
            if new in numbers and other not in numbers:
                near[numbers[new]][other] = value

    return near


def headline_meanings(
    workspace: Workspace,
    kind: Kind,
    wordings: Mapping[str, Wording],
    threshold: float,
    only: Set[str] | None = None,
) -> dict[tuple[str, str], float]:
    """Return how near headlines of a kind are in meaning, by the pair, from a threshold up.

    It is empty without a model, and where the model is not to be had.
    """
    from orbit_registry.search import vectors  # most projects have no model

    load = vectors.configured(workspace)
    if load is None:
        return {}

    headlines = {
        key: without_secrets(wording.headline)
        for key, wording in wordings.items()
        if wording.headline
    }
    try:
        meanings = vectors.Meanings(workspace, load(), headlines, f"vectors {kind.name}")
        return meanings.pairs(threshold, only)
    except OrbitError:
        return {}


def refusing_copies(
    workspace: Workspace,
    kind: Kind,
    existing: Iterable[Record],
    refuse: Callable[[list[Neighbour]], None],
) -> Callable[[Record], None]:
    """Return a hook that lets `refuse` see the copies that another process wrote since `existing`
    was read.
    """
    from orbit_registry.repository.writer import records_added  # loads the editor of YAML

    paths = {record.path for record in existing}
    return lambda new: refuse(copies_of(records_added(workspace, kind, paths), new))


def copies_of(records: Iterable[Record], new: Record) -> list[Neighbour]:
    """Return those of some records, with their prose,
    that say the same as a new one but for form.
    """
    words = wording_of(new, wording(new))
    apart = _apart(new)
    copies = []
    for record in records:
        if not _is_compared(record, new):
            continue

        likeness = is_duplicate(words, wording_of(record, wording(record)), 0.0, _COPIES)
        is_settled = _is_named(record, apart) and not record.is_rejected
        if likeness.level == "error" and not is_settled:
            copies.append(Neighbour(record, likeness))

    return copies


def _is_compared(record: Record, new: Record) -> bool:
    waits_or_holds = record.phase != "closed" or record.is_rejected
    return waits_or_holds and record.kind.name == new.kind.name and record.uid != new.uid


def _is_named(record: Record, apart: set[str]) -> bool:
    return not apart.isdisjoint((record.id, *record.legacy_ids))


def _apart(new: Record) -> set[str]:
    return {*new.words("distinct_from"), *new.supersedes}


def _scores(
    workspace: Workspace, together: Mapping[str, Wording], numbers: Mapping[str, int]
) -> list[dict[str, float]]:
    """Return how alike the texts are to each new one, by key, as the gate will find it:
    as if it stood among them.
    """
    texts = {key: wording.text for key, wording in together.items()}
    threshold = workspace.config.duplicates["warning"]
    pairs = similar_pairs(texts, threshold, numbers, workspace.cache)
    scores = _of_each({(pair.a, pair.b): pair.score for pair in pairs}, numbers)

    for new, number in numbers.items():
        if not terms(texts[new]):  # common words alone have no weights, and may be the same
            plain = normalised(texts[new])
            same = [key for key in texts if normalised(texts[key]) == plain]
            scores[number] = {key: 1.0 for key in same if key not in numbers}

    return scores
