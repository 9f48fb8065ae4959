"""What is measured, as data: to add a measurement, add an entry. It runs nothing."""

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.code import make_code, make_sources
from tests.bench.rows import make_hook_rows, make_rows
from tests.bench.synthetic import (
    make_foreign,
    make_loop,
    make_many_files,
    make_repository,
    make_resources,
    make_resting,
    make_session,
    paths,
)

ORBIT = (
    sys.executable,
    "-c",
    "import sys; from orbit_registry.doors.cli.main import main; sys.exit(main())",
)
BENCH = Path(__file__).parent
Prepare = Callable[[Path, int], None]


@dataclass(frozen=True)
class Measurement:
    """One thing to measure at several sizes.

    `command` gets the repository and its size and returns the arguments of a child process that is
    started in the repository; `prepare` runs before each repetition, unmeasured. The figure is the
    child's CPU time in seconds, its own children included, or, where `printed` is set, the number
    it prints, in that unit.
    """

    name: str
    words: str
    command: Callable[[Path, int], Sequence[str]]
    prepare: Prepare | None = None
    targets: dict[int, float] = field(default_factory=dict)
    growth: float | None = None
    """The largest slope of log(cost) over log(size) that is admitted."""
    printed: str | None = None
    sizes: tuple[int, ...] | None = None
    repeats: int = 5
    cold: bool = False
    """Whether `prepare` undoes what an earlier run left;
    otherwise one unmeasured run goes first.
    """
    make: Callable[..., None] = make_repository
    codes: tuple[int, ...] = (0,)


def forget(root: Path, number: int) -> None:
    """Remove everything derived: what follows starts cold."""
    shutil.rmtree(root / ".git" / "orbit", ignore_errors=True)
    shutil.rmtree(root / ".orbit/state", ignore_errors=True)


def forget_site(root: Path, number: int) -> None:
    """Remove everything derived, and the site."""
    forget(root, number)
    shutil.rmtree(root / "site", ignore_errors=True)


def change_one(root: Path, number: int) -> None:
    """Change one record."""
    file = min((root / ".orbit/learnings").glob("*/learning.yaml"))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    priority = next(index for index, line in enumerate(lines) if line.startswith("priority:"))
    lines[priority] = f"priority: {(int(lines[priority].split()[1]) + 1) % 200}\n"
    file.write_text("".join(lines), "utf-8")


def change_text(root: Path, number: int) -> None:
    """Change what one record says."""
    file = min((root / ".orbit/learnings").glob("*/learning.yaml"))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    summary = next(index for index, line in enumerate(lines) if line.startswith("summary:"))
    lines[summary] = f"summary: Retry an upload after {time.time_ns() % 1000} seconds\n"
    file.write_text("".join(lines), "utf-8")


def add_file(root: Path, number: int) -> None:
    """Add a file of code in a folder that is there."""
    folder = root / paths(number)[0].rpartition("/")[0]
    (folder / f"new_{len(list(folder.iterdir()))}.py").touch()


def edit_code(root: Path, number: int) -> None:
    """Add a line to a file of code."""
    with (root / "src/0/0.py").open("a", encoding="utf-8") as file:
        file.write(f"x = {time.time_ns()}\n")


def change_script(root: Path, number: int) -> None:
    """Add a line to a script."""
    with (root / "tools/00/0.sh").open("a", encoding="utf-8") as file:
        file.write(f"# {time.time_ns()}\n")


def nothing(root: Path, number: int) -> None:
    """Make a folder to run in."""
    root.mkdir(parents=True)


def restore_foreign(root: Path, number: int) -> None:
    """Put a repository back to what it was before the import, with an empty workspace."""
    for path in (".gitattributes", ".gitignore"):
        (root / path).unlink(missing_ok=True)
    shutil.rmtree(root / ".orbit", ignore_errors=True)
    subprocess.run([*ORBIT, "init", "--yes"], cwd=root, check=True, capture_output=True)


def orbit(*arguments: str) -> Callable[[Path, int], Sequence[str]]:
    """Return the command line of `orbit` with some arguments."""
    return lambda root, number: [*ORBIT, *arguments]


def ask_scope(root: Path, number: int) -> Sequence[str]:
    """Return the question which records cover a path."""
    return [*ORBIT, "query", f"FROM scope_match('{paths(number)[0]}')"]


def rows(name: str, *arguments: str) -> Callable[[Path, int], Sequence[str]]:
    """Return the command of a script beside this file that runs beside an index which `make_rows`
    wrote.
    """
    return lambda root, number: [sys.executable, str(BENCH / "scripts" / f"{name}.py"), *arguments]


