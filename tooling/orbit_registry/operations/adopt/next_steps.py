"""Says what to do with each document that an adoption leaves out: one table, by the reason; it reads none."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.classifier import PLACE_REASONS
from orbit_registry.operations.import_report import Outcome

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
        number, result, purpose = "1 decision is", "Markdown of one", "keeps one findable as it is"
        if len(paths) > 1:
            path, stem = '"$file"', '"${file%.*}"'
            start, end = f"for file in {' '.join(_patterns(paths, suffix))}; do ", "; done"
            number, result, purpose = (
                f"{len(paths)} decisions are",
                "Markdown of them",
                "keeps them findable as they are",
            )
        command = _TO_MARKDOWN.get(suffix.lower(), "").format(path=path, stem=stem)
        way = "write them as Markdown to import them"
        if command:
            way = f"`{start}{command}{end}` makes {result}, to import then"
        yield f"{number} {reason}: {way}; `{start}orbit import doc {path}{end}` {purpose}"


def _patterns(paths: Iterable[str], suffix: str) -> list[str]:
    """Return what names files of many folders in a shell."""
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
