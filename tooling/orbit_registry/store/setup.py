"""Owns `orbit init`: makes a workspace, or brings one up to date; what stands already is kept."""

from __future__ import annotations

import json
import posixpath
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import ForeignWorkspaceError, OrbitError, WorkspaceNotFoundError
from orbit_registry.kinds.table import KindTable
from orbit_registry.records.envelope import ENVELOPE_SCHEMA
from orbit_registry.records.task import TASK_SCHEMA
from orbit_registry.store.config import CONFIG_SCHEMA, IMPORT_HINT, mapping_lines
from orbit_registry.store.decisions.paths import LOG_NAME
from orbit_registry.store.files import inside, read_text, write_atomic
from orbit_registry.store.git import Git
from orbit_registry.store.walk import walk
from orbit_registry.store.workspace import ORBIT, Workspace, open_workspace
from orbit_registry.text.adr.file_names import is_decision_folder, is_decision_name
from orbit_registry.text.yaml import scalar

DRIVER = "orbit-log"
GITIGNORE = (".orbit/state/", ".orbit/**/.tmp-*")
GITATTRIBUTES = (".orbit/**/votes.jsonl merge=union", f"**/{LOG_NAME} merge={DRIVER}")
NOT_OURS = frozenset({"test", "tests", "testdata", "fixtures", "example", "examples", "samples", "vendor"})
"""Folders whose decisions are somebody else's, or nobody's."""
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


@dataclass(frozen=True, slots=True)
class Detected:
    """How the repository writes its decisions."""

    style: str
    folder: str
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class SetupReport:
    """What `init` did, or would do: paths from the root."""

    root: Path
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    detected: Detected | None = None
    baselined: int = 0
    """Findings that were there already and went into the baseline."""


def setup_workspace(folder: Path, kinds: KindTable, *, dry_run: bool = False) -> SetupReport:
    """Make `folder`, or the repository around it, a workspace; running it again changes nothing.

    Raises:
        ForeignWorkspaceError: an `.orbit/` of another tool stands there.
        WorkspaceNotFoundError: `.orbit` is a file.
        WriteError: the disk refused.
    """
    git = Git(folder.resolve())
    root = git.top or folder.resolve()
    orbit = root / ORBIT
    if orbit.is_symlink() or (orbit.exists() and not orbit.is_dir()):
        raise WorkspaceNotFoundError(f"{orbit} is not a folder", hint="move it away, then run `orbit init` again")
    config = orbit / "config.yaml"
    if orbit.is_dir() and not config.exists() and any(entry.name != "state" for entry in orbit.iterdir()):
        raise ForeignWorkspaceError(f"{orbit} was not written by this tool", hint=f"where {IMPORT_HINT}")
    report = SetupReport(root)
    if config.exists():
        open_workspace(root)
        report.kept.append(f"{ORBIT}/config.yaml")
    else:
        report.detected = detect_style(root)
        _put(report, f"{ORBIT}/config.yaml", config_text(report.detected), dry_run)
    schemas = open_workspace(root).config.schemas if config.exists() else f"{ORBIT}/schemas"
    for name, text in schema_texts(kinds).items():
        _put(report, f"{schemas}/{name}", text, dry_run)
    if git.top is not None:
        _add_lines(report, ".gitignore", GITIGNORE, dry_run)
        _add_lines(report, ".gitattributes", GITATTRIBUTES, dry_run)
        if not dry_run:
            offer_driver(git)
    return report


def offer_driver(git: Git) -> None:
    """Name the merge driver for decision logs in this clone's configuration; other clones merge as git does."""
    # By the interpreter's own path: git runs it in a shell that may not have our programs on its PATH.
    command = f'"{sys.executable}" -m orbit_registry.cli.main merge-driver %O %A %B %P'
    if git.ask("config", "--local", f"merge.{DRIVER}.driver") != command:
        git.run("config", "--local", f"merge.{DRIVER}.name", "merge decision logs entry by entry")
        git.run("config", "--local", f"merge.{DRIVER}.driver", command)


def detect_style(root: Path) -> Detected:
    """Return how decisions are written here: the folder of decision files with the most, or logs, or the default."""
    logs = sorted((root / "docs/design").glob(f"*/{LOG_NAME}"))
    told = _told_folder(root)
    candidates = [*([told] if told else []), *(folder for folder in ADR_FOLDERS if folder != told)]
    counts = Counter({folder: _numbered(root / folder) for folder in candidates})
    if not any(counts.values()) and not logs:
        counts = _elsewhere(root)
    found = [folder for folder, count in counts.items() if count]
    if found:
        best = max(found, key=lambda folder: counts[folder])
        return Detected("file", best, tuple(folder for folder in found if folder != best))
    return Detected("log" if logs else "file", "docs/adr")


