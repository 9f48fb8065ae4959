"""Import of decision documents in the formats of `formats.adr`:
choosing the files, adopting them, advice.
"""

import contextlib
import os
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import ForeignWorkspaceError, GitError, OrbitError, UsageError, plural
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    is_decision_folder,
    is_example,
    is_log_name,
    is_request_folder,
    read_name,
)
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.markdown import SUFFIXES, is_markdown
from orbit_registry.importers.lessons import STORES
from orbit_registry.operations import import_report
from orbit_registry.operations.adoption import adopt
from orbit_registry.operations.adr_folders import named_folders
from orbit_registry.operations.document_facts import is_of_feature
from orbit_registry.operations.document_plan import NO_ENTRY, reason_for_none
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    SKIPPED_FOLDERS,
    built_sites,
    read_text,
    walk,
)
from orbit_registry.workspace.workspace import ORBIT, Workspace, find_workspace

_OTHER_TEXT = (".rst", ".adoc", ".asciidoc", ".org", ".txt", ".mdx")
_MARKED_UP = (
    ".rst",
    ".adoc",
    ".asciidoc",
    ".mdx",
)  # formats whose headings can be read as Markdown's
_ADOC_HEADING = re.compile(r"^={1,5}(?=[ ])", re.MULTILINE)
_RST_FIELD = re.compile(r"^:(?=[A-Za-z][\w -]{1,30}:)", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"^:(?:status|state|rev-?date|date|deciders?|authors?|superse\w+|id|number):[ \t]*\S.{0,60}",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 4_000  # characters of a document that may hold its attributes
_OURS = frozenset({ORBIT})
_SAMPLE = 40
_HINTS = 3
_READS_LIKE_ONE = (
    "it reads like a decision, but neither its name nor its folder says so: name it to take it over"
)
_EXAMPLE = "an example of tests, or of another project; name its folder to take it over"
_OF_AGENTS = re.compile(
    r"(?:.*/)?(?:memory[-_]bank|\.cursor/rules|\.clinerules|\.roo/rules[\w-]*|\.windsurf/rules"
    r"|\.kiro/steering|\.beads"
    r"|\.claude|\.agents?|\.agent[-_]instructions|\.opencode|\.serena/memories"
    r"|\.github/(?:instructions|agents|prompts)"
    r")/.+\.(?:md|mdc|jsonl)$"
    r"|(?:.*/)?(?:agents|claude|gemini|\.github/copilot-instructions)\.md$|(?:.*/)?\.(?:cursor"
    r"|windsurf|cline)rules$",
    re.IGNORECASE,
)
"""Files where other tools keep instructions and memory of agents."""
_MEMORY = "an agent's memory or rules"
_BUILT_SITE = "a built site, whose pages are copies; nothing to do"
_SUBMODULE = "another repository within this one: import its decisions there"


@dataclass(frozen=True, slots=True)
class DocumentImporter:
    """Importer of decision documents."""

    name: str = "documents"

    def detects(self, path: Path) -> bool:
        """Say that any other file or folder may hold documents."""
        return True

    def run(
        self, path: Path, start: Path, *, assume: str | None, dry_run: bool
    ) -> import_report.TakeoverReport:
        """Make a record for each decision below `path` that has none."""
        workspace = _workspace_around(path)
        try:
            within = path.resolve().relative_to(workspace.root.resolve()).as_posix()
        except ValueError:
            raise UsageError(
                f"{path} is not in {workspace.root}", hint="documents are adopted in their folder"
            ) from None

        outcomes: list[import_report.Outcome] = []
        chosen = list(_select(workspace, "" if within == "." else within, outcomes))
        outcomes += adopt(workspace, chosen, by_name=[within], assume=assume, dry_run=dry_run)
        examples = sorted(
            {posixpath.dirname(each.source) for each in outcomes if each.reason == _EXAMPLE}
        )
        like = [outcome.source for outcome in outcomes if outcome.reason == _READS_LIKE_ONE]
        hints = [*_hints(like), *_store_hints(workspace, within)]
        notes = [note for note, _ in hints]
        notes += (
            f"`orbit import {shlex.quote(folder)}` takes the decisions there"
            for folder in examples[:_HINTS]
        )
        notes += import_report.markdown_notes(outcomes)
        notes += _dropped_notes(workspace, outcomes)

        if not notes and not any(outcome.what in ("taken", "present") for outcome in outcomes):
            notes = (
                []
                if path.is_file()
                else ["no decision was found; name its folder or file if one is there"]
            )

        notes += import_report.status_notes(outcomes)
        notes += [
            *_keep_hints(outcomes),
            *import_report.learning_notes(outcomes),
            *_log_hints(workspace, outcomes),
        ]
        styles = Counter(outcome.style for outcome in outcomes if outcome.style)
        return import_report.TakeoverReport(
            import_report.format_of(styles),
            within,
            dry_run,
            tuple(outcomes),
            tuple(notes),
            steps=tuple(command for _, command in hints),
            styles=dict(styles.most_common()),
        )


def _workspace_around(path: Path) -> Workspace:
    try:
        return find_workspace(path if path.is_dir() else path.parent)
    except ForeignWorkspaceError as error:  # its own hint would be to import
        if "orbit init" in error.hint:  # the records are of Orbit
            raise

        hint = (
            f"its {ORBIT}/ is of no tool that is known here: rename it, run `orbit init`, "
            f"then import again"
        )
        raise ForeignWorkspaceError(error.message, hint=hint) from None


def _hints(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield a note on each folder whose documents read like decisions, and the command for it."""
    below: dict[str, list[str]] = {}
    for path in paths:
        below.setdefault(path.partition("/")[0], []).append(path)

    for members in sorted(below.values(), key=len, reverse=True)[:_HINTS]:
        folder = posixpath.commonpath(members) if len(members) > 2 else ""
        if folder:
            command = f"orbit import {shlex.quote(folder)}"
            note = f"{plural(len(members), 'document')} in {folder} read like decisions"
            yield f"{note}: `{command}` takes them", command


def _store_hints(workspace: Workspace, within: str) -> Iterator[tuple[str, str]]:
    """Yield a note on each store of lessons in the project, and the command that takes it."""
    for store in STORES if not within or within == "." else ():
        if (workspace.root / store).is_dir():
            command = f"orbit import {store}"
            yield (
                f"{store} has lessons of another tool: `{command}` makes learnings of them",
                command,
            )


def _dropped_notes(
    workspace: Workspace, outcomes: Iterable[import_report.Outcome]
) -> Iterator[str]:
    """Yield what the programs that make Markdown leave out of documents: attributes with facts."""
    dropped: list[tuple[str, str]] = []
    for outcome in outcomes:
        if not outcome.reason.startswith(f"{import_report.NOT_READ} ("):
            continue

        try:
            text = read_text(workspace.root / outcome.source, limit=DOCUMENT_LIMIT)
        except OrbitError:
            continue

        attribute = _ATTRIBUTE.search(text[:_HEAD])
        if attribute is not None:
            dropped.append((outcome.source, attribute.group().strip()))

    if dropped:
        path, line = dropped[0]
        others = f" and {len(dropped) - 1} more" if len(dropped) > 1 else ""
        yield (
            f"`{line}` in {path}{others}: the program that makes Markdown leaves such lines out; "
            "write them below the title of the Markdown, as `Status: …` and `Date: …`"
        )


def _keep_hints(outcomes: Iterable[import_report.Outcome]) -> Iterator[str]:
    for reason, subject, advice in (
        (NO_ENTRY, "a log whose entries are not read", "number its headings to import them"),
        (
            _MEMORY,
            "what agents are to know",
            "`orbit learning new` or `orbit rule new` writes down what holds",
        ),
    ):
        sources = [outcome.source for outcome in outcomes if outcome.reason == reason]
        if sources:
            first = shlex.quote(min(sources, key=lambda path: path.count("/")))
            others = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
            yield (
                f"{first}{others}: {subject}; {advice}, `orbit import doc {first}` keeps a "
                f"copy that search finds"
            )


def _log_hints(workspace: Workspace, outcomes: Iterable[import_report.Outcome]) -> Iterator[str]:
    imported = [outcome.source.partition(" · ") for outcome in outcomes if outcome.what == "taken"]
    adr = workspace.config.adr
    logs = {
        path
        for path, mark, _ in imported
        if mark and not is_of_feature(path, workspace.config.design)
    } - {adr.log}
    if logs and not any(
        outcome.what == "changed" and outcome.reason.startswith("adr.log is")
        for outcome in outcomes
    ):
        target = adr.log or "files of their own"
        yield (
            f"new decisions go into {target}; `adr.log: {min(logs)}` in {ORBIT}/config.yaml "
            f"puts them into that log"
        )


def _select(
    workspace: Workspace, within: str, outcomes: list[import_report.Outcome]
) -> Iterator[str]:
    if within and (workspace.root / within).is_file():
        yield within
        return

    files = _files(workspace, within)
    sites = built_sites(files, workspace.root)
    outcomes += (import_report.Outcome("left", site, None, _BUILT_SITE) for site in sites)
    files = [path for path in files if not path.startswith(sites)]
    folders_of_tools = tuple(f"{folder}/" for folder in named_folders(workspace.root))
    decision_folders = {
        posixpath.dirname(path) for path in files if is_markdown(path) and _names_decisions(path)
    }

    for path in files:
        if not is_markdown(path):
            reason = _other_reason(workspace, path)
        elif (workspace.root / path).is_symlink():
            link = "a symbolic link"
            if not (workspace.root / path).exists():
                link = "a symbolic link to a file that does not exist"
            elif not (workspace.root / path).resolve().is_relative_to(workspace.root.resolve()):
                link = "a symbolic link out of the repository"

            reason = import_report.with_step(link)
        else:
            is_neighbour = posixpath.dirname(path) in decision_folders
            is_sure = bool(within) or path.startswith(folders_of_tools)
            reason = "" if is_sure else _skip_reason(workspace, path, is_neighbour)
            if not reason and _is_example(path, within) and _reads_like_one(workspace, path):
                reason = _EXAMPLE

        if reason:
            outcomes.append(import_report.Outcome("left", path, None, reason))
        elif is_markdown(path):
            yield path


def _is_example(path: str, within: str) -> bool:
    """Say whether a document is an example, by folders that the user did not name; in a folder
    of decisions that the user named, a document next to the others is one of them.
    """
    if any(map(is_decision_folder, within.split("/"))):
        return False

    return is_example(path[len(within) :])


def _other_reason(workspace: Workspace, path: str) -> str:
    """Return why a file that is not Markdown is left out;
    empty if it does not look like a decision.
    """
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in _MARKED_UP and _has_markdown(workspace, path):
        return ""
    if suffix not in _OTHER_TEXT and _is_without_suffix(workspace, path):
        return (
            f"its name has no suffix `.md`; rename it to {posixpath.basename(path)}.md to import it"
        )
    if suffix in _MARKED_UP and not _reads_like_one(workspace, path):
        return f"not Markdown ({suffix}), and it does not read like a decision; nothing to do"
    if suffix in _MARKED_UP or (suffix in _OTHER_TEXT and _names_decisions(path)):
        return f"{import_report.NOT_READ} ({suffix})"
    if _OF_AGENTS.match(path):
        return _MEMORY

    return _SUBMODULE if not suffix and (workspace.root / path / ".git").exists() else ""


def _has_markdown(workspace: Workspace, path: str) -> bool:
    """Say whether a document was made Markdown of already, next to it."""
    stem = posixpath.splitext(path)[0]
    return any((workspace.root / f"{stem}{suffix}").is_file() for suffix in SUFFIXES)


def _is_without_suffix(workspace: Workspace, path: str) -> bool:
    """Say whether a file is a decision whose name lacks the suffix: `0009-use-a-queue`."""
    name = posixpath.basename(path)
    parsed = read_name(name)
    is_text = re.search(r"\.[A-Za-z][A-Za-z0-9]{0,5}$", name) is None
    if parsed is None or not parsed.is_decisions or not parsed.title or not is_text:
        return False

    return _names_decisions(path) and _reads_like_one(workspace, path)


def _names_decisions(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    stem = posixpath.splitext(name)[0]
    parsed = read_name(stem)
    if (
        parsed is not None
        and parsed.number is not None
        and parsed.is_decisions
        and (parsed.lead or parsed.title)
    ):
        return True

    return any(is_decision_folder(part) or is_request_folder(part) for part in folder.split("/"))


def _reads_like_one(workspace: Workspace, path: str) -> bool:
    stem = posixpath.splitext(path)[0]

    if (workspace.root / path).is_symlink():
        return False

    try:
        text = read_text(workspace.root / path, limit=DOCUMENT_LIMIT)
    except OrbitError:
        return False

    text = _RST_FIELD.sub("", _ADOC_HEADING.sub(lambda match: "#" * len(match.group()), text))
    folder, _, name = stem.rpartition("/")
    assumed_name = folder if name.lower() in GENERIC_NAMES else stem
    return bool(read_document(text, f"{assumed_name}.md").entries)


def _skip_reason(workspace: Workspace, path: str, is_neighbour: bool) -> str:
    """Among files with names of decisions, a name with a date is enough for one that reads like a
    decision.
    """
    name = posixpath.basename(path)
    stem = posixpath.splitext(name)[0]

    if name == LOG_NAME or _names_decisions(path):
        return ""

    try:
        file = read_document(read_text(workspace.root / path, limit=DOCUMENT_LIMIT), path)
    except OrbitError as error:
        return import_report.reason_of_error(error, path, f"{workspace.root}{os.sep}")

    parsed = read_name(stem)
    is_dated = is_neighbour and parsed is not None and parsed.dated
    if file.in_series or (
        file.entries and (is_dated or (is_log_name(stem) and file.format == "log"))
    ):
        return ""

    if _OF_AGENTS.match(path) and file.format != "log":
        return _MEMORY

    return _READS_LIKE_ONE if file.entries else reason_for_none(file)


def _files(workspace: Workspace, within: str) -> list[str]:
    if workspace.git.top is not None:
        options = ("--cached", "--others", "--exclude-standard", "--", within or ".")
        with contextlib.suppress(GitError):
            names = {*workspace.git.run_names("ls-files", "-z", *options)}
            skipped = SKIPPED_FOLDERS | _OURS
            present = (name for name in names if os.path.lexists(workspace.root / name))
            return sorted(name for name in present if not skipped & set(name.split("/")))
    return sorted(walk(workspace.root, within, without=_OURS))


DOCUMENTS = DocumentImporter()
IMPORTERS = (DOCUMENTS,)
