"""`orbit init`: create a workspace, or bring one up to date without losing what exists."""

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from orbit_registry.errors import (
    ForeignWorkspaceError,
    OrbitError,
    UsageError,
    WorkspaceNotFoundError,
)
from orbit_registry.formats.adr.file_names import (
    home_folder,
    is_archive_folder,
    is_decision_folder,
    is_decision_name,
    is_foreign_folder,
    is_log_name,
)
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.yaml import scalar_text, table_of
from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA
from orbit_registry.model.kind import KindTable
from orbit_registry.model.scope import TASK_SCHEMA
from orbit_registry.operations.adoption import backfill
from orbit_registry.operations.adr_folders import named_folders
from orbit_registry.operations.edits import change_fields
from orbit_registry.operations.lifecycle import transition
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.repository.writer import create_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.config import (
    CONFIG_SCHEMA,
    FOREIGN_HINT,
    AdrConfig,
    config_of,
    config_schema,
    refuse_line_break,
)
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    inside,
    read_bytes,
    write_atomic,
    write_error,
)
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import (
    ORBIT,
    has_only_state,
    has_own_records,
    not_a_folder,
    open_workspace,
    user_home,
)

DRIVER = "orbit-log"
GITIGNORE = (".orbit/state/", ".orbit/**/.tmp-*")
OWN_GITIGNORE = ("/state/", ".tmp-*")
"""The same from within `.orbit/`, where there is no repository yet whose file it could be."""
GITATTRIBUTES = (".orbit/**/votes.jsonl merge=union",)
_LOGS_OF_FEATURES = f"**/{LOG_NAME} merge={DRIVER}"
_ODD_IN_ATTRIBUTES = re.compile(r'[\s\[\]*"\\]')
CI_FILES = (
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    "bitbucket-pipelines.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
)
EDITORS = (".vscode", ".idea")  # folders of editors, which read JSON Schemas
_ADR_NAME = re.compile(r"m?adr[-_ ]?\d|0\d{2,3}[-_]", re.IGNORECASE)
SETTINGS = (
    "project",
    "adr.style",
    "adr.folder",
    "adr.folders",
    "citations",
    "checks.ignore",
    "push.trust",
    "site.title",
    "site.base_url",
    "site.repository",
)
"""What a new configuration names: the settings that people change."""


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """What a repository's tracked files tell of it."""

    folders: Mapping[str, int]
    """Folders with decision documents and how many they hold, the most first."""
    logs: tuple[str, ...] = ()
    editors: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()  # files of a site or of CI
    elsewhere: int = 0
    """Files named `adr-…` or `0001-…` in other folders, or like a log, which an import may take."""

    @property
    def adr(self) -> AdrConfig:
        """How decisions are written: the folder with the most, or logs, or the default."""
        if self.folders:
            return _with_folder(self, next(iter(self.folders)))

        return AdrConfig("log" if self.logs else "file", "docs/adr")


def _with_folder(files: ProjectFiles, folder: str) -> AdrConfig:
    others = tuple(name for name in files.folders if name != folder)
    return AdrConfig("file", folder, others[: most_folders()])


@dataclass(slots=True)
class SetupReport:
    """What `init` did, or would do: paths from the root."""

    root: Path
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    detected: AdrConfig | None = None
    files: ProjectFiles | None = None  # what was found in the repository's files
    driver: bool = False  # whether this clone's git was told of the merge driver, or would be
    unrecorded: int = 0  # decisions in documents without a record
    baselined: int = 0  # findings that were there already and went into the baseline
    previous: dict[Path, bytes | None] = field(default_factory=dict)
    """What each written file held before; None where it is new."""
    is_new: bool = False  # whether there was no `.orbit/` before


