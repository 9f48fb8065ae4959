"""Proposals: changes of skills and records, from learnings, retros and the event log.

An addition is a diff (additive drift), which `apply` writes once approved; a contradiction is a
note (structural drift), which a person works in. The same is never proposed twice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orbit_loop import ladder
from orbit_loop.retro.form import Retro
from orbit_loop.retro.keep import ALIKE as NEARLY_SAME
from orbit_loop.retro.keep import recorded_retros
from orbit_registry.errors import RefusedError, plural
from orbit_registry.formats.citations import find_citations
from orbit_registry.formats.diff import unified_diff
from orbit_registry.formats.globs import literal_start
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.formats.wording import normalised
from orbit_registry.hook.events import PROPOSED
from orbit_registry.judgements.contradicts import Contrast, contradicts
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.skills import Skill, statements, with_items
from orbit_registry.repository.writer import create_record, prepare_edit, writing
from orbit_registry.search.similarity import TermWeights
from orbit_registry.search.text import terms
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.workspace import Workspace

KIND, LEARNING = "proposal", "learning"
ADDITIVE, STRUCTURAL = "additive", "structural"
ALIKE, COVERED = 0.55, 0.8
"""Similarity from which a statement says what a learning says or negates,
and share of its words that covers it.
"""
RELATED, NEAR = 0.5, 0.2
"""Share of a learning's words on a page that relates them,
and the share where the page names a path too.
"""
MOST_LEARNINGS = 10  # learnings of one proposal: a longer diff is approved unread
LONGEST_TITLE = 200
_ABOUT_A_PAGE = re.compile(r"\b(?:skills?|SKILL\.md|page)\b", re.I)
"""Recommendation about a page, which is no item for it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposal before it is written: its file, the record of that file if any,
    and digests of its content.
    """

    path: str
    drift: str
    title: str
    reason: str
    digests: tuple[str, ...]
    sources: tuple[str, ...]  # ids of the records that it is derived from
    diff: str = ""
    record: str = ""

    def fields(self) -> dict[str, object]:
        """Return the fields of the proposal's record."""
        target = {"path": self.path}
        if self.record:
            target["record"] = self.record

        links = [{"rel": "derived_from", "to": source} for source in self.sources]
        return {
            "title": self.title,
            "target": target,
            "drift": self.drift,
            "reason": self.reason,
            "diff": self.diff,
            "says": list(self.digests),
            "links": links,
        }


@dataclass(frozen=True, slots=True)
class Proposed:
    """Draft and the record it became; None where nothing was written."""

    draft: Draft
    record: Record | None

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return {"id": self.record.id if self.record is not None else None, **self.draft.fields()}


@dataclass(frozen=True, slots=True)
class ProposalHistory:
    """Earlier proposals: digests of their content, and those still open."""

    digests: frozenset[str]
    open: Mapping[tuple[str, str], str]  # id of the pending or approved proposal, by path and drift

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> ProposalHistory:
        """Return the history of the proposals among some records."""
        proposals = [record for record in records if record.kind.name == KIND]
        open_ones = (proposal for proposal in proposals if proposal.phase != "closed")
        waiting = {
            (path_of(proposal), str(proposal.data["drift"])): proposal.id for proposal in open_ones
        }

        return cls(
            frozenset(chain.from_iterable(record.words("says") for record in proposals)), waiting
        )


def path_of(proposal: Record) -> str:
    """Return the file that a proposal would change."""
    target = proposal.data["target"]
    if isinstance(target, Mapping):
        return str(target.get("path", ""))

    return ""


