"""Notes for a person below an answer: what is empty, overlooked, unknown or doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.doors.answers.call import note
from orbit_registry.errors import GitError, OrbitError, did_you_mean, plural
from orbit_registry.formats.dates import first_day
from orbit_registry.lifecycle.review_due import review_due
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry

if TYPE_CHECKING:
    from orbit_registry.agents.install.install import HookState
    from orbit_registry.checks.scopes import Unmatched
    from orbit_registry.matching.visibility import Visibility


def visibility_of(
    registry: Registry, records: Sequence[Record]
) -> tuple[Mapping[str, Visibility], list[str]]:
    """Return where agents are shown some records, by path, and a note if that can't be said.

    What a command has written stays written, whatever git answers.
    """
    try:
        return registry.visibility(records), []
    except OrbitError as error:
        return {}, [note(f"where agents are shown it is not known: {error.message}")]


def unseen_numbers(registry: Registry) -> list[str]:
    """Return a note if git can't say which numbers other branches have taken."""
    try:
        registry.workspace.git.require()
    except GitError as error:
        return [note(f"{error.message}, so the numbers of other branches are unknown")]

    return []


def empty_notes(registry: Registry, *, by_scope: bool) -> list[str]:
    """Return why nothing was found where nothing can be: no record, or none that names files."""
    records = registry.collection.records
    if not len(records):
        return [note('there are no records yet: `orbit adr new "Title"`, or `orbit import .`')]
    if by_scope and all(record.scope.is_empty for record in records):
        return [note("no record names files or tags yet: `orbit scope suggest` proposes globs")]
    return []


def overlooked_of_check(registry: Registry) -> list[str]:
    """Return how many records no edit shows, of kinds that have one without a scope: that is no
    finding.
    """
    records = [*registry.collection.records]
    kinds = {record.kind.name for record in records if record.is_unreachable}
    of_kinds = [record for record in records if record.kind.name in kinds]
    if of_kinds:
        return _overlooked(registry, of_kinds)

    return []


def hook_notes(registry: Registry) -> list[str]:
    """Return why no agent runs the hook here; nothing if one does."""
    # Few answers say it, and every command imports this.
    from orbit_registry.agents.install.install import status

    states = status(registry.workspace.root)
    off = off_notes(states)
    if off:
        return off
    if any(state.installed for state in states):
        return []

    remedy = "`orbit hook install AGENT`"
    return [note(f"no hook is installed here, so no edit of an agent shows a record: {remedy}")]


def off_notes(states: Iterable[HookState]) -> list[str]:
    """Return which setting keeps an agent from running hooks, the first of them."""
    for state in states:
        if state.off:
            title, remedy = state.agent.title, f"remove {state.off} there"
            return [note(f"{title} runs no hook: {state.off} is in {state.path}; {remedy}")]

    return []


def overlooked_notes(registry: Registry) -> list[str]:
    """Return how many records no edit shows, where a file has none."""
    records = [*registry.collection.records]
    nothing = [] if records else empty_notes(registry, by_scope=False)
    return nothing + _overlooked(registry, records)


def _overlooked(registry: Registry, records: Sequence[Record]) -> list[str]:
    from orbit_registry.matching.visibility import SUGGEST, summaries

    judged, notes = visibility_of(registry, records)
    for text in summaries(records, judged):
        notes.append(note(f"{text}: `{SUGGEST}` proposes globs"))

    return notes


def doubts(registry: Registry, record: Record) -> list[str]:
    """Return which names of a new record lead nowhere."""
    notes = unmatched_notes(registry, record) + past_review(record)
    if not record.evidence and "freshness" not in record.data:
        return notes  # to look costs a Markdown parser

    for freshness in registry.freshness([record]).values():
        for reason in freshness.reasons:
            if reason.subject != "scope.paths":  # told glob by glob above
                notes.append(note(reason.message))

    return notes


def past_review(record: Record) -> list[str]:
    """Return that the date of a record's review has come already."""
    day = first_day(record.text("review_by") or "")
    today = datetime.now(UTC).date()
    if day is None or day > today:
        return []

    follows = f"{record.id} is due for a review at once"
    if review_due(record, today) is None:
        follows = f"it makes no review of {record.id} due: someone has looked at it since"

    return [note(f"{record.text('review_by')} has come already: {follows}")]


def unmatched_notes(registry: Registry, record: Record) -> list[str]:
    """Return the globs of a record that match no file, and unused packages.

    Where the glob that was meant is sure, the note has the command that writes it.
    """
    root, here = registry.workspace.root.resolve(), Path.cwd().resolve()
    below = ""
    if here.is_relative_to(root) and here != root:
        below = here.relative_to(root).as_posix()

    notes = []
    is_written = (root / record.path).is_file()
    for unmatched in unmatched_of(registry, record, below):
        remedy = ""
        if unmatched.meant and is_written:
            globs = f"--remove-path '{unmatched.glob}' --path '{unmatched.meant}'"
            remedy = f" `orbit {record.kind.name} update {record.id} {globs}`"

        notes.append(note(f"{unmatched}{remedy}"))

    return notes


def unmatched_of(registry: Registry, record: Record, below: str = "") -> list[Unmatched]:
    """Return the globs of a record that match no file, and its packages that none imports."""
    from orbit_registry.checks.scopes import unmatched

    importing = registry.records if record.uses else ()
    return unmatched(registry.workspace, importing, record, below)


def unknown_notes(registry: Registry, **requested: Sequence[str]) -> list[str]:
    """Return requested words that no record has, each with a near one."""
    notes = []
    for name, words in requested.items():
        used: set[str] = set()
        for record in registry.collection.records if words else ():
            used.update(_field_words(record, name))

        for word in words:
            is_tag = name == "tag" and registry.workspace.config.is_tagged(used, [word])
            if not (is_tag or word in used):
                advice = _advice(registry, name, word, used)
                notes.append(note(f"no record has the {name} `{word}`; {advice}".rstrip("; ")))

    return notes


def _advice(registry: Registry, name: str, word: str, used: set[str]) -> str:
    records = registry.collection.records if name == "tag" else ()
    labelled = [record.id for record in records if word in record.words("labels")]
    if not labelled:
        return did_you_mean(word, sorted(used), "`")

    counted = plural(len(labelled), "record")
    return f"it is a label of {counted}, for search: `orbit search {word}`"


def _field_words(record: Record, name: str) -> Sequence[str]:
    if name == "feature":
        return (record.text(name) or "",)
    if name == "tag":
        return record.scope.tags

    return record.words(f"{name}s")