def refuse_outside_git(folder: Path) -> None:
    """Refuse a folder outside git, except the home folder, which holds personal records,
    and an existing workspace.
    """
    root = folder.resolve()
    git = Git(root)
    git.require_git()
    if git.top is not None or (root / ORBIT / "config.yaml").exists():
        return

    if git.ask("rev-parse", "--is-inside-git-dir") == "true":
        raise WorkspaceNotFoundError(
            f"{root} is git's own folder",
            hint="run `orbit init` in a clone that has files",
        )

    if root != user_home().resolve():
        hint = (
            "run `git init` first; if there is a repository already, `git status` says what "
            "is wrong with it"
        )
        raise WorkspaceNotFoundError(
            f"{root} is in no git repository, so nothing was written",
            hint=hint,
        )


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


def setup_workspace(
    folder: Path,
    kinds: KindTable,
    *,
    adr_folder: str = "",
    schemas: bool = False,
    dry_run: bool = False,
) -> SetupReport:
    """Make `folder`, or the repository around it, a workspace; a failure leaves nothing behind."""
    git = Git(folder.resolve())
    root = git.top or folder.resolve()
    orbit = root / ORBIT
    if orbit.is_symlink() or (orbit.exists() and not orbit.is_dir()):
        raise not_a_folder(orbit)

    config = orbit / "config.yaml"
    refuse_line_break(config)
    if orbit.is_dir() and not (config.exists() or has_only_state(orbit) or has_own_records(orbit)):
        raise ForeignWorkspaceError(
            f"{orbit} has no config.yaml, and holds files",
            hint=FOREIGN_HINT,
        )

    if git.top is not None:
        inside(root, ".gitignore")
        inside(root, ".gitattributes")

    if adr_folder:
        adr_folder = inside(root, adr_folder.rstrip("/")).relative_to(root.resolve()).as_posix()

    report = SetupReport(root, is_new=not orbit.exists())
    with undone_on_failure(report):
        report.files = project_files(root)
        adr = _write_config(report, config, adr_folder, dry_run)

        schema_folder = f"{ORBIT}/schemas"
        if config.exists():
            schema_folder = open_workspace(root).config.schemas

        if schemas or report.files.editors or (root / schema_folder).is_dir():
            for name, text in schema_texts(kinds).items():
                _write_file(report, f"{schema_folder}/{name}", text.encode(), dry_run)

        if git.top is None:  # if it becomes a repository later, local state is not committed
            add_lines(report, f"{ORBIT}/.gitignore", OWN_GITIGNORE, dry_run)
        else:
            add_lines(report, ".gitignore", GITIGNORE, dry_run)
            add_lines(report, ".gitattributes", attributes(report.files, adr), dry_run)
            report.driver = has_logs(report.files, adr) and offer_driver(git, dry_run=dry_run)

    return report


def _write_config(report: SetupReport, config: Path, adr_folder: str, dry_run: bool) -> AdrConfig:
    if config.exists():
        report.unchanged.append(f"{ORBIT}/config.yaml")
        adr = open_workspace(report.root).config.adr
        if adr_folder not in ("", adr.folder):
            hint = f"write `folder: {adr_folder}` below `adr:` in {ORBIT}/config.yaml"
            raise UsageError(f"new decisions go to {adr.folder} here already", hint=hint)

        return adr

    files = report.files or ProjectFiles({})
    adr = _with_folder(files, adr_folder) if adr_folder else files.adr
    report.detected = adr
    _write_file(report, f"{ORBIT}/config.yaml", config_text(adr).encode(), dry_run)

    return adr


def has_logs(files: ProjectFiles, adr: AdrConfig) -> bool:
    """Say whether decisions are entries of logs, which a merge driver merges by entry."""
    return bool(files.logs or adr.log) or adr.style == "log"


def attributes(files: ProjectFiles, adr: AdrConfig) -> tuple[str, ...]:
    """Return the lines of `.gitattributes` that a repository needs."""
    lines = list(GITATTRIBUTES)
    if files.logs or adr.style == "log":
        lines.append(_LOGS_OF_FEATURES)

    if adr.log:
        lines.append(main_log_attribute(adr.log))

    return tuple(lines)


def log_attributes(adr: AdrConfig) -> tuple[str, ...]:
    """Return every line that may name the merge driver."""
    of_main_log = (main_log_attribute(adr.log),) if adr.log else ()
    return (_LOGS_OF_FEATURES, *of_main_log)


