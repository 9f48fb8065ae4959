"""Which decisions that hold a new one touches: those on the same question, at most five.

The new decision and the others go in, each with its text; the touched ones come out, the nearest
first, with what says so. What to do about one is in `commands_for`.
"""

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from orbit_registry.errors import listed
from orbit_registry.formats.globs import literal_start
from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.judgements.same_decision import COMMON
from orbit_registry.model.ids import OVERRIDES, RELATED
from orbit_registry.model.record import Record
from orbit_registry.search.rejected import names_in_sentence, taken_by
from orbit_registry.search.similarity import Counts, TermWeights, Vector
from orbit_registry.search.text import stem, words

MOST = 5
"""Decisions of one list: more is a list that people learn to skip."""

ALIKE, APART = 0.12, 2.5
"""How alike two texts are that are about one question, and by how many standard deviations more so
than the others, where there are `FEW`.
"""
ALIKE_LONGER, APART_LONGER, PLAIN_LENGTH = 0.05, 0.5, 100
"""What both gain for each doubling of a text beyond that many terms: long texts share more words
by chance.
"""
FEW = 10
SURE = 2.0
"""So many times the likeness that is asked for is enough where many decisions are on one question.
"""
HALF = 0.5
"""Part of the likeness that is enough where the scopes meet too."""