def proposal_digest(*parts: str) -> str:
    """Return a digest of proposed content, regardless of case, punctuation and spaces."""
    content = "\0".join((parts[0], *map(normalised, parts[1:])))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def skill_drafts(
    records: RecordSet,
    skills: Sequence[Skill],
    history: ProposalHistory,
    ids: Collection[str] = (),
    more: Iterable[Record] = (),
) -> list[Draft]:
    """Return what learnings (all live ones without `ids`) and `more` recommendations would change
    in skills.
    """
    chosen = [
        record
        for record in records.of_kind(LEARNING)
        if (record.id in ids if ids else record.phase == "live")
    ]
    learnings = [*chosen, *more]
    frequencies = Counter(chain.from_iterable({*terms(_wording(record))} for record in learnings))
    frequencies.update(chain.from_iterable({*terms(skill.text)} for skill in skills))
    weights = TermWeights(len(learnings) + len(skills), frequencies)
    pages = [_Page(skill, weights) for skill in skills]

    adding: dict[str, list[tuple[float, Record, str]]] = {}
    drafts: list[Draft] = []
    for learning in learnings:
        is_cited = learning.kind.name == LEARNING and any(
            learning.id in page.skill.text for page in pages
        )
        if is_cited or without_secrets(learning.title) != learning.title:
            continue

        against = [draft for page in pages if (draft := page.contradiction(learning)) is not None]
        drafts += against
        fits = [fit for page in pages if (fit := page.relation(learning)) is not None]
        if fits and not against and not any(page.covers(learning) for page in pages):
            worth, path, reason = max(fits)
            if learning.kind.name != LEARNING and _ABOUT_A_PAGE.search(learning.title):
                title = inert_line(learning.title)
                drafts.append(
                    _note(path, learning, f"{learning.id} recommends", title, learning.title)
                )
            else:
                adding.setdefault(path, []).append((worth, learning, reason))

    for page in pages:
        drafts += page.outdated(records)
        listed = sorted(
            adding.get(page.skill.path, ()), key=lambda entry: (-entry[0], entry[1].sort_key)
        )
        fresh = [
            (record, relation)
            for _, record, relation in listed
            if proposal_digest(page.skill.path, record.title) not in history.digests
        ]
        if fresh:
            drafts.append(_addition(page.skill, fresh[:MOST_LEARNINGS]))

    return drafts


class _Page:
    def __init__(self, skill: Skill, weights: TermWeights) -> None:
        self.skill, self._weights = skill, weights
        self._terms = {*terms(skill.text)}
        self._said = [
            (statement, weights.vector(terms(statement))) for statement in statements(skill)
        ]
        self._name = {*terms(skill.name)}

    def relation(self, learning: Record) -> tuple[float, str, str] | None:
        """Return how much a learning is related to the skill, its path, and why;
        None if it is not.
        """
        part = _weight_share(self._weights.vector(terms(_wording(learning))).squares, self._terms)
        paths = [
            path
            for path in map(_named_path, learning.scope.paths)
            if path and path in self.skill.text
        ]

        if learning.kind.name != LEARNING:
            name_text = learning.title
        else:
            name_text = str(learning.data.get("category", ""))

        tags = terms(" ".join((*learning.scope.tags, name_text)))
        is_named = bool(self._name) and self._name.issubset(tags)
        if not is_named and part < (NEAR if paths else RELATED):
            return None

        reason = f"the page has {part:.0%} of its words"
        if paths:
            reason = f"the page names `{paths[0]}`; {reason}"
        elif is_named:
            reason = f"it names the skill; {reason}"

        return part + bool(paths) + bool(is_named), self.skill.path, reason

    def covers(self, learning: Record) -> bool:
        """Say whether one statement of the page has nearly all words of a learning."""
        title = self._weights.vector(terms(learning.title))
        return any(
            _weight_share(title.squares, weighed.squares) >= COVERED for _, weighed in self._said
        )

    def contradiction(self, learning: Record) -> Draft | None:
        """Return a note where the page says the opposite; None otherwise."""
        statement, differs = self._opposite(learning)
        if differs is None:
            return None

        title = inert_line(learning.title)
        reason = (
            f"The page says: {inert_line(statement)}\n\n{learning.id} says: {title}\n\n{differs}."
        )
        return _note(self.skill.path, learning, f"{learning.id} says otherwise", reason, statement)

    def _opposite(self, record: Record) -> tuple[str, Contrast | None]:
        """Return the statement that says the opposite of a record, and where they differ.

        A statement that names the record as its source is no opponent, and a page that says the
        same as well is left to its reader.
        """
        sentence = record.title
        source = re.compile(rf"\b{re.escape(record.id)}\b")
        weighed = self._weights.vector(terms(sentence))
        scored = [(weighed.cosine(other), text) for text, other in self._said]
        scored.sort(key=lambda pair: -pair[0])
        for score, statement in scored:
            differs = contradicts(sentence, statement)
            if differs is not None and source.search(statement):
                continue
            if differs is not None and (differs.alone or score >= ALIKE):
                return statement, differs
            if score >= ALIKE:
                break

        return "", None

    def outdated(self, records: RecordSet) -> Iterator[Draft]:
        """Yield a note for each cited learning that is not live any more."""
        for learning in records.of_kind(LEARNING):
            if learning.phase == "closed" and re.search(
                rf"\b{re.escape(learning.id)}\b", self.skill.text
            ):
                if learning.superseded_by:
                    by = f", replaced by {', '.join(learning.superseded_by)}"
                else:
                    by = ""

                title = inert_line(learning.title)
                reason = (
                    f"The page rests on {learning.id}, which is {learning.status.name}{by}: {title}"
                )
                yield _note(
                    self.skill.path,
                    learning,
                    f"{learning.id} no longer holds",
                    reason,
                    learning.status.name,
                )


