"""Which files below a path an import reads, and why each other one that may hold a decision is left
out.
"""

import contextlib
import os
import posixpath
import re
from dataclasses import dataclass, field

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    is_decision_folder,
    is_example,
    is_log_name,
    is_request_folder,
    read_name,
)
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.links import SUFFIXES, is_markdown
from orbit_registry.operations.adr_folders import named_folders
from orbit_registry.operations.import_report import (
    EXAMPLE,
    MEMORY,
    NOT_READ,
    READS_LIKE_ONE,
    Outcome,
    reason_for_none,
    reason_of_error,
    with_step,
)
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    SKIPPED_FOLDERS,
    built_sites,
    read_text,
    walk,
)
from orbit_registry.workspace.workspace import ORBIT, Workspace

_OTHER_TEXT = (".rst", ".adoc", ".asciidoc", ".org", ".txt", ".mdx")
_MARKED_UP = (".rst", ".adoc", ".asciidoc", ".mdx")
"""Formats whose headings can be read as those of Markdown."""
_ADOC_HEADING = re.compile(r"^={1,5}(?=[ ])", re.MULTILINE)
_RST_FIELD = re.compile(r"^:(?=[A-Za-z][\w -]{1,30}:)", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"^:(?:status|state|rev-?date|date|deciders?|authors?|superse\w+|id|number):[ \t]*\S.{0,60}",
    re.IGNORECASE | re.MULTILINE,
)
"""A fact that the programs that make Markdown leave out: `:status: accepted`."""
_HEAD = 4_000  # characters of a document that may hold its attributes
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,10}$")
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
_BUILT_SITE = "a built site, whose pages are copies; nothing to do"
_SUBMODULE = "another repository within this one: import its decisions there"


@dataclass(slots=True)
class Choice:
    """The documents that an import reads, and what becomes of the other files."""

    documents: list[str] = field(default_factory=list)
    left: list[Outcome] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    """Documents that are not Markdown, and a fact in each that a conversion leaves out."""


def choose(workspace: Workspace, within: str) -> Choice:
    """Return which files at a path from the root are read; `.` is the whole project."""
    if (workspace.root / within).is_file():
        return Choice([within])

    folder = "" if within == "." else within
    choice = Choice()
    files = _files(workspace, folder)
    sites = built_sites(files, workspace.root)
    choice.left += (Outcome("left", site, None, _BUILT_SITE) for site in sites)

    files = [path for path in files if not path.startswith(sites)]
    folders_of_tools = tuple(f"{name}/" for name in named_folders(workspace.root))
    decision_folders = {
        posixpath.dirname(path) for path in files if is_markdown(path) and _is_of_decisions(path)
    }

    for path in files:
        if not is_markdown(path):
            reason = _other_reason(workspace, path, choice)
        elif (workspace.root / path).is_symlink():
            reason = _link_reason(workspace, path)
        else:
            reason = ""
            if not folder and not path.startswith(folders_of_tools):
                is_neighbour = posixpath.dirname(path) in decision_folders
                reason = _doubt(workspace, path, is_neighbour)

            if not reason and _is_example(path, folder) and _reads_like_one(workspace, path):
                reason = EXAMPLE

        if reason:
            is_unread = reason.startswith(NOT_READ) and reason.endswith(")")
            choice.left.append(Outcome("left", path, None, reason, is_unread=is_unread))
        elif is_markdown(path):
            choice.documents.append(path)

    return choice


def _files(workspace: Workspace, folder: str) -> list[str]:
    if workspace.git.top is not None:
        options = ("--cached", "--others", "--exclude-standard", "--", folder or ".")
        with contextlib.suppress(GitError):
            names = {*workspace.git.run_names("ls-files", "-z", *options)}
            skipped = SKIPPED_FOLDERS | {ORBIT}
            present = (name for name in names if os.path.lexists(workspace.root / name))
            return sorted(name for name in present if not skipped & set(name.split("/")))

    return sorted(walk(workspace.root, folder, without=frozenset({ORBIT})))


def _is_of_decisions(path: str) -> bool:
    """Say whether a file's name or folder says that it is a decision."""
    folder, _, name = path.rpartition("/")
    parsed = read_name(posixpath.splitext(name)[0])
    is_numbered = parsed is not None and parsed.number is not None and parsed.is_decisions
    if is_numbered and parsed is not None and (parsed.lead or parsed.title):
        return True

    return any(is_decision_folder(part) or is_request_folder(part) for part in folder.split("/"))