def _elsewhere(root: Path) -> Counter[str]:
    """Count the decision files of folders anywhere that are called after decisions, but for those of tests."""
    counts: Counter[str] = Counter()
    for path in walk(root, hidden=False):
        folder, _, name = path.rpartition("/")
        stem, suffix = posixpath.splitext(name)
        parts = folder.lower().split("/")
        named = is_decision_folder(parts[-1]) and NOT_OURS.isdisjoint(parts)
        counts[folder] += named and suffix == ".md" and is_decision_name(stem)
    return counts


def _told_folder(root: Path) -> str | None:
    """Return the folder that adr-tools was told in `.adr-dir`, if it stays inside."""
    try:
        folder = read_text(root / ".adr-dir").strip().removeprefix("./").rstrip("/")
        return inside(root, folder).relative_to(root).as_posix()
    except OrbitError:
        return None


def _numbered(folder: Path) -> int:
    try:
        return sum(1 for entry in folder.iterdir() if entry.suffix == ".md" and is_decision_name(entry.stem))
    except OSError:
        return 0


def config_text(detected: Detected) -> str:
    """Return a new configuration: what was detected as values, every other default as a comment."""
    own = detected.style != "file" or detected.folder != "docs/adr" or bool(detected.folders)
    more = "".join(f"\n    - {scalar(name)}" for name in detected.folders)
    adr = [
        "adr:" if own else "# adr:",
        _setting(f"style: {detected.style}", "file: one file a decision; log: an entry in 4_decisions.md", own),
        _setting(f"folder: {scalar(detected.folder)}", "where new decision files go", own),
        f"  folders:{more}" if more else _setting("folders: []", "further folders with decision documents", own=False),
    ]
    decisions = "\n".join(adr)
    mapping = "\n".join(f"#     {line}" for line in mapping_lines())
    return f"""\
# yaml-language-server: $schema=schemas/config.schema.json
# Orbit's configuration. A line that starts with `#` shows a default; remove the `#` to change it.
format: orbit-registry
schema_version: 1

# project: ""              # the name on the site and in the snapshot; empty: the folder's name
# schemas: .orbit/schemas  # where the JSON Schemas for editors are written
# design: docs/design      # design documents; logs stand at <design>/<feature>/4_decisions.md
# inbox: local             # records waiting for review: local, or committed for review in git
# citations: ["**/*.md"]   # files in which an id that no record has is a finding
# code: []                 # code files in which cited ids are looked up too

{decisions}

{_CHOOSING}
# learnings_config:        # what `orbit brief --agent NAME` and the injector choose from
#   max_learnings_per_category: 5
#   max_total_tokens: 1000
#   cache_ttl_seconds: 300 # how long a program may keep learnings that did not change; 0: not at all
#   agent_category_mapping: # an agent that is not named here keeps its line below; an unknown one gets general
{mapping}

{_REST}"""


