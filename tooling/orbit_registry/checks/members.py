"""Tells what of a collection has to be looked at again: tokens of records and texts, and the names that join them.

A finding rests on its record or text, on those it is joined with, on those that it asks for, and on what is the same
for all (`Memory`'s key). So where none of these changed, it stands. Names that join reach on and on: an id that several
have, one text in two records, a document and its records, supersession. A name that is only asked for, by a
link or a citation, reaches one step: the asker rests on whoever bears it, not on others who ask for it too.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from orbit_registry.checks.inputs import Inputs, kinds_stamp
from orbit_registry.checks.wording import letters
from orbit_registry.records.ids import sequence_id
from orbit_registry.records.record import Record
from orbit_registry.search.similarity import hash_of
from orbit_registry.store.cache import FileState, code_stamp, is_few
from orbit_registry.store.decisions.documents import Document
from orbit_registry.store.facts import IMPORTED_BODY, Facts
from orbit_registry.store.kept import KeptValue, digest
from orbit_registry.store.reader import Entry, Named
from orbit_registry.store.votes import NAME as VOTES

SURE = 32
"""Hexadecimal digits of a hash that tell one text from another."""


class Member(NamedTuple):
    """One record or text as a run left it."""

    token: str
    """What tells it from its earlier and later selves; an empty one is like none."""
    joins: Sequence[str] = ()
    asks: Sequence[str] = ()
    said: str | None = None
    """A hash of what is compared for duplicates; None where nothing is."""
    pairs: Sequence[Sequence[object]] = ()
    """The records that say nearly the same: path, how nearly, whether there are enough records to tell."""
    found: Sequence[Sequence[object]] = ()
    """The findings in its files, as `records.diagnostic.row_of` writes them."""
    globs: Sequence[str] = ()
    """The globs of a record that waits or holds."""
    seen: str = ""
    """What these see of the project's files, as far as findings rest on it."""


class Memory:
    """The members as an earlier run left them, none where what all findings rest on is not what it was."""

    def __init__(self, inputs: Inputs) -> None:
        facts, reading = inputs.facts, inputs.reading
        texts = (*inputs.members, *(entry.path for entry in reading.entries if entry.kind.in_document))
        settings = (code_stamp(), kinds_stamp(inputs.workspace), repr(inputs.workspace.config))
        self._kept = KeptValue(inputs.workspace, "members", digest(settings, texts, facts.tracked is None))
        rows: Mapping[str, Any] = self._kept.value
        self.members = {path: Member(*row) for path, row in rows.get("members", {}).items()}
        self._files = digest(facts.tracked, facts.untracked)
        self.has_files = rows.get("files") == self._files
        """Whether the project's files are those that the members saw."""

    def keep(self, members: Mapping[str, Member]) -> None:
        """Remember the members for later runs, unless so few changed that they are soon looked at again."""
        changed = sum(member != self.members.get(path) for path, member in members.items())
        if not is_few(changed + len(self.members.keys() - members.keys()), len(members)) or not self.has_files:
            self._kept.keep({"files": self._files, "members": dict(members)})


# --- tokens


def tokens_of(inputs: Inputs) -> tuple[dict[str, str], dict[str, str]]:
    """Return the tokens of the files of records that hold all they say, and those of the other records' files, of each
    document and of each text in which ids are looked up.
    """
    texts = {path: _text_token(inputs, path) for path in inputs.members}
    aside = {path.rpartition("/")[0] for path in inputs.facts.beside if path.endswith(f"/{IMPORTED_BODY}")}
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    for entry in inputs.reading.entries:
        side = others if entry.kind.in_document or entry.kind.in_file else own
        side[entry.path] = _record_token(inputs, entry, texts, aside)
    return own, others | texts


def _text_token(inputs: Inputs, path: str) -> str:
    state, facts = inputs.texts[path], inputs.facts
    said = [_state(state), "c" * (path in inputs.citing), "d" * (path in inputs.documents)]
    if facts.changed is not None and path in facts.changed:
        said += ["changed", hash_of(facts.texts_before.get(path, ""))]
    return " ".join(said)


def _state(state: FileState) -> str:
    return state.sha256[:SURE] or f"! {state.error}"


def _record_token(inputs: Inputs, entry: Entry, texts: Mapping[str, str], aside: Collection[str]) -> str:
    reading, facts = inputs.reading, inputs.facts
    token = _state(reading.states[entry.path])
    if entry.has_votes:
        token += f" votes {_state(reading.states[f'{entry.folder}/{VOTES}'])}"
    if entry.has_body:
        token += f" body {_state(inputs.texts[entry.body_path])}"
    named = reading.named(entry)
    if named is not None:
        token += _outside(inputs, named, texts)
    if aside and entry.folder in aside:
        token += " aside"
    if facts.changed and entry.path in facts.changed:
        token += f" changed {_at_others(facts, entry.folder.rpartition('/')[2])}"
    return token


