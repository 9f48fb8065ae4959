"""The report of an import of documents: what became of each, and notes on what to do next."""

import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from orbit_registry.errors import plural
from orbit_registry.operations.document_facts import is_of_feature
from orbit_registry.operations.import_report import (
    EXAMPLE,
    MEMORY,
    NO_ENTRY,
    NOT_READ,
    READS_LIKE_ONE,
    Outcome,
    TakeoverReport,
    format_of,
    status_notes,
)
from orbit_registry.workspace.workspace import ORBIT, Workspace

STORES: Mapping[str, tuple[str, ...]] = {
    ".claude/learnings": (".yaml", ".yml", ".json", ".md", ".markdown"),
    ".reasonix/lessons": (".md", ".markdown", ".yaml", ".yml", ".json"),
}
"""The folder of each store of lessons that other tools keep, and the suffixes of its files, also of
those in its subfolders.
"""
_HINTS = 3  # folders that notes name
_FOLDERS = 3  # folders that a command names one by one
_TO_MARKDOWN = {
    ".rst": "pandoc -f rst -t gfm {path} -o {stem}.md",
    ".org": "pandoc -f org -t gfm {path} -o {stem}.md",
    ".adoc": "downdoc {path}",
    ".asciidoc": "downdoc {path}",
}
"""The usual programs that make Markdown of a format, which is not read here."""
_OF_EXPERIENCE = re.compile(
    r"(?:^|.*[/_. -])(?:lessons[-_ "
    r"]learn(?:ed|t)|learnings|post[-_]?mortems?|retro(?:spective)?s?|runbooks?)[/_. -].*$"
    r"|(?:.*[/_. -])?lessons\.md$",
    re.IGNORECASE,
)
"""How people name what they have learned, what failed and what to do then:
`LESSONS.md`, `docs/postmortems/`.
"""
OF_LESSONS = re.compile(
    r"(?:.*[/_. -])?(?:lessons?(?:[-_ ]learn(?:ed|t))?|learnings?|gotchas|pitfalls)"
    r"\.(?:md|markdown)$",
    re.IGNORECASE,
)
"""A file whose name says that it lists lessons: `tasks/lessons.md`."""
_DECIDES_NOTHING = ("no status and no section", "it holds no decision", "a status, as pages")
"""Parts of the reasons for which a document that could be read is left."""


@dataclass(frozen=True, slots=True)
class Project:
    """What notes say of a project besides the outcomes."""

    is_folder: bool
    """Whether a folder is imported."""
    log: str | None
    """The main log."""
    design: str
    """The folder of features."""
    dropped: Sequence[tuple[str, str]]
    """Documents that are not Markdown, and a fact in each that a conversion leaves out."""
    stores: Sequence[str]
    """Stores of lessons of other tools."""

    @classmethod
    def of(cls, workspace: Workspace, within: str, dropped: Sequence[tuple[str, str]]) -> Self:
        """Return what notes say of the project at a path from its root."""
        config = workspace.config
        stores = [name for name in STORES if within == "." and (workspace.root / name).is_dir()]
        is_folder = (workspace.root / within).is_dir()
        return cls(is_folder, config.adr.log, config.design, dropped, stores)


def report(
    path: str, outcomes: Sequence[Outcome], project: Project, *, dry_run: bool
) -> TakeoverReport:
    """Return the report of an import of the documents at a path."""
    steps: list[str] = []
    notes = [*_like_decisions(outcomes, steps), *_stores(project, steps)]
    notes += _examples(outcomes)
    notes += _not_markdown(outcomes)
    notes += _dropped(project)

    taken = any(outcome.what in ("taken", "present") for outcome in outcomes)
    if not notes and not taken and project.is_folder:
        notes.append("no decision was found; name its folder or file if one is there")

    notes += status_notes(outcomes)
    notes += _unread_logs(outcomes)
    notes += _memory(outcomes)
    notes += _experience(outcomes)
    notes += _new_log(outcomes, project)
    styles = Counter(outcome.style for outcome in outcomes if outcome.style)
    return TakeoverReport(
        format_of(styles),
        path,
        dry_run,
        tuple(outcomes),
        tuple(notes),
        steps=tuple(steps),
        styles=dict(styles.most_common()),
    )


def _like_decisions(outcomes: Iterable[Outcome], steps: list[str]) -> Iterator[str]:
    """Yield a note on each folder whose documents read like decisions."""
    below: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.reason == READS_LIKE_ONE:
            below[outcome.source.partition("/")[0]].append(outcome.source)

    for members in sorted(below.values(), key=len, reverse=True)[:_HINTS]:
        folder = posixpath.commonpath(members) if len(members) > 2 else ""
        if folder:
            steps.append(f"orbit import {shlex.quote(folder)}")
            documents = plural(len(members), "document")
            yield f"{documents} in {folder} read like decisions: `{steps[-1]}` takes them"


def _stores(project: Project, steps: list[str]) -> Iterator[str]:
    for store in project.stores:
        steps.append(f"orbit import {store}")
        yield f"{store} has lessons of another tool: `{steps[-1]}` makes learnings of them"


def _examples(outcomes: Iterable[Outcome]) -> Iterator[str]:
    folders = {posixpath.dirname(each.source) for each in outcomes if each.reason == EXAMPLE}
    for folder in sorted(folders)[:_HINTS]:
        yield f"`orbit import {shlex.quote(folder)}` takes the decisions there"