def _other_reason(workspace: Workspace, path: str, choice: Choice) -> str:
    """Return why a file that is not Markdown is left out;
    empty if it does not look like a decision.
    """
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in _MARKED_UP and _has_markdown(workspace, path):
        return ""

    if suffix not in _OTHER_TEXT and _is_without_suffix(workspace, path):
        name = posixpath.basename(path)
        return f"its name has no suffix `.md`; rename it to {name}.md to import it"

    if suffix in _MARKED_UP and not _reads_like_one(workspace, path):
        return f"not Markdown ({suffix}), and it does not read like a decision; nothing to do"

    if suffix in _MARKED_UP or (suffix in _OTHER_TEXT and _is_of_decisions(path)):
        attribute = _ATTRIBUTE.search(_text(workspace, path)[:_HEAD])
        if attribute is not None:
            choice.dropped.append((path, attribute.group().strip()))

        return f"{NOT_READ} ({suffix})"

    if _OF_AGENTS.match(path):
        return MEMORY

    if not suffix and (workspace.root / path / ".git").exists():
        return _SUBMODULE

    return ""


def _has_markdown(workspace: Workspace, path: str) -> bool:
    """Say whether a document was made Markdown of already, next to it."""
    stem = posixpath.splitext(path)[0]
    return any((workspace.root / f"{stem}{suffix}").is_file() for suffix in SUFFIXES)


def _is_without_suffix(workspace: Workspace, path: str) -> bool:
    """Say whether a file is a decision whose name lacks the suffix: `0009-use-a-queue`."""
    name = posixpath.basename(path)
    parsed = read_name(name)
    if parsed is None or not parsed.is_decisions or not parsed.title or _SUFFIX.search(name):
        return False

    return _is_of_decisions(path) and _reads_like_one(workspace, path)


def _reads_like_one(workspace: Workspace, path: str) -> bool:
    if (workspace.root / path).is_symlink():
        return False

    text = _ADOC_HEADING.sub(lambda match: "#" * len(match.group()), _text(workspace, path))
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    assumed_name = folder if name.lower() in GENERIC_NAMES else stem
    return bool(read_document(_RST_FIELD.sub("", text), f"{assumed_name}.md").entries)


def _text(workspace: Workspace, path: str) -> str:
    try:
        return read_text(workspace.root / path, limit=DOCUMENT_LIMIT)
    except OrbitError:
        return ""


def _link_reason(workspace: Workspace, path: str) -> str:
    link = "a symbolic link"
    if not (workspace.root / path).exists():
        link = "a symbolic link to a file that does not exist"
    elif not (workspace.root / path).resolve().is_relative_to(workspace.root.resolve()):
        link = "a symbolic link out of the repository"

    return with_step(link)


def _doubt(workspace: Workspace, path: str, is_neighbour: bool) -> str:
    """Return why a file outside folders of decisions is left out. Among files with names of
    decisions, a name with a date is enough for one that reads like a decision.
    """
    name = posixpath.basename(path)
    if name == LOG_NAME or _is_of_decisions(path):
        return ""

    try:
        file = read_document(read_text(workspace.root / path, limit=DOCUMENT_LIMIT), path)
    except OrbitError as error:
        return reason_of_error(error, path, f"{workspace.root}{os.sep}")

    stem = posixpath.splitext(name)[0]
    parsed = read_name(stem)
    is_dated = is_neighbour and parsed is not None and bool(parsed.dated)
    is_log = is_log_name(stem) and file.format == "log"
    if file.says_so or (file.entries and (is_dated or is_log)):
        return ""

    if _OF_AGENTS.match(path) and file.format != "log":
        return MEMORY

    if file.entries:
        return READS_LIKE_ONE

    return reason_for_none(file)


def _is_example(path: str, folder: str) -> bool:
    """Say whether a document is an example, by folders that the user did not name; in a folder
    of decisions that the user named, a document next to the others is one of them.
    """
    if any(map(is_decision_folder, folder.split("/"))):
        return False

    return is_example(path[len(folder) :])
