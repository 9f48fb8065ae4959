"""`orbit init`: create a workspace, or bring one up to date without losing what exists."""

from __future__ import annotations

import json
import posixpath
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_registry.errors import ForeignWorkspaceError, GitError, OrbitError, WorkspaceNotFoundError
from orbit_registry.formats.adr.file_names import home_folder, is_archive_folder, is_decision_folder, is_decision_name
from orbit_registry.formats.yaml import scalar_text
from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA
from orbit_registry.model.kind import KindTable
from orbit_registry.model.scope import TASK_SCHEMA
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.workspace.config import CONFIG_SCHEMA, FOREIGN_HINT, AdrConfig, config_of, config_schema
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes, read_text, walk, write_atomic
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace, has_only_state, open_workspace, user_home

DRIVER = "orbit-log"
GITIGNORE = (".orbit/state/", ".orbit/**/.tmp-*")
OWN_GITIGNORE = ("/state/", ".tmp-*")
"""The same from within `.orbit/`, where there is no repository yet whose file it could be."""
GITATTRIBUTES = (".orbit/**/votes.jsonl merge=union", f"**/{LOG_NAME} merge={DRIVER}")
FOREIGN_FOLDERS = frozenset(
    {"test", "tests", "testdata", "fixtures", "example", "examples", "samples", "vendor", "versioned_docs"}
)
"""Folders whose decisions are examples, or those of other projects."""
ADR_FOLDERS = (
    "docs/adr",
    "docs/adrs",
    "docs/decisions",
    "docs/architecture/decisions",
    "docs/architecture/adr",
    "doc/adr",
    "doc/architecture/decisions",
    "architecture/decisions",
    "adr",
    "adrs",
    ".decisions",
)


@dataclass(slots=True)
class SetupReport:
    """What `init` did, or would do: paths from the root."""

    root: Path
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    detected: AdrConfig | None = None
    driver: bool = False
    """Whether this clone's git was told of the merge driver, or would be."""
    baselined: int = 0
    """Findings that were there already and went into the baseline."""
    previous: dict[Path, bytes | None] = field(default_factory=dict)
    """What each written file held before; None where it is new."""
    is_new: bool = False
    """Whether there was no `.orbit/` before."""


def refuse_outside_git(folder: Path) -> None:
    """Refuse a folder outside git, except the home folder, which holds personal records, and an existing workspace."""
    root = folder.resolve()
    git = Git(root)
    if git.top is not None or (root / ORBIT / "config.yaml").exists():
        return
    if git.ask("rev-parse", "--is-inside-git-dir") == "true":
        raise WorkspaceNotFoundError(f"{root} is git's own folder", hint="run `orbit init` in a clone that has files")
    if root != user_home().resolve():
        hint = "run `git init` first; where there is a repository already, `git status` says what is wrong with it"
        raise WorkspaceNotFoundError(f"{root} is in no git repository, so nothing was written", hint=hint)


@contextmanager
def undone_on_failure(report: SetupReport) -> Iterator[None]:
    """Remove everything that `init` wrote, and restore what it changed, where the block fails."""
    try:
        yield
    except BaseException:
        for path, content in report.previous.items():
            with suppress(OSError, OrbitError):
                if content is not None:
                    write_atomic(path, content)
                    continue
                path.unlink(missing_ok=True)
                path.parent.rmdir()  # one that holds more stays
        if report.is_new:
            shutil.rmtree(report.root / ORBIT, ignore_errors=True)
        if report.driver:
            Git(report.root).ask("config", "--local", "--remove-section", f"merge.{DRIVER}")
        raise


def setup_workspace(folder: Path, kinds: KindTable, *, dry_run: bool = False) -> SetupReport:
    """Make `folder`, or the repository around it, a workspace; running it again changes nothing.

    A failure leaves nothing behind.
    """
    git = Git(folder.resolve())
    root = git.top or folder.resolve()
    orbit = root / ORBIT
    if orbit.is_symlink() or (orbit.exists() and not orbit.is_dir()):
        raise WorkspaceNotFoundError(f"{orbit} is not a folder", hint="move it away, then run `orbit init` again")
    config = orbit / "config.yaml"
    if orbit.is_dir() and not config.exists() and not has_only_state(orbit):
        raise ForeignWorkspaceError(f"{orbit} has no config.yaml, and holds files", hint=FOREIGN_HINT)
    for path in (".gitignore", ".gitattributes") if git.top is not None else ():
        inside(root, path)
    report = SetupReport(root, is_new=not orbit.exists())
    with undone_on_failure(report):
        _write(report, kinds, git, config, dry_run)
    return report


