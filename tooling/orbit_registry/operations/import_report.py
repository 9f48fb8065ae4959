"""Report of an import: what became of each document, and what to do with those left out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from orbit_registry.errors import OrbitError, plural
from orbit_registry.formats.adr.classifier import PLACE_REASONS
from orbit_registry.formats.adr.model import AdrFile
from orbit_registry.model.record import Record

OutcomeKind = Literal["taken", "changed", "left", "present"]
ORDER: tuple[OutcomeKind, ...] = ("taken", "changed", "left", "present")
PathMoves = Sequence[tuple[str, str]]
"""Files or folders that were renamed: how each was called and how it is called now,
from the root.
"""
_STYLES = {
    "front-matter": "in front matter",
    "bullets": "in items",
    "line": "in lines",
    "table": "in tables",
    "html": "in HTML",
    "section": "in sections",
    "badge": "in badges",
    "folder": "by folder",
    "none": "without status",
}
"""Where documents state their status, as the report counts them."""
_IN_SECTIONS = ("section", "line")
NO_FORMAT = "none"  # format of a report where no decision was found
_LISTED = 5  # lines of one part


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of a report.

    `taken`: `source` became the record. `changed`: something about it is not as the source had it,
    or another file changed with it. `left`: it was not taken. `present`: it was here before.
    """

    what: OutcomeKind
    # the file or folder, from the root where it is inside; with ` · ADR-0007` for one entry of
    # several
    source: str
    record: str | None
    reason: str
    style: str = ""  # how a document that was taken states its status
    is_unread: bool = False  # it was left out as its text, or its format, can't be read

    def as_dict(self) -> dict[str, object]:
        """Return the outcome as JSON shows it."""
        return {"source": self.source, "record": self.record, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class TakeoverReport:
    """What an import or a backfill did, or with `dry_run` would do."""

    format: str
    path: str
    dry_run: bool
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()
    overlooked: tuple[str, ...] = ()
    """Ids of the live records that were made and that no edit shows."""
    steps: tuple[str, ...] = ()
    """Commands that take more decisions, for where none was taken."""
    styles: Mapping[str, int] = field(default_factory=dict)
    """How many documents state their status in each style."""

    def of(self, what: OutcomeKind) -> list[Outcome]:
        """Return the outcomes of one sort, in the order they came."""
        return [outcome for outcome in self.outcomes if outcome.what == what]

    @property
    def records(self) -> tuple[str, ...]:
        """Ids of the records that were made."""
        return tuple(outcome.record for outcome in self.of("taken") if outcome.record is not None)

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        data: dict[str, object] = {
            "format": self.format,
            "path": self.path,
            "dry_run": self.dry_run,
            "counts": {what: len(self.of(what)) for what in ORDER},
        }
        for what in ORDER:
            data[what] = [outcome.as_dict() for outcome in self.of(what)]

        data["notes"] = list(self.notes)
        data["styles"] = dict(self.styles)
        data["shown_at_no_edit"] = list(self.overlooked)
        return data

    def text(self, *, verbose: bool = False) -> str:
        """Return the report for people: counts, each part in a few lines or with `verbose` in all,
        what to do next.
        """
        parts = self._parts()
        lines = [f"{self.path}{self._form()}: {self._counts(parts)}"]
        for title, outcomes in parts.items():
            if outcomes:
                lines += ["", f"{title[0].upper()}{title[1:]}:"]
                lines += _all(outcomes) if verbose else _first(outcomes)

        if self.notes:
            lines += ["", *self.notes]

        return "\n".join([*lines, "", f"next: {self._next_step()}"])

    def _parts(self) -> dict[str, list[Outcome]]:
        would = "would be " if self.dry_run else ""
        changed = self.of("changed")
        return {
            f"{would}taken": self.of("taken"),
            self._asked: [outcome for outcome in changed if outcome.record is not None],
            f"{would}left out": self.of("left"),
            f"{would}changed elsewhere": [each for each in changed if each.record is None],
        }

    @property
    def _asked(self) -> str:
        would = "would be " if self.dry_run else ""
        if self.records:
            return f"{would}taken, with a question"

        return f"{would}changed"

    def _counts(self, parts: Mapping[str, Sequence[Outcome]]) -> str:
        counts: list[str] = []
        for title, outcomes in parts.items():
            if title != self._asked and outcomes:
                counts.append(f"{len(outcomes)} {title}")
            elif outcomes and self.records:
                number = len({outcome.record for outcome in outcomes})
                counts[0] += f", {number} of them with a question"
            elif outcomes:
                counts.insert(0, f"{len(outcomes)} {title}")

        present = len(self.of("present"))
        if present:
            counts.append(f"{present} already here")

        return "; ".join(counts) or "nothing to take"

    def _form(self) -> str:
        """Return where the documents state their status, or another format, in brackets."""
        styles = ", ".join(f"{count} {_STYLES[style]}" for style, count in self.styles.items())
        form = styles or self.format
        if form == NO_FORMAT:
            return ""

        return f" ({form})"

    def _next_step(self) -> str:
        if self.dry_run and any(self.of(what) for what in ("taken", "changed")):
            return "the same command without `--dry-run`"
        if any(map(_is_unstated, self.outcomes)):
            return "`orbit accept --status unknown`, if you follow all that state no status"
        if self.steps and not self.records:
            return ", then ".join(f"`{step}`" for step in self.steps)
        if not self.outcomes:
            return '`orbit adr new "Title"`'
        if not self.records:
            if self.of("present"):
                return "`orbit list`"

            return '`orbit adr new "Title"`'
        if self.format == "lessons":
            return "`orbit check`, then `orbit learning list`"
        if self.format == "orbit":  # its records name their files
            return "`orbit check`, then `orbit list`"

        if any("; say where " in note for note in self.notes):
            return "`orbit check`"  # there is no suggestion

        return "`orbit check`, then `orbit scope suggest`: which files the decisions apply to"


def _by_reason(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.reason].append(outcome)
    return sorted(
        groups.items(), key=lambda group: (not _is_about_status(group[0]), -len(group[1]))
    )


def _is_about_status(reason: str) -> bool:
    """Say whether a reason asks about a status, which decides what agents are shown."""
    return UNKNOWN in reason or "is that right?" in reason


def _all(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for reason, group in _by_reason(outcomes):
        if len(group) == 1 or not reason:
            yield from (f"  {_with_reason(outcome)}" for outcome in group)
            continue

        yield f"  {len(group)} × {reason}"
        yield from (f"    {_line(outcome)}" for outcome in group)


def _first(outcomes: Sequence[Outcome]) -> Iterator[str]:
    unstated = [outcome for outcome in outcomes if outcome.reason == UNSTATED]
    lines = [(f"{len(unstated)} × no status stated", len(unstated))] if unstated else []
    for reason, group in _by_reason([each for each in outcomes if each.reason != UNSTATED]):
        if len(group) > 1 and reason:
            lines.append((f"{len(group)} × {reason} ({group[0].source}, …)", len(group)))
        else:
            lines += ((_with_reason(outcome), 1) for outcome in group)

    yield from (f"  {line}" for line, _ in lines[:_LISTED])
    remaining = sum(number for _, number in lines[_LISTED:])
    if remaining:
        yield f"  and {remaining} more: --verbose"


def _is_unstated(outcome: Outcome) -> bool:
    return outcome.reason == UNSTATED


def _is_unclear(outcome: Outcome) -> bool:
    return UNKNOWN in outcome.reason and not _is_unstated(outcome)


def _with_reason(outcome: Outcome) -> str:
    if outcome.reason:
        return f"{_line(outcome)}: {outcome.reason}"

    return _line(outcome)


def _line(outcome: Outcome) -> str:
    if outcome.record:
        return f"{outcome.source} → {outcome.record}"

    return outcome.source


NO_ENTRY = (
    "no entry is read: an entry is a heading with a number, a date or a status below it, such as "
    "`## ADR-1: Title`, or a row of a table with the columns `Decision` and `Status`"
)
"""Why a log has nothing to adopt."""
NOT_READ = "not Markdown"
READS_LIKE_ONE = (
    "it reads like a decision, but neither its name nor its folder says so: name it to take it over"
)
EXAMPLE = "an example of tests, or of another project; name its folder to take it over"
MEMORY = "an agent's memory or rules"
UNKNOWN = "so it is `unknown`"  # how the reason of each decision ends whose status is not known
UNSTATED = f"the document states no status, {UNKNOWN}"
_RENAME = "nothing to do; if it is a decision, rename it"
_LATER = "the next `orbit adr backfill` makes it once that decision has a record"
_BY_HAND = "`orbit link`, or `orbit adr supersede`, makes it by hand"
_STEPS = {
    "empty": "nothing to do until it is written",
    "a template": _RENAME,
    "a template, by its title": "nothing to do; if it is a decision, give it another title",
    "an index or a guide, by its name": _RENAME,
    "no status and no section that holds a decision": (
        "nothing to do; if it is a decision, a section `## Decision` in it makes it one"
    ),
    (
        "it holds no decision"
    ): "nothing to do; if it is one, a section `## Decision` in it makes it one",
    "a symbolic link": "nothing to do; the document is read at its path",
    "a symbolic link to a file that does not exist": "correct the link, or remove it",
    "a symbolic link out of the repository": "put the document itself there, or remove the link",
    "it is outside this repository": "nothing to do; the record keeps it",
    "no decision is there": _LATER,
    "no decision has that number or name": _LATER,
    "the link's target holds several decisions": _BY_HAND,
    "the number is that of several decisions": _BY_HAND,
    "several decisions have that name": _BY_HAND,
    **dict.fromkeys(
        PLACE_REASONS, "if it is a decision, `orbit import` with the file's own name imports it"
    ),
}


def format_of(styles: Mapping[str, int]) -> str:
    """Return the format that most of the documents have, by where they state their status."""
    if not styles:
        return NO_FORMAT

    nygard = sum(count for style, count in styles.items() if style in _IN_SECTIONS)
    if 2 * nygard > sum(styles.values()):
        return "nygard"

    return "madr"


def replaced_question(record: Record, later: Sequence[Record]) -> str:
    """Ask about a record that says it is accepted although the document of another one says that
    it replaces it.
    """
    names = " and ".join(successor.id for successor in later)
    status = f"its status is {record.stated_status.word}"
    if record.stated_status.name == "unknown":
        status = "it states no status"

    claim = f"{names} {'say' if len(later) > 1 else 'says'} that it is replaced"
    commands = " and ".join(f"`{_supersede(record, successor)}`" for successor in later)
    return (
        f"{status}, but {claim}, so agents see {names} "
        f"alone; is that right? Then run {commands}; if not, correct the document of {names}"
    )


def _supersede(record: Record, successor: Record) -> str:
    return f"orbit {record.kind.name} supersede {record.id} --with {successor.id}"


def with_step(reason: str) -> str:
    """Return why a document was left out, and what to do, where the reason says that."""
    step = _STEPS.get(reason)
    if step:
        return f"{reason}; {step}"

    return reason


def reason_for_none(file: AdrFile) -> str:
    """Return why a document that was read has no decision, and what to do."""
    if file.format == "log":
        return NO_ENTRY
    return with_step(file.skipped_reason or "it holds no decision")


def link_command(record: str, rel: str) -> str:
    """Return the command that makes a link which no document states clearly; `…` is the other
    record.
    """
    if rel == "supersedes":
        return f"orbit adr supersede … --with {record}"
    if rel == "superseded_by":
        return f"orbit adr supersede {record} --with …"

    return f"orbit link {record} {rel} …"


def reason_of_error(error: OrbitError, path: str, root: str) -> str:
    """Return why a document can't be read, without the place of the project on this machine,
    and what to do.
    """
    message = error.message.replace(root, "").removeprefix(path).removeprefix(":").strip()
    if error.hint:
        return f"{message}; {error.hint}"

    return message


def status_notes(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield how many decisions state no status, with the commands that settle them at once, and
    how many state one that is not known.
    """
    outcomes = list(outcomes)
    number = sum(map(_is_unstated, outcomes))
    if number:
        decisions = plural(number, "decision")
        yield (
            f"no status for {decisions}: `orbit accept --status unknown` accepts them all and "
            "writes it into their documents; an import with `--assume accepted` changes no document"
        )

    unclear = sum(map(_is_unclear, outcomes))
    if unclear:
        state, them = ("states", "it") if unclear == 1 else ("state", "each")
        yield (
            f"{plural(unclear, 'decision')} {state} a status that Orbit does not know: "
            f"read {them}, then `orbit accept ID`, or `reject`; `orbit review` lists them"
        )
