"""Checks of a record's text (4xx)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, binding, is_ours
from orbit_registry.checks.duplicates import wording
from orbit_registry.formats.position import Pointer, position_at
from orbit_registry.formats.secrets import Suspect, disguised_secrets, find_secrets
from orbit_registry.formats.untrusted import RETYPE, first_hidden
from orbit_registry.hook.select import MIN_CHARACTERS, compiled_pattern
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.kind import Status
from orbit_registry.model.record import Record
from orbit_registry.repository.documents import NOTHING, is_prompt, lines_outside_code, prompts_of
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.workspace import CONFIG

if TYPE_CHECKING:
    from orbit_registry.checks.protected import Change
    from orbit_registry.formats.adr.model import AdrDocument, Section


PROSE = "the text"


class _Text(NamedTuple):
    """One text of a record; `pointer` is None for prose outside the record's file."""

    value: str
    pointer: Pointer | None

    @property
    def name(self) -> str:
        if self.pointer is None:
            return PROSE

        return ".".join(map(str, self.pointer))

    def place(self, context: CheckContext, record: Record, offset: int) -> Location:
        if self.pointer is None:
            return context.in_prose(record, offset)
        if len(self.pointer) == 1:
            return context.in_field(record, str(self.pointer[0]), self.value, offset)
        return context.at(record, *self.pointer)


def _strings_of(record: Record) -> Iterator[_Text]:
    """Yield the texts of a record's file, other keys included,
    and its prose if that is in another file.
    """
    pending: list[tuple[Pointer, object]] = [((), record.data)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str):
            yield _Text(value, pointer)
        elif isinstance(value, list):
            pending += [((*pointer, index), entry) for index, entry in enumerate(value)]
        elif isinstance(value, Mapping):
            pending += [((*pointer, str(key)), entry) for key, entry in value.items()]

    if not record.kind.in_record and record.prose:
        yield _Text(record.prose, None)


_COMMENT = re.compile(r"(?m)(?:^|[ \t])#[^\n]*")


def _comments_of(context: CheckContext, record: Record) -> Iterator[tuple[str, Location]]:
    """Yield the comments of a record's file, which no field has, each with its place."""
    content = context.text(record.path) or ""
    values = [text.value for text in _strings_of(record)] if "#" in content else []
    for match in _COMMENT.finditer(content):
        comment = match[0].strip()
        if not any(comment in value for value in values):
            yield comment, Location(record.path, position_at(content, match.start()))


_NAMED = "docs/adr/0001-prose.md"  # a name that lets a bare body be read as one decision


def _decision_of(context: CheckContext, record: Record) -> AdrDocument | None:
    """Return a decision's entry, or its `body.md` read as one; None where it has no text, or one
    in which a merge left both sides.
    """
    home = context.homes.get(record.path)
    if home is not None and home[0].path in context.conflicts:
        return None
    if home is not None:
        return home[1]
    if not record.prose.strip():
        return None

    from orbit_registry.formats.adr.reader import read_document

    entries = read_document(record.prose, _NAMED).entries
    if len(entries) == 1:
        return entries[0]

    return None


def _text_of(context: CheckContext, record: Record) -> str:
    home = context.homes.get(record.path)
    if home is not None:
        return home[0].text

    return record.prose


_WEIGHT = {"live": Severity.ERROR, "pending": Severity.WARNING}