def _not_markdown(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield what to do with decisions that are not Markdown, for each format the command."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.reason.startswith(f"{NOT_READ} (") and outcome.reason.endswith(")"):
            by_reason[outcome.reason].append(outcome.source)

    for reason, paths in by_reason.items():
        suffix = posixpath.splitext(paths[0])[1]
        if suffix.lower() not in (*_TO_MARKDOWN, ".mdx", ".txt"):
            yield _no_document(paths[0])
            continue

        number = plural(len(paths), "decision is", "decisions are")
        path = shlex.quote(paths[0])
        stem = shlex.quote(posixpath.splitext(paths[0])[0])
        loop, end, those, purpose = "", "", "one", "keeps a copy that search finds"
        if len(paths) > 1:
            path, stem = '"$file"', '"${file%.*}"'
            loop, end = f"for file in {' '.join(_patterns(paths, suffix))}; do ", "; done"
            those, purpose = "them", "keeps copies that search finds"

        command = _TO_MARKDOWN.get(suffix.lower(), "").format(path=path, stem=stem)
        way = "write them as Markdown to import them"
        if command:
            way = f"`{loop}{command}{end}` makes Markdown of {those}, to import then"

        yield f"{number} {reason}: {way}; `{loop}orbit import doc {path}{end}` {purpose}"


def _no_document(path: str) -> str:
    quoted = shlex.quote(path)
    return (
        f"{path} is not a decision: decisions are Markdown files (.md); `orbit import script "
        f"{quoted}` makes it a resource, `orbit import doc {quoted}` keeps a copy that search finds"
    )


def _patterns(paths: Iterable[str], suffix: str) -> list[str]:
    folders = sorted({posixpath.dirname(path) for path in paths})
    names = [shlex.quote(folder) for folder in folders]
    if len(folders) > _FOLDERS:
        parents = sorted({posixpath.dirname(folder) for folder in folders})
        names = [f"{shlex.quote(parent)}/*" if parent else "*" for parent in parents]

    return [f"{name}/*{suffix}" if name != "''" else f"*{suffix}" for name in names]


def _dropped(project: Project) -> Iterator[str]:
    if project.dropped:
        path, line = project.dropped[0]
        yield (
            f"`{line}` in {path}{_others(project.dropped)}: the program that makes Markdown leaves "
            "such lines out; write them below the title of the Markdown, as `Status: …` and "
            "`Date: …`"
        )


def _others(items: Sequence[object]) -> str:
    if len(items) > 1:
        return f" and {len(items) - 1} more"

    return ""


def _unread_logs(outcomes: Iterable[Outcome]) -> Iterator[str]:
    paths = [outcome.source for outcome in outcomes if outcome.reason == NO_ENTRY]
    if paths:
        first = _highest(paths)
        yield (
            f"{first}{_others(paths)}: a log whose entries are not read; number its headings to "
            f"import them, `orbit import doc {first}` keeps a copy that search finds"
        )


def _memory(outcomes: Iterable[Outcome]) -> Iterator[str]:
    paths = [outcome.source for outcome in outcomes if outcome.reason == MEMORY]
    if paths:
        first = _highest(paths)
        yield (
            f"{first}{_others(paths)}: what agents are to know; `orbit learning new` or `orbit "
            f"rule new` writes down what holds, `orbit import doc {first}` keeps a copy that "
            "search finds"
        )


def _experience(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield what to do with lessons, postmortems, retrospectives and runbooks:
    they are records of other kinds.
    """
    paths: list[str] = []
    for outcome in outcomes:
        is_left = outcome.what == "left" and _OF_EXPERIENCE.match(outcome.source)
        if is_left and any(reason in outcome.reason for reason in _DECIDES_NOTHING):
            paths.append(outcome.source)

    lessons = [path for path in paths if OF_LESSONS.match(path)]
    if lessons:
        first = _highest(lessons)
        yield (
            f"{first}{_others(lessons)}: lessons, by the name; `orbit import {first} --from "
            "lessons` makes learnings of them"
        )

    paths = [path for path in paths if path not in lessons]
    if paths:
        first = _highest(paths)
        yield (
            f"{first}{_others(paths)}: lessons, postmortems or runbooks, by their names; `orbit "
            f"learning new` writes down what holds, `orbit import doc {first}` keeps a copy that "
            "search finds"
        )


def _highest(paths: Iterable[str]) -> str:
    """Return the first of the paths with the fewest folders, for a command."""
    return shlex.quote(min(paths, key=lambda path: path.count("/")))


def _new_log(outcomes: Iterable[Outcome], project: Project) -> Iterator[str]:
    """Yield how new decisions can go into a log that was imported."""
    outcomes = list(outcomes)
    if any(each.reason.startswith("adr.log is") for each in outcomes if each.what == "changed"):
        return

    taken = [each.source.partition(" · ") for each in outcomes if each.what == "taken"]
    logs = {path for path, mark, _ in taken if mark and not is_of_feature(path, project.design)}
    logs.discard(project.log or "")
    if logs:
        target = project.log or "files of their own"
        yield (
            f"new decisions go into {target}; `adr.log: {min(logs)}` in {ORBIT}/config.yaml "
            "puts them into that log"
        )
