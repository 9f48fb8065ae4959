"""Near duplicates of a new record, by the measure and the thresholds of the gate (6xx).

Commands ask before they write: what the gate would report as a duplicate is better voted for than
written again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import Contrast, Words, contrast, normalised, similar_pairs
from orbit_registry.search.text import terms
from orbit_registry.workspace.workspace import Workspace

_FORM = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)"
)
_STATED = re.compile(
    r"^#{1,6}[ \t]+(?:Status|Date|Deciders|Tags)[ \t]*\r?(?:\n(?!#).*)*", re.MULTILINE
)
"""A section that states what header lines do."""


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

    differs = contrast(Words.of(first), Words.of(second))
    return common >= share * fewer and not (differs is not None and differs.alone)


FEWEST_TO_ERR = 20  # among fewer records a word's weight says little, so only copies are errors
COPY = 0.95  # texts this much alike are copies, however few records there are
_NEW = "\0"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A near duplicate; `score` is at most 1, and 0 for a rejected record that has only the title
    in common.
    """

    record: Record
    score: float
    is_exact: bool
    contrast: Contrast | None
    is_duplicate: bool
    """Whether the gate would call the pair an error,
    or a review rejected that record under its title or nearly in its words.
    """

    @property
    def words(self) -> str:
        """How alike they are, and where a negation or a number tells them apart."""
        alike = "the same title"
        if self.is_exact:
            alike = "the same, word for word"
        elif self.score:
            alike = f"{self.score:.0%} alike"

        if self.contrast is not None:
            alike += self.contrast.sentence_end
        return alike

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
    texts = {record.path: wording(record) for record in compared}
    by_path = {record.path: record for record in compared}
    wordings = [wording(new) for new in news]
    words_of = cache(lambda path: Words.of(texts[path]))

    configured = workspace.config.duplicates["error"]
    upper = error_threshold(configured, is_enough=len(compared) + 1 >= FEWEST_TO_ERR)
    neighbours = []
    for new, words, scores in zip(news, wordings, _scores(workspace, texts, wordings), strict=True):
        near = []
        letters = normalised(words)
        cut = Words.of(words)
        apart = _apart(new)
        titled = _of_rejected_titles(compared, new)
        for path, score in {**titled, **scores}.items():
            record = by_path[path]
            is_exact = normalised(texts[path]) == letters
            if record.uid == new.uid or (
                _is_named(record, apart) and not (is_exact and record.is_rejected)
            ):
                continue

            differs = None if is_exact else contrast(cut, words_of(path))
            limit = configured if record.is_rejected else upper
            is_refused = score >= limit and not is_apart(differs)
            is_duplicate = is_exact or is_refused or path in titled
            near.append(Neighbour(record, score, is_exact, differs, is_duplicate))

        near.sort(key=lambda each: (not each.is_exact, -each.score, each.record.sort_key))
        neighbours.append(near)

    return neighbours


def _of_rejected_titles(records: Iterable[Record], new: Record) -> dict[str, float]:
    title = normalised(new.title)
    return {
        record.path: 0.0
        for record in records
        if record.is_rejected and normalised(record.title) == title
    }


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
    letters = normalised(wording(new))
    apart = _apart(new)
    return [
        Neighbour(record, 1.0, is_exact=True, contrast=None, is_duplicate=True)
        for record in records
        if _is_compared(record, new)
        and normalised(wording(record)) == letters
        and (record.is_rejected or not _is_named(record, apart))
    ]


def _is_compared(record: Record, new: Record) -> bool:
    waits_or_holds = record.phase != "closed" or record.is_rejected
    return waits_or_holds and record.kind.name == new.kind.name and record.uid != new.uid


def _is_named(record: Record, apart: set[str]) -> bool:
    return not apart.isdisjoint((record.id, *record.legacy_ids))


def _apart(new: Record) -> set[str]:
    return {*new.words("distinct_from"), *new.supersedes}


def error_threshold(configured: float, *, is_enough: bool) -> float:
    """Return from where on likeness is an error:
    as configured among enough records, else for copies alone.
    """
    return configured if is_enough else max(configured, COPY)


def is_apart(differs: Contrast | None) -> bool:
    """Say whether a negation or a number is all that tells two texts apart:
    however alike, they say two things.
    """
    return differs is not None and differs.alone


def _scores(
    workspace: Workspace, texts: dict[str, str], wordings: Sequence[str]
) -> list[dict[str, float]]:
    """Return how alike the texts are to each new one, by key, as the gate will find it:
    as if it stood among them.
    """
    numbers = {f"{_NEW}{number}": number for number in range(len(wordings))}
    compared = texts | dict(zip(numbers, wordings, strict=True))
    scores: list[dict[str, float]] = [{} for _ in wordings]
    threshold = workspace.config.duplicates["warning"]
    for pair in similar_pairs(compared, threshold, numbers, workspace.cache):
        for new, other in ((pair.a, pair.b), (pair.b, pair.a)):
            if new in numbers and other in texts:
                scores[numbers[new]][other] = pair.score

    for number, words in enumerate(wordings):
        if not terms(words):  # common words alone have no weights, and may be the same all the same
            plain = normalised(words)
            same = [key for key, text in texts.items() if normalised(text) == plain]
            scores[number] = dict.fromkeys(same, 1.0)

    return scores