def _weight_share(squares: Mapping[str, float], other: Iterable[str]) -> float:
    present = {term.partition(":")[0] for term in other}
    part = sum(square for term, square in squares.items() if term.partition(":")[0] in present)
    return part / (sum(squares.values()) or 1)


def _note(path: str, learning: Record, title: str, reason: str, about: str) -> Draft:
    digest = proposal_digest(path, STRUCTURAL, learning.id, about)
    full_title = cut(f"{path}: {title}", LONGEST_TITLE)
    return Draft(path, STRUCTURAL, full_title, reason, (digest,), (learning.id,))


def _addition(skill: Skill, items: Sequence[tuple[Record, str]]) -> Draft:
    by_text: dict[str, dict[str, Record]] = {}
    for record, _ in items:
        same = by_text.setdefault(proposal_digest(skill.path, record.title), {})
        same.setdefault(record.id, record)

    texts: list[str] = []
    lines: list[str] = []
    for same in by_text.values():
        texts.append(inert_line(next(iter(same.values())).title))
        lines.append(f"- {texts[-1]} ({', '.join(same)})")

    diff = unified_diff(skill.path, skill.text, with_items(skill.text, lines))
    what = f"{len(texts)} learnings" if len(texts) > 1 else texts[0]
    title = cut(f"{skill.path}: add {what}", LONGEST_TITLE)

    reason = "\n".join(f"- {record.id}: {match_reason}" for record, match_reason in items)
    ids = tuple(dict.fromkeys(record.id for record, _ in items))
    return Draft(skill.path, ADDITIVE, title, reason, tuple(by_text), ids, diff)


def _named_path(glob: str) -> str:
    """Return the path or the folder of a glob, as a page would name it;
    empty for what most pages hold.
    """
    path = literal_start(glob)
    if len(path) > 3 and ("/" in path or "." in path):
        return path

    return ""


def _wording(learning: Record) -> str:
    return f"{learning.title}\n{learning.prose}\n{' '.join(learning.scope.tags)}"


def write_proposals(
    workspace: Workspace,
    drafts: Iterable[Draft],
    history: ProposalHistory,
    author: Author,
    *,
    dry_run: bool = False,
) -> tuple[list[Proposed], dict[str, str]]:
    """Write new drafts as proposals, one for a file and drift;
    return them, and the open ones that others wait for.
    """
    results: list[Proposed] = []
    waiting: dict[str, str] = {}
    digests, open_ids = set(history.digests), dict(history.open)
    try:
        for draft in drafts:
            if digests.issuperset(draft.digests):
                continue
            if draft.drift == ADDITIVE and (draft.path, draft.drift) in open_ids:
                waiting[draft.path] = open_ids[draft.path, draft.drift]
                continue

            record = None if dry_run else _write_proposal(workspace, draft, author)
            digests.update(draft.digests)
            open_ids[draft.path, draft.drift] = record.id if record is not None else ""
            results.append(Proposed(draft, record))
    finally:
        if written_ids := [result.record.id for result in results if result.record is not None]:
            write_event(workspace, PROPOSED, written_ids, {})

    return results, waiting


def _write_proposal(workspace: Workspace, draft: Draft, author: Author) -> Record:
    def admit(_: Record) -> None:  # another process may have proposed it meanwhile
        now = ProposalHistory.from_records(read_collection(workspace).records)
        if now.digests.issuperset(draft.digests) or (
            draft.drift == ADDITIVE and (draft.path, draft.drift) in now.open
        ):
            message = (
                f"{draft.path}: another process has just proposed this, or what this waits for"
            )
            raise RefusedError(message, hint="run the command again")

    return create_record(workspace, workspace.kinds[KIND], author, draft.fields(), admit)


def record_drafts(
    workspace: Workspace, records: RecordSet, failed: Mapping[str, int]
) -> list[Draft]:
    """Return what recorded retros would change in records, and errors that came back; `failed` has
    how often each record's did after a session was shown it.
    """
    live = [record for record in records.of_kind(LEARNING) if record.phase == "live"]
    learnings = [(record, frozenset(terms(normalised(record.title)))) for record in live]
    drafts: list[Draft] = []
    for retro, content in recorded_retros(workspace, records):
        drafts += _of_retro(workspace, records, learnings, retro, content)

    return [*drafts, *_not_followed(records, failed)]