plain = rows
"""The command of a script that runs in a repository and needs no more."""
ROWS = (1000, 10_000, 100_000, 1_000_000)


MEASUREMENTS: tuple[Measurement, ...] = (
    Measurement(
        "floor",
        "the interpreter alone",
        lambda root, number: [sys.executable, "-I", "-S", "-E", "-c", "pass"],
        sizes=(1000,),
        repeats=7,
    ),
    Measurement(
        "check, cold",
        "`orbit check`, nothing remembered",
        orbit("check"),
        forget,
        {1000: 1.0, 10_000: 8.0},
        1.1,
        cold=True,
        codes=(0, 1),
    ),
    Measurement(
        "check, nothing changed",
        "`orbit check` again",
        orbit("check"),
        None,
        {1000: 0.25},
        1.1,
        codes=(0, 1),
    ),
    Measurement(
        "check, one changed",
        "`orbit check` after one edit",
        orbit("check"),
        change_one,
        {1000: 0.5, 10_000: 8.0},
        1.1,
        codes=(0, 1),
    ),
    Measurement(
        "check, one text changed",
        "`orbit check` after an edit of a summary",
        orbit("check"),
        change_text,
        {1000: 0.5},
        1.1,
        codes=(0, 1),
    ),
    Measurement(
        "update",
        "`orbit adr update` of a summary, with the sync that follows",
        lambda root, number: [
            *ORBIT,
            "adr",
            "update",
            "ADR-0001",
            "--summary",
            str(time.time_ns()),
        ],
        None,
        {1000: 0.6},
        1.1,
    ),
    Measurement(
        "match, many files",
        "`orbit match` of a path in a repository of 200 records and so many tracked files",
        orbit("match", "many/0/0.py"),
        None,
        {100_000: 0.6},
        None,
        sizes=(10_000, 100_000),
        repeats=3,
        make=make_many_files,
    ),
    Measurement(
        "check, new file",
        "`orbit check` after a file of code came",
        orbit("check"),
        add_file,
        {},
        1.1,
        codes=(0, 1),
    ),
    Measurement(
        "enforce, cold",
        "`orbit check` with fifty checks of decisions; the size is thousands of lines of code",
        orbit("check"),
        forget,
        {1000: 8.0},
        1.1,
        sizes=(100, 1000),
        repeats=2,
        cold=True,
        make=make_code,
        codes=(0, 1),
    ),
    Measurement(
        "enforce, nothing changed",
        "the same again",
        orbit("check"),
        None,
        {1000: 1.0},
        1.1,
        sizes=(100, 1000),
        repeats=3,
        make=make_code,
        codes=(0, 1),
    ),
    Measurement(
        "enforce, changed lines",
        "`orbit check --against main` after an edit of one file of code",
        orbit("check", "--against", "main"),
        edit_code,
        {1000: 0.8},
        1.1,
        sizes=(100, 1000),
        repeats=3,
        make=make_code,
        codes=(0, 1),
    ),
    Measurement(
        "stale",
        "`orbit stale`, two inputs a learning",
        orbit("stale"),
        None,
        {},
        1.1,
        make=make_resting,
        repeats=2,
    ),
    Measurement(
        "capture",
        "`orbit capture` of a transcript; the size is megabytes, 20 of them a second and 200 MB "
        "of memory "
        "are the aim",
        orbit("capture", "--from", "claude", "t.jsonl", "--dry-run"),
        None,
        {200: 10.0},
        1.1,
        sizes=(50, 200),
        repeats=2,
        cold=True,
        make=make_session,
    ),
    Measurement(
        "plan brief",
        "`orbit brief --for plan --out FILE`, one record in twenty a failure or a retro, "
        "nothing changed",
        orbit("brief", "--for", "plan", "--out", "plan.json"),
        None,
        {10_000: 2.0},
        1.1,
        make=make_loop,
    ),
    Measurement(
        "sync, cold",
        "`orbit sync`, nothing remembered",
        orbit("sync"),
        forget,
        {1000: 1.2, 10_000: 8.0},
        1.1,
        cold=True,
    ),
    Measurement(
        "sync, nothing changed", "`orbit sync` again", orbit("sync"), None, {1000: 0.25}, 1.1
    ),
    Measurement(
        "sync, one changed",
        "`orbit sync` after one edit",
        orbit("sync"),
        change_one,
        {1000: 0.6, 10_000: 3.0},
        1.1,
    ),
    Measurement(
        "sync of code, cold",
        "`orbit sync` of a thousand records and so many files of code, nothing remembered",
        orbit("sync"),
        forget,
        {},
        None,
        sizes=(1000, 5000),
        repeats=3,
        cold=True,
        make=make_sources,
    ),
    Measurement(
        "sync of code, nothing changed",
        "the same again",
        orbit("sync"),
        None,
        {},
        None,
        sizes=(1000, 5000),
        make=make_sources,
    ),
    Measurement(
        "sync of code, one changed",
        "the same after an edit of one file of code",
        orbit("sync"),
        edit_code,
        {},
        None,
        sizes=(1000, 5000),
        make=make_sources,
    ),
    Measurement(
        "query", '`orbit query "FROM scope_match(…)"`, nothing changed', ask_scope, None, {}, 1.1
    ),
    Measurement(
        "query, one changed",
        "the same after one edit: it builds the snapshot",
        ask_scope,
        change_one,
        {},
        1.1,
    ),
    Measurement(
        "search",
        "one to five words of titles, asked of an index in memory, at the median",
        plain("search"),
        None,
        {10_000: 15.0},
        None,
        "ms",
    ),
    Measurement(
        "search, cold process",
        "`orbit search` with a kept index",
        orbit("search", "auth", "cache"),
        None,
        {},
        1.1,
    ),
    Measurement(
        "resources, search",
        "the same over scripts of twenty chunks each",
        plain("search"),
        None,
        {10_000: 40.0},
        None,
        "ms",
        (1000, 10_000),
        1,
        make=make_resources,
    ),
    Measurement(
        "resources, one changed",
        "`orbit sync` after an edit of one such script",
        orbit("sync"),
        change_script,
        {10_000: 0.5},
        1.1,
        None,
        (1000, 10_000),
        make=make_resources,
    ),
    Measurement(
        "match, one path",
        "all records for a path, as numbers, in process; each path in a new folder",
        rows("match", "first"),
        None,
        {10_000: 25.0, 1_000_000: 100.0},
        0.2,
        "µs",
        ROWS,
        3,
        make=make_rows,
    ),
    Measurement(
        "match, 10,000 paths",
        "all records for 10,000 files, 20 a folder",
        rows("match", "batch"),
        None,
        {10_000: 0.5},
        None,
        "s",
        (1000, 10_000, 100_000),
        3,
        make=make_rows,
    ),
    Measurement(
        "hook, cold process",
        "one call of the hook, in times of an interpreter that does nothing, at the median",
        rows("cold_hook", "50"),
        None,
        {10_000: 1.3, 100_000: 1.5},
        None,
        "×",
        (1000, 10_000, 100_000),
        2,
        make=make_hook_rows,
    ),
    Measurement(
        "hook, slowest",
        "the slowest of a hundred calls, in times of the median of one that does nothing",
        rows("cold_hook", "99"),
        None,
        {10_000: 4.0},
        None,
        "×",
        (10_000,),
        2,
        make=make_hook_rows,
    ),
    Measurement(
        "MCP wrapper",
        "what `orbit mcp wrap` adds to a call that names a file, at the median",
        rows("wrap"),
        None,
        {1000: 2.0, 10_000: 2.0},
        None,
        "ms",
        (1000, 10_000),
        2,
        make=make_hook_rows,
    ),
    Measurement(
        "hostile texts",
        "four times the text over four times the cost, for the worst of many hostile shapes",
        rows("hostile"),
        None,
        {1000: 2.0},
        None,
        "×",
        (1000,),
        1,
        make=nothing,
    ),
    Measurement(
        "import",
        "`orbit import` of so many decision documents (MADR)",
        orbit("import", ".", "--from", "madr"),
        restore_foreign,
        {},
        1.1,
        make=make_foreign,
        repeats=1,
        cold=True,
    ),
    Measurement(
        "site, cold",
        "`orbit site build`, nothing remembered",
        orbit("site", "build", "--out", "site"),
        forget_site,
        {1000: 7.0},
        1.1,
        cold=True,
        repeats=1,
    ),
    Measurement(
        "site, nothing changed",
        "`orbit site build` again",
        orbit("site", "build", "--out", "site"),
        None,
        {1000: 0.3},
        1.1,
    ),
    Measurement(
        "site, one changed",
        "`orbit site build` after one edit",
        orbit("site", "build", "--out", "site"),
        change_one,
        {1000: 1.2, 10_000: 8.0},
        1.1,
    ),
    Measurement(
        "site served, one edit",
        "`orbit site serve`: from the save of a record's title until its page, open in "
        "Chromium, shows it, by the clock",
        plain("serve_edit"),
        None,
        {100: 1.0, 1000: 1.0},
        None,
        "s",
        (100, 1000),
        1,
    ),
)