TITLE_WEIGHT = 2  # what a word of the title counts more than one of the text
_ONE_TERM = 2  # a likeness counts at most so many times what is left of it without its best term
_JOINING = ("although", "because", "however", "since", "therefore", "whereas", "while")
_COMMON = frozenset(map(stem, (*COMMON, *_JOINING, "cost")))  # each decision states a cost
_BY_OPTION, _BY_USES, _BY_PATHS = 0.5, 0.2, 0.1  # what each adds to the likeness in the order
_NARROW = 3  # most decisions with a package that leads to them whatever their texts say
_SHORTEST = 3  # letters of a word that a reason names
_SHOWN = 3  # words and globs that a reason names
_LONGEST = 80
_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Text:
    """What a decision says, without the form that all share, and how often each term is in it."""

    plain: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Touch:
    """A decision on the same question; `reasons` are what they have in common, as phrases."""

    record: Record
    score: float
    reasons: tuple[str, ...]

    def as_data(self, new: Record, *, is_written: bool = True) -> dict[str, object]:
        """Return it as JSON shows it, with no command for a decision that is not written."""
        steps = commands_for(new, self.record) if is_written else []
        commands = [step.as_data() for step in steps]
        return {
            "id": self.record.id,
            "title": self.record.title,
            "record": self.record.path,
            "score": round(self.score, 4),
            "reasons": list(self.reasons),
            "commands": commands,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """What a person may do about a touched decision: `what` it means, and the command."""

    name: str
    what: str
    command: str

    def as_data(self) -> dict[str, str]:
        """Return it as JSON shows it."""
        return {"name": self.name, "what": self.what, "command": self.command}


def touches(
    new: Record, records: Iterable[Record], texts: Mapping[str, Text], own: Text
) -> list[Touch]:
    """Return the decisions that a new one touches and that neither is linked with the other yet.

    `texts` are by the paths of the records, `own` is the new one's.
    """
    others = [record for record in records if _is_compared(record, new)]
    around = _Surroundings.of(new, own, others, texts)

    touched: list[Touch] = []
    for record in others:
        touch = None if _is_settled(record, new) else _touch(record, around)
        if touch is not None:
            touched.append(touch)

    touched.sort(key=lambda touch: (-touch.score, touch.record.sort_key))
    return touched[:MOST]


def commands_for(new: Record, touched: Record) -> list[Step]:
    """Return what can be done about a decision that a new one touches; each command can be run.

    The new one has to be accepted before it replaces another. An inherited decision is overridden.
    """
    new_id, old_id = shlex.quote(new.id), shlex.quote(touched.id)
    replace = f"orbit {new.kind.name} supersede {old_id} --with {new_id}"
    if touched.origin:
        replace = f"orbit link {new_id} {OVERRIDES} {old_id} --reason TEXT"
    elif new.phase == "pending":
        replace = f"orbit accept {new_id} && {replace}"

    return [
        Step("supersede", "it takes its place", replace),
        Step("amend", "it changes a part of it", f"orbit link {new_id} amends {old_id}"),
        Step("relate", "both hold", f"orbit link {new_id} {RELATED} {old_id}"),
        Step(
            "distinct",
            "they are about different questions",
            f"orbit {new.kind.name} update {new_id} --distinct-from {old_id}",
        ),
    ]


def counted(plain: str, title: str, counts: Counts) -> Text:
    """Return a text whose title weighs more; numbers and `use` say nothing about a question."""
    weighed = Counter(
        {
            term: count
            for term, count in counts.items()
            if not term.isdigit() and term not in _COMMON
        }
    )
    for word in words(title):
        term = stem(word)
        if term in weighed:
            weighed[term] += TITLE_WEIGHT

    return Text(plain, weighed)


def _is_compared(record: Record, new: Record) -> bool:
    """Say whether a record is another decision that counts: its document may name no status."""
    is_other = record.uid != new.uid and record.path != new.path
    counts = record.phase != "closed" and record.status.pushed
    return is_other and record.kind.name == new.kind.name and counts


def _is_settled(record: Record, new: Record) -> bool:
    """Say whether one of the two already says how it relates to the other."""
    return _names(new, record) or _names(record, new)


def _names(record: Record, other: Record) -> bool:
    names = {*record.supersedes, *record.superseded_by, *record.words("distinct_from")}
    names.update(link.to for link in record.links)
    return not names.isdisjoint((other.id, *other.legacy_ids))


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How alike two texts are, and the terms that make it, the strongest first."""

    score: float = 0.0
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The new decision among the others: what each is compared with."""

    new: Record
    own: Text
    taken: tuple[str, ...]  # what the new decision takes, as words
    likenesses: Mapping[str, _Likeness]
    limit: float
    frequencies: Mapping[str, int]  # how many of the others have a term
    uses: Mapping[str, int]  # how many of the others use a package

    @classmethod
    def of(
        cls, new: Record, own: Text, others: Sequence[Record], texts: Mapping[str, Text]
    ) -> "_Surroundings":
        """Compare the texts, and count the terms and the packages."""
        likenesses = _likenesses(own, others, texts)
        frequencies = Counter[str]()
        uses = Counter[str]()
        for record in others:
            frequencies.update(texts[record.path].counts.keys())
            uses.update(set(record.uses))

        limit = _limit(own, likenesses.values())
        return cls(new, own, taken_by(new), likenesses, limit, frequencies, uses)


def _touch(record: Record, around: _Surroundings) -> Touch | None:
    new, likeness = around.new, around.likenesses[record.path]
    options = list(_options(record, around))
    uses = [name for name in dict.fromkeys(new.uses) if name in record.uses]
    paths = _common_paths(new.globs, record.globs)

    is_rare = any(around.uses[name] <= _NARROW for name in uses)
    is_alike = likeness.score >= around.limit
    if uses or paths:
        is_alike = likeness.score >= around.limit * HALF
    if not (options or is_rare or is_alike):
        return None

    reasons = [*options]
    if is_alike:
        reasons += _shared_words(around.own, likeness.terms)
    if uses:
        reasons.append(f"both use {listed(uses, _SHOWN)}")
    if paths:
        reasons.append(f"both apply to {listed(paths, _SHOWN)}")

    score = likeness.score + _BY_OPTION * bool(options)
    score += _BY_USES * bool(uses) + _BY_PATHS * bool(paths)
    # Likeness that no word can name is a chance of numbers.
    if reasons:
        return Touch(record, score, tuple(reasons))

    return None


def _likenesses(
    own: Text, others: Sequence[Record], texts: Mapping[str, Text]
) -> dict[str, _Likeness]:
    weights = TermWeights.of([texts[record.path].counts for record in others])
    vector = weights.vector(own.counts)
    likenesses = {}
    for record in others:
        other = weights.vector(texts[record.path].counts)
        likenesses[record.path] = _likeness(vector, other)

    return likenesses


def _likeness(first: Vector, second: Vector) -> _Likeness:
    """Return the cosine of two texts, less where a single term makes most of it."""
    length = math.sqrt(first.norm * second.norm)
    parts = {
        term: first.weights[term] * second.weights[term] / length
        for term in first.weights.keys() & second.weights.keys()
    }
    if not parts:
        return _Likeness()

    total = math.fsum(parts.values())
    terms = sorted(parts, key=lambda term: (-parts[term], term))
    score = min(total, _ONE_TERM * (total - parts[terms[0]]))
    return _Likeness(score, tuple(terms))


def _limit(own: Text, likenesses: Iterable[_Likeness]) -> float:
    """Return how alike a decision has to be: alike enough, and more so than the others."""
    longer = math.log2(max(len(own.counts) / PLAIN_LENGTH, 1))
    limit = ALIKE + ALIKE_LONGER * longer
    scores = [likeness.score for likeness in likenesses]
    if len(scores) < FEW:
        return limit

    apart = fmean(scores) + (APART + APART_LONGER * longer) * pstdev(scores)
    return min(max(limit, apart), SURE * limit)


def _options(record: Record, around: _Surroundings) -> Iterator[str]:
    """Yield what one of the two takes that the other one rejected."""
    new, number = around.new, len(around.likenesses)

    def count_of(word: str) -> int:
        return around.frequencies.get(stem(word.lower()), 0)

    for option in names_in_sentence(record.rejected, around.taken, count_of, number):
        yield f"it rejected {_named(option.option)}, which this one takes"

    taken = taken_by(record) if new.rejected else ()
    for option in names_in_sentence(new.rejected, taken, count_of, number):
        yield f"it takes {_named(option.option)}, which this one rejects"


def _named(option: str) -> str:
    return f"“{cut(inert_line(option), _LONGEST)}”"


def _shared_words(own: Text, terms: Sequence[str]) -> list[str]:
    """Return a phrase with the strongest terms that both texts have, as the new one writes them."""
    forms: dict[str, str] = {}
    for name in _NAME.findall(own.plain):
        parts = words(name)
        for word in parts:
            if len(word) >= _SHORTEST:
                forms.setdefault(stem(word), word if len(parts) == 1 else name)

    shown = list(dict.fromkeys(forms[term] for term in terms if term in forms))[:_SHOWN]
    if shown:
        return [f"both are about {listed(shown, _SHOWN)}"]

    return []


def _common_paths(globs: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the narrower glob of each pair of which one lies in the other."""
    common: dict[str, None] = {}
    for glob in globs:
        for other in others:
            if narrower := _narrower(glob, other):
                common[narrower] = None

    return list(common)


def _narrower(glob: str, other: str) -> str:
    if glob == other:
        if not glob.startswith("!"):
            return glob

        return ""

    folder, of_other = literal_start(glob), literal_start(other)
    if of_other and f"{folder}/".startswith(f"{of_other}/") and _is_whole(other):
        return glob
    if folder and f"{of_other}/".startswith(f"{folder}/") and _is_whole(glob):
        return other

    return ""


def _is_whole(glob: str) -> bool:
    """Say whether a glob takes all that is below its folder."""
    return glob.endswith(("/**", "/**/*", "/"))