def _not_followed(records: RecordSet, failed: Mapping[str, int]) -> Iterator[Draft]:
    """Yield a note on each rule or decision that showing did not help; a learning is drafted as a
    rule: see `ladder`.
    """
    for record in records:
        count = failed.get(record.id, 0)
        if record.phase != "live" or record.kind.name == LEARNING or count < ladder.FEWEST:
            continue

        step = "write a check into it (`orbit enforce try`)"
        check = ladder.check_of(record)
        if "checks" in record.data:
            step = "raise the level of its checks with `orbit enforce promote`"
        elif check is not None:
            step = f"write this check into it: {json.dumps(check, ensure_ascii=False)}"

        reason = (
            f"What it describes failed {plural(count, 'time')} after the session had been shown "
            f"it: {step}"
        )
        title = f"{record.id}: showing it is not enough"
        digests = (proposal_digest(record.path, STRUCTURAL, "not followed"),)
        ids = (record.id,)
        yield Draft(record.path, STRUCTURAL, title, reason, digests, ids, record=record.id)


def recommended(workspace: Workspace, records: RecordSet) -> list[Record]:
    """Return the recommendations of recorded retros, each as a record with it as title."""
    listed: list[Record] = []
    for retro, content in recorded_retros(workspace, records):
        for text in content.recommendations:
            data = {**retro.data, retro.kind.headline: text}
            listed.append(replace(retro, data=data, prose=""))

    return listed


LearningWords = Sequence[
    tuple[Record, frozenset[str]]
]  # live learnings, each with the words of its title


def _near(text: str, learnings: LearningWords) -> Iterator[Record]:
    words = {*terms(normalised(text))}
    for learning, title_words in learnings:
        common = len(words & title_words)
        if common > 1 and common >= NEARLY_SAME * min(len(words), len(title_words)):
            yield learning


def _of_retro(
    workspace: Workspace,
    records: RecordSet,
    learnings: LearningWords,
    retro: Record,
    content: Retro,
) -> Iterator[Draft]:
    for _, text in content.findings:
        for learning in _near(text, learnings):
            differs = contradicts(learning.title, text)
            if differs is None and normalised(text) not in normalised(
                f"{learning.title} {learning.prose}"
            ):
                yield _addition_to_learning(workspace, learning, retro, text)
            elif differs is not None:
                yield record_note(
                    learning, retro.id, f"{retro.id} says otherwise", f"{text}\n\n{differs}."
                )

    for text in content.recommendations:
        for cited in dict.fromkeys(
            citation.id for citation in find_citations(text, workspace.kinds.id_forms)
        ):
            for record in records.with_id(cited)[:1]:
                if (
                    not record.origin
                    and record.phase == "live"
                    and record.kind.name not in ("retro", "proposal")
                ):
                    yield record_note(record, retro.id, f"{retro.id} recommends", text)


def _addition_to_learning(
    workspace: Workspace, learning: Record, retro: Record, text: str
) -> Draft:
    safe_text = inert_line(without_secrets(text))
    body = "\n\n".join(filter(None, (learning.prose.rstrip(), f"{safe_text} ({retro.id})")))
    with writing(workspace):
        change, _ = prepare_edit(
            workspace, learning, lambda data: {**data, learning.kind.prose: f"{body}\n"}
        )

    diff = unified_diff(learning.path, change.before or "", change.after or "")
    title = f"{learning.id}: add what {retro.id} says"
    digest = proposal_digest(learning.path, text)

    return Draft(
        learning.path,
        ADDITIVE,
        title,
        f"{retro.id} says the same in other words: {safe_text}",
        (digest,),
        (learning.id, retro.id),
        diff,
        learning.id,
    )


def record_note(record: Record, source: str, title: str, reason: str) -> Draft:
    """Return a note on a record, which waits for a person; `source` is the record that asks."""
    safe_reason = inert_line(without_secrets(reason))
    digests, full_title = (
        (proposal_digest(record.path, STRUCTURAL, source, reason),),
        f"{record.id}: {title}",
    )
    return Draft(
        record.path,
        STRUCTURAL,
        full_title,
        safe_reason,
        digests,
        (record.id, source),
        "",
        record.id,
    )