def _write(report: SetupReport, kinds: KindTable, git: Git, config: Path, dry_run: bool) -> None:
    root = report.root
    if config.exists():
        open_workspace(root)
        report.unchanged.append(f"{ORBIT}/config.yaml")
    else:
        # Decisions below a home folder belong to projects, and walking all of it takes long.
        report.detected = config_of({}).adr if git.top is None and root == user_home().resolve() else detect_style(root)
        _write_file(report, f"{ORBIT}/config.yaml", config_text(report.detected).encode(), dry_run)
    schemas = open_workspace(root).config.schemas if config.exists() else f"{ORBIT}/schemas"
    for name, text in schema_texts(kinds).items():
        _write_file(report, f"{schemas}/{name}", text.encode(), dry_run)
    if git.top is not None:
        add_lines(report, ".gitignore", GITIGNORE, dry_run)
        add_lines(report, ".gitattributes", GITATTRIBUTES, dry_run)
        report.driver = offer_driver(git, dry_run=dry_run)
    else:  # if it becomes a repository later, local state is not committed
        add_lines(report, f"{ORBIT}/.gitignore", OWN_GITIGNORE, dry_run)


def offer_driver(git: Git, *, dry_run: bool = False) -> bool:
    """Name the merge driver for decision logs in this clone's configuration; other clones merge as git does.

    Returns whether it was not named, or otherwise.
    """
    # By the interpreter's own path: git runs it in a shell that may not have our programs on its PATH.
    # -P: git starts it at the top of the work tree, which is no place to import from: it may hold a stranger's branch.
    command = f'"{sys.executable}" -P -m orbit_registry.cli.main merge-driver %O %A %B %P'
    if git.ask("config", "--local", f"merge.{DRIVER}.driver") == command:
        return False
    if not dry_run:
        git.run("config", "--local", f"merge.{DRIVER}.name", "merge decision logs entry by entry")
        git.run("config", "--local", f"merge.{DRIVER}.driver", command)
    return True


def detect_style(root: Path) -> AdrConfig:
    """Return how decisions are written here: the folder of decision files with the most, or logs, or the default."""
    logs = sorted((root / "docs/design").glob(f"*/{LOG_NAME}"))
    configured = _adr_dir_folder(root)
    candidates = [*([configured] if configured else []), *(folder for folder in ADR_FOLDERS if folder != configured)]
    folders = _most_decisions(root, Counter({folder: _count_decisions(root / folder) for folder in candidates}))
    if not folders and not logs:
        folders = _most_decisions(root, _folders_by_name(root))
    if folders:
        return AdrConfig("file", folders[0], tuple(folders[1 : most_folders() + 1]))
    return AdrConfig("log" if logs else "file", "docs/adr")


def _most_decisions(root: Path, counts: Counter[str]) -> list[str]:
    """Return the folders with decisions, the most first, without what git ignores: copies, which are never imported."""
    git = Git(root)
    return [folder for folder, count in counts.most_common() if count and _is_not_ignored(git, folder)]


def most_folders() -> int:
    """Return how many further folders a configuration may name."""
    return int(config_schema().document["properties"]["adr"]["properties"]["folders"]["maxItems"])


