"""What retros and the event log would change in records in force: words as a diff, everything else as a note.

A retro counts once a person recorded it. Nothing is decided here; `proposals` keeps what is new of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from orbit_registry.push.context import TRIAL
from orbit_registry.push.event_log import Said
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.retro.form import Retro
from orbit_registry.retro.keep import ALIKE, recorded
from orbit_registry.review.proposals import ADDITIVE, LEARNING, STRUCTURAL, Draft, said_hash
from orbit_registry.search.contrast import Words, contrast
from orbit_registry.search.similarity import normalised
from orbit_registry.search.terms import terms
from orbit_registry.store.workspace import Workspace
from orbit_registry.store.writer import edited, writing
from orbit_registry.text.globs import Glob, match_any, parse_glob
from orbit_registry.text.inert import inert_line
from orbit_registry.text.patch import unified
from orbit_registry.text.secrets import without_secrets

FEWEST_SESSIONS = 2
"""In so many sessions an error has to come outside of a scope before the scope is said to be too narrow."""
NAMED = 3
_ID = re.compile(r"\b[A-Z]{1,4}-[0-9a-z]{4,12}\b")


def record_drafts(workspace: Workspace, records: RecordSet, events: Iterable[Said]) -> list[Draft]:
    """Return what would be proposed for records: from the retros that are recorded, and from errors that came again."""
    found: list[Draft] = []
    held = _Held(one for one in records.of_kind(LEARNING) if one.phase == "live")
    for retro, said in recorded(workspace, records):
        found += _of_retro(workspace, records, held, retro, said)
    return [*found, *_too_narrow(records, events)]


def recommended(workspace: Workspace, records: RecordSet) -> list[Record]:
    """Return what the retros that are recorded recommend, each as a record whose title says it."""
    return [
        replace(retro, data={**retro.data, retro.kind.headline: text}, prose="")
        for retro, said in recorded(workspace, records) for text in said.recommendations
    ]  # fmt: skip


class _Held:
    """The learnings in force, to be looked up by their words."""

    def __init__(self, learnings: Iterable[Record]) -> None:
        self._words = [(one, {*terms(normalised(one.title))}) for one in learnings]
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, (_, words) in enumerate(self._words):
            for word in words:
                self._having[word].append(place)

    def near(self, text: str) -> Iterator[Record]:
        """Yield the learnings with nearly the same words as a text, whatever it denies."""
        words = {*terms(normalised(text))}
        common = Counter(place for word in words for place in self._having.get(word, ()))
        for place, count in common.items():
            learning, its = self._words[place]
            if count > 1 and count >= ALIKE * min(len(words), len(its)):
                yield learning


def _of_retro(workspace: Workspace, records: RecordSet, held: _Held, retro: Record, said: Retro) -> Iterator[Draft]:
    for _, text in said.findings:
        for learning in held.near(text):
            differs = contrast(Words.of(learning.title), Words.of(text))
            if differs is None and normalised(text) not in normalised(f"{learning.title} {learning.prose}"):
                yield _more(workspace, learning, retro, text)
            elif differs is not None:
                yield _note(learning, retro.id, f"{retro.id} says otherwise", f"{text}\n\n{differs}.")
    for text in said.recommendations:
        for any_id in dict.fromkeys(_ID.findall(text)):
            for record in records.with_id(any_id)[:1]:
                if record.phase == "live" and record.kind.name not in ("retro", "proposal"):
                    yield _note(record, retro.id, f"{retro.id} recommends", text)


def _more(workspace: Workspace, learning: Record, retro: Record, text: str) -> Draft:
    """Return the diff that adds what a retro said in other words to the text of a learning."""
    said = inert_line(without_secrets(text))
    body = "\n\n".join(filter(None, (learning.prose.rstrip(), f"{said} ({retro.id})")))
    with writing(workspace):
        change, _ = edited(workspace, learning, lambda data: {**data, learning.kind.prose: f"{body}\n"})
    diff = unified(learning.path, change.before or "", change.after or "")
    title = f"{learning.id}: add what {retro.id} says"
    says = said_hash(learning.path, text)
    return Draft(learning.path, ADDITIVE, title, f"{retro.id} says the same in other words: {said}", (says,),
                 (learning.id, retro.id), diff, learning.id)  # fmt: skip


def _note(record: Record, source: str, title: str, reason: str) -> Draft:
    said = inert_line(without_secrets(reason))
    says = said_hash(record.path, STRUCTURAL, source, reason)
    return Draft(record.path, STRUCTURAL, f"{record.id}: {title}", said, (says,), (record.id, source), "", record.id)


def _too_narrow(records: RecordSet, events: Iterable[Said]) -> Iterator[Draft]:
    """Yield a note for each learning whose error was met in files that its scope leaves out."""
    met: Mapping[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in events:
        if one.session and not one.session.startswith(TRIAL):
            for record_id in one.failed:
                for path in one.paths:
                    met[record_id][path].add(one.session)
    for learning in records.of_kind(LEARNING):
        if learning.phase != "live" or learning.id not in met or not learning.scope.paths:
            continue
        globs = [glob for said in learning.scope.paths if isinstance(glob := parse_glob(said), Glob)]
        outside = {path: who for path, who in met[learning.id].items() if match_any(globs, path) is None}
        sessions = {one for who in outside.values() for one in who}
        if len(sessions) < FEWEST_SESSIONS:
            continue
        paths = sorted(outside, key=lambda path: (-len(outside[path]), path))[:NAMED]
        folders = dict.fromkeys(f"{folder}/**" if (folder := path.rpartition("/")[0]) else path for path in paths)
        added = " ".join(f"--path '{glob}'" for glob in folders)
        reason = (f"What it describes was met in {len(sessions)} sessions in {', '.join(paths)}, outside of its scope: "
                  f"`orbit learning update {learning.id} {added}` beside what it names")  # fmt: skip
        says = said_hash(learning.path, STRUCTURAL, "scope", *folders)
        yield Draft(learning.path, STRUCTURAL, f"{learning.id}: its scope is too narrow", reason, (says,),
                    (learning.id,), "", learning.id)  # fmt: skip