def main_log_attribute(log: str) -> str:
    """Return the line that names the merge driver for the one log of a configuration.

    A character that a pattern would have to escape is any character here.
    """
    return f"/{_ODD_IN_ATTRIBUTES.sub('?', log)} merge={DRIVER}"


def offer_driver(git: Git, *, dry_run: bool = False) -> bool:
    """Name the merge driver for decision logs in this clone's configuration;
    return whether that is new.
    """
    # By the interpreter's own path: git runs it in a shell that may not have our programs on its
    # PATH. -P: git starts it at the top of the work tree, which is no place to import from: it may
    # hold a stranger's branch.
    command = f'"{sys.executable}" -P -m orbit_registry.doors.cli.main merge-driver %O %A %B %P'
    if git.ask("config", "--local", f"merge.{DRIVER}.driver") == command:
        return False

    if not dry_run:
        git.run("config", "--local", f"merge.{DRIVER}.name", "merge decision logs entry by entry")
        git.run("config", "--local", f"merge.{DRIVER}.driver", command)

    return True


def project_files(root: Path) -> ProjectFiles:
    """Look through the names of tracked files, and nothing else; outside git for nothing."""
    git = Git(root)
    names = git.run_names("ls-files", "-z") if git.top is not None else []
    configured = named_folders(root)

    counts: Counter[str] = Counter()
    elsewhere = 0
    logs: list[str] = []
    tools: list[str] = []
    editors: set[str] = set()

    for path in names:
        folder, _, name = path.rpartition("/")
        if name.endswith(".md") and is_decision_name(name[:-3]):
            home = home_folder(folder)
            if home in configured or _is_adr_folder(home):
                counts[home] += 1
            elif _ADR_NAME.match(name) and not is_foreign_folder(folder):
                elsewhere += 1

        if name == LOG_NAME and path.startswith("docs/design/"):
            logs.append(path)
        elif is_markdown(name) and is_log_name(PurePosixPath(name).stem):
            is_index = folder in configured or _is_adr_folder(folder)
            elsewhere += not (is_index or is_foreign_folder(folder))

        if path.startswith(CI_FILES) or path == "mkdocs.yml":
            tools.append(path)

        editors.update(editor for editor in EDITORS if path.startswith(f"{editor}/"))

    order = sorted(counts, key=lambda folder: (-counts[folder], folder.count("/"), folder))
    folders = {folder: counts[folder] for folder in order}
    return ProjectFiles(folders, tuple(logs), tuple(sorted(editors)), tuple(tools), elsewhere)


def most_folders() -> int:
    """Return how many further folders a configuration may name."""
    return int(config_schema().document["properties"]["adr"]["properties"]["folders"]["maxItems"])


def _is_adr_folder(folder: str) -> bool:
    parts = folder.lower().split("/")
    if not is_decision_folder(parts[-1]) or is_foreign_folder(folder):
        return False

    return not any(map(is_archive_folder, parts))


def config_text(detected: AdrConfig) -> str:
    """Return a new configuration: the settings that people change, what was detected as values,
    others as comments.
    """
    values: dict[str, object] = {}
    if detected != config_of({}).adr:
        values = {"adr.style": detected.style, "adr.folder": detected.folder}
        if detected.folders:
            values["adr.folders"] = [*detected.folders]

    lines, forms = [_HEAD], config_schema().document["properties"]
    sections = {setting.partition(".")[0] for setting in values}

    for setting in SETTINGS:
        section, _, key = setting.partition(".")
        form, name = forms[section], section
        if key:
            form, name = form["properties"][key], f"  {key}"
            header = f"{section}:" if section in sections else f"# {section}:"
            if header not in lines:
                lines.append(header)

        line = f"{name}: {_value_text(values.get(setting, form['default']))}"
        mark = "" if setting in values else "# "
        description = form["description"].rstrip(".")
        lines.append(f"{mark}{line:<24} # {description[0].lower()}{description[1:]}")

    return "\n".join(lines) + "\n"