def _folders_by_name(root: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in walk(root, hidden=False):
        folder = home_folder(posixpath.dirname(path))
        stem, suffix = posixpath.splitext(posixpath.basename(path))
        parts = folder.lower().split("/")
        if (
            is_decision_folder(parts[-1])
            and FOREIGN_FOLDERS.isdisjoint(parts)
            and not any(map(is_archive_folder, parts))
        ):
            counts[folder] += suffix == ".md" and is_decision_name(stem)
    return counts


def _is_not_ignored(git: Git, folder: str) -> bool:
    if git.top is None:
        return True
    try:
        return bool(git.run_names("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder))
    except GitError:
        return True


def _adr_dir_folder(root: Path) -> str | None:
    """Return the folder that adr-tools was told in `.adr-dir`, if it stays inside."""
    try:
        folder = read_text(root / ".adr-dir").strip().removeprefix("./").rstrip("/")
        return inside(root, folder).relative_to(root).as_posix()
    except OrbitError:
        return None


def _count_decisions(folder: Path) -> int:
    try:
        entries = list(folder.iterdir())
        count = sum(entry.suffix == ".md" and is_decision_name(entry.stem) for entry in entries)
        return count + sum(
            _count_decisions(entry) for entry in entries if is_archive_folder(entry.name) and not entry.is_symlink()
        )
    except OSError:
        return 0


def config_text(detected: AdrConfig) -> str:
    """Return a new configuration: what was detected as values, every other default of the schema as a comment."""
    adr: dict[str, object] = {}
    if detected != config_of({}).adr:
        adr = {"style": detected.style, "folder": detected.folder}
        adr |= {"folders": [*detected.folders]} if detected.folders else {}
    forms = config_schema().document["properties"]
    plain = [_setting(name, form, None) for name, form in forms.items() if "default" in form]
    sections = [
        _section(name, form, adr if name == "adr" else {}) for name, form in forms.items() if "properties" in form
    ]
    return "\n\n".join([_HEAD, "\n".join(plain), *sections]) + "\n"


_HEAD = """\
# yaml-language-server: $schema=schemas/config.schema.json
# Orbit's configuration. A line that starts with `#` shows a default; remove the `#` to change it.
format: orbit-registry
schema_version: 1"""


def _section(name: str, form: Mapping[str, Any], values: Mapping[str, object], indent: str = "") -> str:
    lines = [_line(f"{indent}{name}:", form, is_set=bool(values))]
    for key, subform in form["properties"].items():
        below = f"{indent}  "
        lines.append(
            _section(key, subform, {}, below)
            if "properties" in subform
            else _setting(key, subform, values.get(key), below)
        )
    return "\n".join(lines)


def _setting(name: str, form: Mapping[str, Any], configured: object, indent: str = "") -> str:
    value = form["default"] if configured is None else configured
    if isinstance(value, dict) and value:
        entries = [f"#   {indent}{key}: [{', '.join(names)}]" for key, names in value.items()]
        return "\n".join([_line(f"{indent}{name}:", form), *entries])
    text = scalar_text(value) if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return _line(f"{indent}{name}: {text}", form, is_set=configured is not None)


def _line(text: str, form: Mapping[str, Any], *, is_set: bool = False) -> str:
    description = form["description"].rstrip(".")
    return f"{'' if is_set else '# '}{text:<24} # {description[0].lower()}{description[1:]}"


def schema_texts(kinds: KindTable) -> dict[str, str]:
    """Return the JSON Schemas of records, configuration and JSON output, by file name."""
    texts = {f"{kind.name}.schema.json": json.dumps(kind.schema.document, indent=2) + "\n" for kind in kinds}
    plain = (CONFIG_SCHEMA, ENVELOPE_SCHEMA, TASK_SCHEMA)
    return {**texts, **{file.name: file.read_text(encoding="utf-8") for file in plain}}


def write_schemas(workspace: Workspace) -> None:
    """Bring the schemas for editors up to date."""
    report = SetupReport(workspace.root)
    for name, text in schema_texts(workspace.kinds).items():
        _write_file(report, f"{workspace.config.schemas}/{name}", text.encode(), dry_run=False)


def _write_file(report: SetupReport, path: str, content: bytes, dry_run: bool) -> None:
    target = inside(report.root, path)
    before = target.read_bytes() if target.exists() else None
    if before is not None and before.replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n"):
        report.unchanged.append(path)
        return
    (report.created if before is None else report.changed).append(path)
    if not dry_run:
        report.previous[target] = before
        write_atomic(target, content)


def add_lines(report: SetupReport, path: str, lines: tuple[str, ...], dry_run: bool) -> None:
    """Append the lines that a file lacks; everything else in it stays unchanged."""
    target = inside(report.root, path)
    text = read_bytes(target, limit=DOCUMENT_LIMIT).decode("utf-8", "surrogateescape") if target.exists() else ""
    present = {line.strip() for line in text.splitlines()}
    newline = "\r\n" if "\r\n" in text else "\n"
    added = "".join(f"{line}{newline}" for line in lines if line not in present)
    glue = newline if added and text and not text.endswith("\n") else ""
    _write_file(report, path, (text + glue + added).encode("utf-8", "surrogateescape"), dry_run)