@dataclass(frozen=True)
class Ratio:
    """How many times less one command costs than a peer's on the same files:
    `peer` over `ours`, in seconds.
    """

    name: str
    words: str
    ours: Callable[[Path, int], Sequence[str]]
    peer: Callable[[Path, int], Sequence[str]]
    program: str
    """The peer's program; where it is missing, so is the ratio, with that reason."""
    target: float
    prepare: Prepare | None = None
    size: int = 1000
    rounds: int = 5
    """How often both run, in turns."""
    on_clock: bool = False
    """Whether the seconds are those that a person waits; else those of all processors."""


def learnings(root: Path) -> list[str]:
    """Return the files that both sides read."""
    return sorted(str(path) for path in (root / ".orbit/learnings").glob("*/learning.yaml"))


def peer_check(root: Path, number: int) -> Sequence[str]:
    """Return check-jsonschema's command for every learning."""
    schema = BENCH.parent.parent / "docs/schemas/learning.schema.json"
    return ["check-jsonschema", "--schemafile", str(schema), *learnings(root)]


def peer_check_of_all(root: Path, number: int) -> Sequence[str]:
    """Return check-jsonschema's two commands for every record, one for each kind and its schema."""
    schemas = BENCH.parent.parent / "docs/schemas"
    each = " && ".join(
        (
            f"check-jsonschema --schemafile {shlex.quote(f'{schemas}/{kind}.schema.json')} "
            f".orbit/{kind}s/*/{kind}.yaml"
        )
        for kind in ("learning", "adr")
    )
    return ["/bin/sh", "-c", f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; {each}"]


def ready_hook(root: Path, number: int) -> None:
    """Bring the push index up to date, and write the payload of an edit to which no record may
    apply.
    """
    subprocess.run([*ORBIT, "sync"], cwd=root, check=True, capture_output=True)
    edit = {"file_path": str(root / "no/record/applies.here"), "old_string": "a", "new_string": "b"}
    call = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(root),
        "tool_name": "Edit",
    }
    call["transcript_path"] = str(root / "none.jsonl")
    (root / ".orbit/state/payload.json").write_text(
        json.dumps({**call, "tool_input": edit}), "utf-8"
    )