# Adopted documents have forms of their own, and are checked only if configured.
@check(
    "ORB401",
    Severity.ERROR,
    "add a line `- Cost: …` under Consequences, such as `- Cost: the build takes longer`",
)
def no_cost(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision names no cost."""
    is_wide = context.config.setting("checks", "adopted_costs")
    for record in context.open_records:
        if not record.kind.in_document or not record.prose.strip():
            continue
        if not is_wide and not is_ours(record):
            continue

        entry = _decision_of(context, record)
        if entry is not None and not entry.has_cost:
            severity = binding(record, _WEIGHT[record.phase])
            where = context.in_entry(record, entry.section("consequences"))
            yield no_cost.at(where, f"{record.id} names no cost", record, severity=severity)


NEEDED = ("context", "decision", "consequences")
_STANDS_FOR = {
    "consequences": ("positive", "negative", "neutral", "pros_cons"),
    "context": ("drivers",),
}


# In adopted documents only empty parts count, as notes.
@check(
    "ORB402",
    Severity.ERROR,
    "say in a sentence or two why a decision was needed, what it is, and what follows from it",
)
def empty_section(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision lacks one of its parts, or has the heading without a text."""
    for record in context.open_records:
        if not record.kind.in_document:
            continue

        entry = _decision_of(context, record)
        if entry is None or not entry.sections:
            continue

        text = _text_of(context, record)
        ours = is_ours(record)
        for key in NEEDED:
            present = [
                each for each in entry.sections if each.key == key and (ours or not each.run_in)
            ]
            instead = [
                section for section in entry.sections if section.key in _STANDS_FOR.get(key, ())
            ]
            if present and all(_is_empty(text, entry, section) for section in (*present, *instead)):
                message = f"{present[0].heading} of {record.id} is empty"
                severity = binding(record, _WEIGHT[record.phase])
                where = context.in_entry(record, present[0])
                yield empty_section.at(where, message, record, severity=severity)
            elif not present and not instead and ours:
                message = f"{record.id} has no part called {key.capitalize()}"
                where = context.in_entry(record)
                yield empty_section.at(where, message, record, severity=Severity.WARNING)


def _is_empty(text: str, entry: AdrDocument, section: Section) -> bool:
    inner = [
        part for part in entry.sections if section.body.start <= part.body.start < section.body.end
    ]
    lines = chain.from_iterable(part.body.of(text).splitlines() for part in (section, *inner))
    return all(map(NOTHING.fullmatch, lines))


# An error where a live decision has no other text.
@check("ORB403", Severity.ERROR, "write the answer in its place, or delete the line")
def template_prompt(context: CheckContext) -> Iterator[Diagnostic]:
    """A prompt of the template was left in a record's text."""
    for record in context.open_records:
        if not record.prose:
            continue

        prompts = prompts_of(record.kind.folder, record.kind.in_document)
        offsets = [
            offset for offset, line in lines_outside_code(record.prose) if is_prompt(line, prompts)
        ]
        if not offsets:
            continue

        message = f"{record.id} still holds a prompt of its template"
        hint = None
        places = [context.in_prose(record, offset) for offset in offsets]
        if len(offsets) > 1:
            message += f" ({len(offsets)} of them)"
            lines = ", ".join(str(place.position.line) for place in places if place.position)
            hint = f"{template_prompt.hint}: lines {lines}"

        is_live = record.kind.in_document and record.phase == "live"
        is_empty = is_live and wording(record).strip() == record.title
        severity = binding(record, Severity.ERROR if is_empty else Severity.WARNING)
        yield template_prompt.at(places[0], message, record, severity=severity, hint=hint)


CHARACTERS_A_TOKEN = 4
MOST_IN_A_DOCUMENT = 40_000  # characters; about 6,000 words, half an hour of reading


@check("ORB404", Severity.WARNING, "split it, or move the detail into a document and link to it")
def too_long(context: CheckContext) -> Iterator[Diagnostic]:
    """A text is too long to be read, or to be shown to an agent."""
    for record in context.open_records:
        if record.kind.in_file:
            continue  # it is shown by its title, and cut for search

        size = len(record.prose)
        if record.kind.in_document:
            most, reason = MOST_IN_A_DOCUMENT, "a decision should be read in one sitting"
        else:
            size += len(record.title)
            most = record.kind.brief.get("budget", 0) * CHARACTERS_A_TOKEN
            reason = "it fits into no brief, so no agent is ever shown it whole"

        if 0 < most < size:
            message = f"{record.id} is {size:,} characters long; above {most:,}, {reason}"
            severity = binding(record, Severity.WARNING)
            yield too_long.at(context.in_prose(record, 0), message, record, severity=severity)


@check("ORB405", Severity.ERROR, RETYPE)
def hidden_characters(context: CheckContext) -> Iterator[Diagnostic]:
    """A text holds invisible characters: they can reverse, hide or smuggle words."""
    for record in context.records:
        for text in _strings_of(record):
            # The first character may be a file's mark of its encoding.
            mark = int(text.pointer is None and text.value.startswith("\ufeff"))
            if hidden := first_hidden(text.value[mark:]):
                place = text.place(context, record, hidden[0] + mark)
                yield hidden_characters.at(
                    place, f"{text.name} of {record.id} holds {hidden[1]}", record
                )

        for comment, place in _comments_of(context, record):
            if hidden := first_hidden(comment):
                message = f"a comment of {record.id} holds {hidden[1]}"
                yield hidden_characters.at(place, message, record)


# The secret itself is never shown.
@check(
    "ORB406",
    Severity.ERROR,
    "revoke the secret, then remove it here; git keeps the old text in its history",
)
def secret(context: CheckContext) -> Iterator[Diagnostic]:
    """A record or its document holds a secret."""
    for record in context.records:
        if record.path not in context.without_secrets:
            for text in _strings_of(record):
                for suspect in find_secrets(text.value):
                    where = text.place(context, record, suspect.start)
                    yield _secret(where, text.name, record, suspect)

        for comment, where in _comments_of(context, record):
            for suspect in find_secrets(comment):
                yield _secret(where, "a comment", record, suspect)

        if context.is_changed(record):
            yield from _disguised(context, record)

        if record.votes:
            path = f"{record.path.rpartition('/')[0]}/{VOTES}"
            content = context.text(path) or ""
            for suspect in find_secrets(content):
                where = Location(path, position_at(content, suspect.start))
                yield _secret(where, "a vote", record, suspect)

    content = context.text(CONFIG) or ""
    for suspect in find_secrets(content):
        where = Location(CONFIG, position_at(content, suspect.start))
        yield secret.at(where, f"the configuration holds a secret: {suspect.kind}")


def _secret(where: Location, name: str, record: Record, suspect: Suspect) -> Diagnostic:
    size = f"{suspect.end - suspect.start} characters"
    message = f"{name} of {record.id} holds a secret: {suspect.kind}, {size}"
    return secret.at(where, message, record)


def _disguised(context: CheckContext, record: Record) -> Iterator[Diagnostic]:
    """Yield the secrets of a changed record that its page shows and its file does not spell."""
    for text in _strings_of(record):
        for kind in disguised_secrets(text.value):
            where = text.place(context, record, 0)
            yield secret.at(where, f"{text.name} of {record.id} disguises a secret: {kind}", record)


# One whose document is gone is another finding.
@check(
    "ORB407",
    Severity.ERROR,
    "write the text as body.md in the record's folder, or name its document in `source.path`",
)
def no_text(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision has no text anywhere."""
    for record in context.records:
        if record.kind.in_document and record.source is None and not record.prose.strip():
            is_binding = is_ours(record) and record.phase == "live"
            severity = Severity.ERROR if is_binding else Severity.WARNING
            message = f"{record.id} has no text: it names no document and has no body.md"
            yield no_text.at(context.at(record, "id"), message, record, severity=severity)


_REGULAR_EXPRESSION = re.compile(
    r"\\[dDsSwWbB.()\[\]+*?|^$/]|\.[*+]|\(\?|\(\w+(?:\|\w+)+\)|\[(?:a-z|A-Z|0-9|\^)|^\^|\w\$$"
)
"""What error messages hardly ever hold and regular expressions are made of; a Windows path
(`C:\\data`) is no match for the letters alone, so escapes count only where no word follows.
"""
_PATH = re.compile(r"[A-Za-z]:\\|\\\\\w")


@check(
    "ORB408",
    Severity.WARNING,
    "write the words of the error themselves, with `*` for any text: `* is not a valid *`",
)
def error_pattern(context: CheckContext) -> Iterator[Diagnostic]:
    """An error pattern can't match the error it was written for."""
    for record in context.open_records:
        pattern = record.text("error_pattern")
        if not pattern:
            continue

        if not compiled_pattern(pattern):
            problem = (
                f"has fewer than {MIN_CHARACTERS} characters without `*`, so it matches no error"
            )
        elif (match := _REGULAR_EXPRESSION.search(pattern)) and not _PATH.search(pattern):
            problem = f"holds `{match[0]}`, which is looked for letter by letter"
        else:
            continue

        message = f"the error_pattern of {record.id} {problem}"
        yield error_pattern.at(context.at(record, "error_pattern"), message, record)


# Pending at the base and live here, or live and made by an agent since.
@check("ORB410", Severity.NOTE, "approve the change only if you approve the record")
def went_live(context: CheckContext) -> Iterator[Diagnostic]:
    """A record that waited for review, or that an agent made, is live now."""
    for record in context.records:
        if record.phase != "live" or record.status.waits:
            continue

        before = context.facts.before.get(record.id)
        was = ""
        review = f"now, {_approver(record, context.facts.authors.get(record.id))}"
        if before is None or before.uid != record.uid:
            if _is_new_from_agent(context, record):
                was = "made by an agent"
            if not record.approval.get("approved_by"):
                review = "without review"
        elif _waited(record.kind.status(before.status)):
            was = before.status

        if was:
            message = (
                f"{record.id} was {was} and is {record.stated_status.name} {review}: {record.title}"
            )
            yield went_live.at(context.at(record, "status"), message, record)


# Where `approval.require` asks for one.
@check(
    "ORB411",
    Severity.ERROR,
    "let a person sign the commit that makes the change, or merge it with `Approved-by:` and a "
    "code owner's name",
)
def unproved_approval(context: CheckContext) -> Iterator[Diagnostic]:
    """An accepted record, or a change of what the gate protects, has no proof that a person
    approved it.
    """
    for row in context.judged:
        if row.problem:
            severity = Severity.NOTE if row.is_open else Severity.ERROR
            message = f"{row.change.message} {row.problem}"
            where = _place_of(context, row.change)
            record = row.change.record
            yield unproved_approval.at(where, message, record, severity=severity)


# Approved already, or in a project that asks for no proof.
@check("ORB412", Severity.NOTE, "approve the change only if you approve of this")
def protected_change(context: CheckContext) -> Iterator[Diagnostic]:
    """A change alters an accepted record, or what the gate and approvals obey."""
    for row in context.judged:
        if not row.problem and not row.change.is_acceptance:
            where = _place_of(context, row.change)
            yield protected_change.at(where, row.change.message, row.change.record)


def _place_of(context: CheckContext, change: Change) -> Location:
    if change.record is not None:
        return context.at(change.record, *change.pointer)
    if change.pointer:
        return context.in_config(*change.pointer)
    return Location(change.subject.path)


def _approver(record: Record, author: str | None) -> str:
    """Return who approved a record, and whether git names the same person for the commit of its
    current state.
    """
    approver = record.approval.get("approved_by")
    if not approver:
        return "and names no person who approved it"
    if author is None:
        return f"approved by {approver} (claimed: it is in no commit yet)"
    if " ".join(author.split()).casefold() == " ".join(approver.split()).casefold():
        return f"approved by {approver} (confirmed by git)"

    return f"approved by {approver} (claimed: the commit is by {author})"


def _is_new_from_agent(context: CheckContext, record: Record) -> bool:
    is_new = record.role == "agent" and record.path in (context.facts.changed or ())
    return is_new and _waited(record.kind.status(record.kind.initial["agent"]))


def _waited(status: Status) -> bool:
    return status.waits or status.phase != "live"