_CHOOSING = """\
# brief:
#   sources:               # where `orbit brief --for plan` learns what records can't tell: JSON, of a file or a command
#     active_loops: {}     # {file: state/loops.json}, a list of {loop_id, project, status}
#     system_health: {}    # {command: [make, -s, health]}, a mapping
#     capacity: {}         # {active_loops: 1, max_concurrent_loops: 4}, in place of what is counted
#     work_items: {}       # what `orbit pitch` may pitch: a list of {id, title, tags, paths, tasks, priority}

# duplicates:
#   error: 0.80
#   warning: 0.55

# experiment:
#   holdout: 0             # the share of records, 0 to 1, that a session does without by lot: `orbit stats --effect`

# freshness:
#   stable_days: 365       # after so many days without a verification a record counts as stale
#   volatile_days: 30
#   tasks: []              # where tasks stand: tasks/{id}.md

# loop:
#   enabled: false         # true: `orbit --help` lists the commands of the loop
#   max_concurrent_loops: 1 # so many run side by side; where all do, `orbit pitch` pitches nothing
#   ask_at_stop: false     # true: a session in which a tool failed is asked once, when it stops, for a note
#   retro_targets: 3       # so many targets make a retro worth keeping that has no finding and no failure

# capture:                 # what `orbit capture` learns from transcripts waits for review
#   at_session_end: false  # true: hooks capture when a session ends
#   auto_promote_days: 0   # 7: `orbit promote --due` promotes what nobody turned down for so long, from trusted sources
#   command: []            # a program that says what a session teaches: JSON in, JSON out
#   timeout_seconds: 60

# mcp:
#   run: false             # true: agents may run reviewed scripts, where the server has ORBIT_PROGRAMS=on too

# push:
#   trust: work-tree       # default-branch: nothing is pushed but what the default branch holds as it is

# rules:
#   min_relevance: 0.05    # how well a task's text has to fit a rule for it to be shown, 0 to 1

# search:
#   model: ""              # a model2vec model, a folder or a name on the hub, by which search finds meanings too
#   command: []            # a program that makes vectors in its place: JSON in, JSON out
#   timeout_seconds: 30
"""
_REST = """\
# tasks:                   # where tasks are, and programs that `orbit brief` may run: lists of words, no shell
#   url: ""                # where a task stands, for links: https://tracker.example/{id}
#   command: []            # prints the task with an id: [gh, issue, view, "{id}", --json, "…"]
#   classifier: []         # says whether a task writes code; empty: Orbit's own rules
#   timeout_seconds: 10

# watchdog:                # what `orbit watchdog` admits
#   stale_hours: 48        # since the last sync
#   queue_days: 14         # a record may wait for review
#   learnings: 100         # from which nothing was derived

# checks:
#   ignore: []             # codes of checks that are not run

# site:
#   title: ""              # empty: the project's name
#   base_url: /
#   repository: ""         # the repository's web address, for source and edit links
#   branch: main
#   generator: mkdocs      # what renders the curated pages: mkdocs, or zensical where it is installed
#   mirror: []             # further documents that become pages: globs
#   console: false         # ask the snapshot in SQL, in the browser: npm fetches DuckDB for it once, 35 MB
#   publish:               # what others may read, on the site and in exported snapshots
#     kinds: []            # names of those that are published; with ! before it one is withheld
#     statuses: []
#     tags: []             # of scope and labels: ["!internal"]
#     redact: []           # regular expressions; what they match is struck out
"""


def _setting(line: str, comment: str, own: bool) -> str:
    """Return a setting of a section, as a comment where it is the default."""
    return f"{'' if own else '# '}  {line:<23} # {comment}"


def schema_texts(kinds: KindTable) -> dict[str, str]:
    """Return the JSON Schemas of records, configuration and JSON output, by file name."""
    texts = {f"{kind.name}.schema.json": json.dumps(kind.schema.document, indent=2) + "\n" for kind in kinds}
    plain = (CONFIG_SCHEMA, ENVELOPE_SCHEMA, TASK_SCHEMA)
    return {**texts, **{file.name: file.read_text(encoding="utf-8") for file in plain}}


def write_schemas(workspace: Workspace) -> list[str]:
    """Bring the schemas for editors up to date; returns the paths that changed."""
    report = SetupReport(workspace.root)
    for name, text in schema_texts(workspace.kinds).items():
        _put(report, f"{workspace.config.schemas}/{name}", text, dry_run=False)
    return report.created + report.changed


def _put(report: SetupReport, path: str, text: str, dry_run: bool) -> None:
    target = inside(report.root, path)
    there = target.exists()
    if there and target.read_text(encoding="utf-8", errors="replace") == text:
        report.kept.append(path)
        return
    (report.changed if there else report.created).append(path)
    if not dry_run:
        write_atomic(target, text)


def _add_lines(report: SetupReport, path: str, lines: tuple[str, ...], dry_run: bool) -> None:
    """Add the lines a file lacks at its end; whatever else it holds stays as it is."""
    target = report.root / path
    there = target.exists()
    text = target.read_bytes().decode("utf-8", "surrogateescape") if there else ""
    present = {line.strip() for line in text.splitlines()}
    missing = [line for line in lines if line not in present]
    if not missing:
        report.kept.append(path)
        return
    newline = "\r\n" if "\r\n" in text else "\n"
    glue = newline if text and not text.endswith("\n") else ""
    (report.changed if there else report.created).append(path)
    if not dry_run:
        added = "".join(f"{line}{newline}" for line in missing)
        write_atomic(target, (text + glue + added).encode("utf-8", "surrogateescape"))