def hook(root: Path, number: int) -> Sequence[str]:
    """Return what an agent's settings start, with the payload that `ready_hook` wrote."""
    launch = BENCH.parent.parent / "tooling/orbit_registry/hook/launch.py"
    words = [sys.executable, "-I", "-S", "-E", str(launch), "claude"]
    return ["/bin/sh", "-c", f"exec {shlex.join(words)} < .orbit/state/payload.json"]


def hook_of_claude_mem(root: Path, number: int) -> Sequence[str]:
    """Return what claude-mem has an agent start before it reads a file, word for word,
    with a home of its own.
    """
    plugin = Path(shutil.which("claude-mem") or "").resolve().parents[2] / "plugin"
    hooks = json.loads((plugin / "hooks/hooks.json").read_text("utf-8"))["hooks"]["PreToolUse"]
    ours = f"export HOME={shlex.quote(str(root))} CLAUDE_PLUGIN_ROOT={shlex.quote(str(plugin))}"
    return [
        "bash",
        "-c",
        f"{ours}; {{ {hooks[0]['hooks'][0]['command']}; }} < .orbit/state/payload.json",
    ]


RATIOS: tuple[Ratio, ...] = (
    Ratio(
        "schema part",
        "reading and validating 900 learnings, in one process",
        lambda root, number: [
            sys.executable,
            str(BENCH / "scripts" / "validate.py"),
            *learnings(root),
        ],
        peer_check,
        "check-jsonschema",
        20.0,
    ),
    Ratio(
        "whole gate",
        "`orbit check` of everything, cold, compared with the schema check of 900 learnings, on "
        "the clock",
        orbit("check"),
        peer_check,
        "check-jsonschema",
        7.0,
        forget,
        on_clock=True,
    ),
    Ratio(
        "whole gate, 10,000 records",
        "the same, compared with the schema check of all of them, 9,000 learnings and 1,000 "
        "decisions, on the clock",
        orbit("check"),
        peer_check_of_all,
        "check-jsonschema",
        7.0,
        forget,
        10_000,
        on_clock=True,
    ),
    *(
        Ratio(
            f"silence, {name}",
            f"a call of the hook that shows nothing, compared with `{name} --version`",
            hook,
            lambda root, number, name=name: [name, "--version"],
            name,
            target,
            ready_hook,
        )
        for name, target in (("claude-mem", 5.0), ("basic-memory", 20.0))
    ),
    Ratio(
        "silence, claude-mem's hook",
        "the same, compared with its own hook before a read, which shows nothing either",
        hook,
        hook_of_claude_mem,
        "claude-mem",
        10.0,
        ready_hook,
    ),
)