def _value_text(value: object) -> str:
    if isinstance(value, str) and value:
        return scalar_text(value)
    return json.dumps(value, ensure_ascii=False)


_HEAD = """\
# Orbit's configuration. A line that starts with `#` shows a default; remove the `#` to change it.
# All other settings: docs/reference/configuration.md in Orbit's documentation.
format: orbit-registry
schema_version: 1
"""


def schema_texts(kinds: KindTable) -> dict[str, str]:
    """Return the JSON Schemas of records, configuration and JSON output, by file name."""
    texts: dict[str, str] = {}
    for kind in kinds:
        texts[f"{kind.name}.schema.json"] = json.dumps(kind.schema.document, indent=2) + "\n"

    for file in (CONFIG_SCHEMA, ENVELOPE_SCHEMA, TASK_SCHEMA):
        texts[file.name] = file.read_text(encoding="utf-8")

    return texts


def _write_file(report: SetupReport, path: str, content: bytes, dry_run: bool) -> None:
    target = inside(report.root, path)
    before = target.read_bytes() if target.exists() else None
    if before is None:
        report.created.append(path)
    elif before.replace(b"\r\n", b"\n") != content.replace(b"\r\n", b"\n"):
        report.changed.append(path)
    else:
        report.unchanged.append(path)
        return

    if not dry_run:
        report.previous[target] = before
        write_atomic(target, content)


def add_lines(report: SetupReport, path: str, lines: tuple[str, ...], dry_run: bool) -> None:
    """Append the lines that a file lacks; everything else in it stays unchanged."""
    target = inside(report.root, path)
    text = ""
    if target.exists():
        text = read_bytes(target, limit=DOCUMENT_LIMIT).decode("utf-8", "surrogateescape")

    present = {line.strip() for line in text.splitlines()}
    newline = "\r\n" if "\r\n" in text else "\n"
    added = "".join(f"{line}{newline}" for line in lines if line not in present)
    if added and text and not text.endswith("\n"):
        text += newline

    _write_file(report, path, (text + added).encode("utf-8", "surrogateescape"), dry_run)


AUTHOR = Author("Ada", "human")
COMMANDS = (
    "orbit hook install claude",
    "orbit hook test claude",
    "orbit explain src/billing/charge.py",
    "orbit explain src/importer/store.py",
    "orbit show ADR-0003",
    "orbit search 'charged twice'",
    "orbit check",
)
"""What to try first, in the order of a first visit."""
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")


def make_demo(folder: Path, kinds: KindTable) -> Path:
    """Make the project in a new or empty folder, as a git repository with one commit."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty", hint="name a folder that does not exist yet")

    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None

    root = folder.resolve()
    try:
        _fill(root, kinds)
    except BaseException:
        for entry in root.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()

        if is_new:
            root.rmdir()
        raise

    return root


def _with_scope(scope: object, data: dict[str, object]) -> dict[str, object]:
    return {**data, "scope": scope}


def _fill(root: Path, kinds: KindTable) -> None:
    demo = table_of(__file__, "demo.yaml")
    for path, text in demo["files"].items():
        write_atomic(root / path, text)

    git = Git(root)
    git.run("init", "-q")
    git.run("add", "-A")
    setup_workspace(root, kinds)
    workspace = open_workspace(root)
    backfill(workspace)

    for record_id, scope in demo["scopes"].items():
        change_fields(workspace, record_id, partial(_with_scope, scope), author=AUTHOR)

    for entry in demo["records"]:
        kind = workspace.kinds[entry.pop("kind")]
        scope = {"paths": [entry.pop("path")]}
        fields = {kind.headline: entry.pop("summary"), "scope": scope, **entry}
        record = create_record(workspace, kind, AUTHOR, fields)
        if kind.name == "rule":
            transition(workspace, record.id, "approved", AUTHOR)

    git.run("add", "-A")
    git.run("commit", "-qm", "Import and charge orders", settings=IDENTITY)
