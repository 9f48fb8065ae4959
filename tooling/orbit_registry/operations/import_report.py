"""Report of an import: what became of each document, and what to do with those left out."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.classifier import PLACE_REASONS

OutcomeKind = Literal["taken", "changed", "left", "present"]
ORDER: tuple[OutcomeKind, ...] = ("taken", "changed", "left", "present")
PathMoves = Sequence[tuple[str, str]]
"""Files or folders that were renamed: how each was called and how it is called now, from the root."""
_WORDS = {"taken": "taken", "changed": "changed on the way", "left": "left", "present": "already here"}
_WOULD = {"taken": "would be taken", "changed": "would change", "left": "would be left", "present": "already here"}
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of a report.

    `taken`: `source` became the record. `changed`: something about it is not as the source had it, or another file
    changed with it. `left`: it was not taken. `present`: it was here before.
    """

    what: OutcomeKind
    source: str
    """The file or folder, from the root where it is inside; with ` · ADR-0007` for one entry of several."""
    record: str | None
    reason: str

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

    def of(self, what: OutcomeKind) -> list[Outcome]:
        """Return the outcomes of one sort, in the order they came."""
        return [outcome for outcome in self.outcomes if outcome.what == what]

    @property
    def records(self) -> tuple[str, ...]:
        """Ids of the records that were made."""
        return tuple(outcome.record for outcome in self.of("taken") if outcome.record is not None)

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        return {
            "format": self.format,
            "path": self.path,
            "dry_run": self.dry_run,
            "counts": {what: len(self.of(what)) for what in ORDER},
            **{what: [outcome.as_dict() for outcome in self.of(what)] for what in ORDER},
            "notes": list(self.notes),
        }

    def text(self, listed: int = _LISTED) -> str:
        """Return the report for people: counts, then what was done; of one sort and reason `listed` are named."""
        words = _WOULD if self.dry_run else _WORDS
        counts = ", ".join(f"{len(self.of(what))} {words[what]}" for what in ORDER)
        lines = [f"{self.path} ({self.format}): {counts}"]
        for what in ORDER[:3]:
            outcomes = self.of(what)
            if outcomes:
                lines += ["", f"{words[what][:1].upper()}{words[what][1:]}:", *_grouped(outcomes, listed)]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)


def _grouped(outcomes: Sequence[Outcome], listed: int) -> Iterable[str]:
    """Yield a line an outcome, or, where many share their reason, the reason with the first of them."""
    by_reason: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_reason[outcome.reason].append(outcome)
    for reason, group in by_reason.items():
        if len(group) == 1:
            yield f"  {_line(group[0])}: {reason}" if reason else f"  {_line(group[0])}"
            continue
        yield f"  {len(group)} × {reason or 'as it stands'}"
        yield from (f"    {_line(outcome)}" for outcome in group[:listed])
        if len(group) > listed:
            yield f"    … and {len(group) - listed} more (`--format json` lists all)"


def _line(outcome: Outcome) -> str:
    return f"{outcome.source} → {outcome.record}" if outcome.record else outcome.source


NOT_READ = "not Markdown"
UNKNOWN = "so it is `unknown`"
"""How the reason of each decision ends whose status is not known."""
_TO_MARKDOWN = {
    ".rst": "pandoc -f rst -t gfm {path} -o {stem}.md",
    ".org": "pandoc -f org -t gfm {path} -o {stem}.md",
    ".adoc": "downdoc {path}",
    ".asciidoc": "downdoc {path}",
}
"""The usual programs that make Markdown of a format, which is not read here."""
_FOLDERS = 3
"""Folders that a command names one by one."""
_RENAME = "nothing to do; where it is a decision, rename it"
_LATER = "the next `orbit adr backfill` makes it once that decision has a record"
_BY_HAND = "`orbit link`, or `orbit adr supersede`, makes it by hand"
_STEPS = {
    "empty": "nothing to do until it is written",
    "a template": _RENAME,
    "a template, by its title": "nothing to do; where it is a decision, give it a title of its own",
    "an index or a guide, by its name": _RENAME,
    "no status and no section that holds a decision": (
        "nothing to do; where it is a decision, a section `## Decision` in it makes it one"
    ),
    "it holds no decision": "nothing to do; where it is one, a section `## Decision` in it makes it one",
    "a symbolic link": "nothing to do; the document is read where it stands",
    "it is outside this repository": "nothing to do; the record keeps it",
    "no decision is there": _LATER,
    "no decision has that number or name": _LATER,
    "the link's target holds several decisions": _BY_HAND,
    "the number is that of several decisions": _BY_HAND,
    "several decisions have that name": _BY_HAND,
    **dict.fromkeys(PLACE_REASONS, "where it is a decision, `orbit import` with the file's own name takes it over"),
}
_OF_EXPERIENCE = re.compile(
    r"(?:^|.*[/_. -])(?:lessons[-_ ]learn(?:ed|t)|learnings|post[-_]?mortems?|retro(?:spective)?s?|runbooks?)[/_. -].*$"
    r"|(?:.*/)?lessons\.md$",
    re.IGNORECASE,
)
"""How people name what they have learned, what failed and what to do then: `LESSONS.md`, `docs/postmortems/`."""
_DECIDES_NOTHING = ("no status and no section", "it holds no decision", "a status, as pages")
"""Parts of the reasons for which a document that could be read is left."""