def _outside(inputs: Inputs, named: Named, texts: Mapping[str, str]) -> str:
    """Return what is seen of what a record names, and the day where time alone can make it stale."""
    sight, token = inputs.sight, ""
    if named.document is not None:
        token += f" in {texts.get(named.document) or _whole(inputs, named.document)}"
        token += " gone" * (named.document in inputs.facts.documents_gone)
    if named.taken:
        token += f" from {sight.moved.get((named.taken[0], named.taken[1]))}"
    if named.is_dated:
        token += f" {inputs.now:%F} {hash_of(repr([sight.inputs.get(one) for one in named.inputs]))}"
    if named.evidence and (sight.there or sight.gone):
        proofs = [(kind, reference) for kind, reference in named.evidence]
        token += " " + "".join("t" if one in sight.there else "g" if one in sight.gone else "-" for one in proofs)
    return token


def _whole(inputs: Inputs, path: str) -> str | None:
    """Return the token of a text that is the prose of a record as a whole file."""
    return _state(inputs.texts[path]) if path in inputs.texts else None


def _at_others(facts: Facts, record_id: str) -> str:
    """Return what the commits compared with hold under an id."""
    return repr((facts.before.get(record_id), facts.authors.get(record_id), facts.theirs.get(record_id), facts.against))


# --- names


def joins_of(record: Record, wording: str | None) -> list[str]:
    """Return the names by which a record is one group with others that have them.

    `wording` is what is compared for duplicates, None where nothing is.
    """
    names = {record.id, f"uid {record.uid}", *record.supersedes, *record.superseded_by, *record.words("distinct_from")}
    for name in record.legacy_ids:
        names |= {name, name.rpartition("/")[2]}
    source = record.source
    if source is not None:
        names.add(f"file {source.path}")
    if wording is not None:
        names.add(f"text {record.kind.name} {hashlib.sha256(letters(wording)).hexdigest()[:SURE]}")
    return sorted(names)


def asks_of(record: Record, cited: Iterable[str]) -> list[str]:
    """Return the names of records that a record's links, evidence and text rest on."""
    proofs = (reference for kind, reference in record.evidence if kind == "record")
    return sorted({*(link.to for link in record.links), *proofs, *cited})


def joins_of_text(path: str, document: Document | None) -> list[str]:
    """Return the names by which a text is one group with records and texts that have them."""
    names = {f"file {path}"}
    if document is None:
        return sorted(names)
    from orbit_registry.store.adopt.ids import Candidate  # brings the readers of decisions

    for entry in document.file.entries:
        if entry.number is None:
            continue
        candidate = Candidate(document, entry)
        names.add(f"ADR-{entry.number}")
        if candidate.number is not None:
            names.add(sequence_id("ADR-", candidate.number))
        if candidate.local_name is not None:
            names.add(candidate.local_name)
    return sorted(names)


# --- what has to be looked at again


class Reach:
    """Which members a change reaches, by the names of all members as they were and as they are."""

    def __init__(self, before: Mapping[str, Member], now: Mapping[str, Member]) -> None:
        self._now = now
        self._bearers: dict[str, list[str]] = defaultdict(list)
        self._askers: dict[str, list[str]] = defaultdict(list)
        for path, member in now.items():
            for name in member.joins:
                self._bearers[name].append(path)
            for name in member.asks:
                self._askers[name].append(path)
        self._before = before

    def of(self, changed: Iterable[str]) -> set[str]:
        """Return the members whose findings a change of some members, gone ones among them, can change.

        Where two that said nearly the same no longer do, both have changed.
        """
        changed = set(changed)
        names = {name for path in changed if path in self._before for name in self._before[path].joins}
        started = {path for name in names for path in self._bearers.get(name, ())}
        group = self.group({path for path in (*changed, *started) if path in self._now})
        names |= {name for path in group for name in self._now[path].joins}
        return self.group({*group, *(path for name in names for path in self._askers.get(name, ()))})

    def group(self, paths: Iterable[str]) -> set[str]:
        """Return the members that are joined with some members, these among them."""
        found, ahead = set(paths), list(paths)
        while ahead:
            member = self._now[ahead.pop()]
            joined = {path for name in member.joins for path in self._bearers[name]}
            joined |= {path for pair in member.pairs if (path := str(pair[0])) in self._now}
            ahead += joined - found
            found |= joined
        return found

    def asked_by(self, paths: Iterable[str]) -> set[str]:
        """Return the members that bear a name which some members ask for."""
        return {path for one in paths for name in self._now[one].asks for path in self._bearers.get(name, ())}