def with_step(reason: str, which: str = "") -> str:
    """Return why a document was left out, `which` others it is about, and what to do, where the reason says that."""
    step = _STEPS.get(reason)
    return f"{reason}{which}; {step}" if step else f"{reason}{which}"


def reason_of_error(error: OrbitError, path: str, root: str) -> str:
    """Return why a document can't be read, without the place of the project on this machine, and what to do."""
    message = error.message.replace(root, "").removeprefix(f"{path}:").strip()
    return f"{message}; {error.hint}" if error.hint else message


def learning_notes(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield how to go on with lessons, postmortems, retrospectives and runbooks: they are records of other kinds."""
    skipped = [entry for entry in outcomes if entry.what == "left" and _OF_EXPERIENCE.match(entry.source)]
    paths = [outcome.source for outcome in skipped if any(reason in outcome.reason for reason in _DECIDES_NOTHING)]
    if paths:
        first = shlex.quote(min(paths, key=lambda path: path.count("/")))
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield (
            f"{first}{others}: lessons, postmortems or runbooks, by their names; `orbit learning add` writes down what "
            f"holds, `orbit import doc {first}` keeps one findable as it is"
        )


def markdown_notes(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield how to go on with decisions that are not Markdown, for each format with the commands for all of them."""
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.reason.startswith(f"{NOT_READ} (") and outcome.reason.endswith(")"):
            by_reason.setdefault(outcome.reason, []).append(outcome.source)
    for reason, paths in by_reason.items():
        stem, suffix = posixpath.splitext(paths[0])
        path, stem, start, end = shlex.quote(paths[0]), shlex.quote(stem), "", ""
        number, those, purpose = "1 decision is", "one", "keeps one findable as it is"
        if len(paths) > 1:
            path, stem = '"$file"', '"${file%.*}"'
            start, end = f"for file in {' '.join(_patterns(paths, suffix))}; do ", "; done"
            number, those, purpose = f"{len(paths)} decisions are", "them", "keeps them findable as they are"
        command = _TO_MARKDOWN.get(suffix.lower(), "").format(path=path, stem=stem)
        way = f"`{start}{command}{end}` makes Markdown of {those}, to import then"
        way = way if command else "write them as Markdown to import them"
        yield f"{number} {reason}: {way}; `{start}orbit import doc {path}{end}` {purpose}"


def _patterns(paths: Iterable[str], suffix: str) -> list[str]:
    folders = sorted({posixpath.dirname(path) for path in paths})
    names = [shlex.quote(folder) for folder in folders]
    if len(folders) > _FOLDERS:
        parents = sorted({posixpath.dirname(folder) for folder in folders})
        names = [f"{shlex.quote(parent)}/*" if parent else "*" for parent in parents]
    return [f"{name}/*{suffix}" if name != "''" else f"*{suffix}" for name in names]


def status_notes(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield how many decisions state no status that is known, and the commands that settle them at once."""
    number = sum(UNKNOWN in outcome.reason for outcome in outcomes)
    if number:
        decisions = "1 decision" if number == 1 else f"{number} decisions"
        yield (
            f"the status of {decisions} is unknown: `orbit adr accept --status unknown` accepts them all, and an "
            f"import with `--assume accepted` those whose document states none"
        )
