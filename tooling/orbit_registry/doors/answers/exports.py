"""`orbit site`, `export`, `sync`, `query` and `snapshot`: everything derived from the records."""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from orbit_registry.doors.answers.answer import Answer, answer_of
from orbit_registry.doors.answers.arguments import GENERAL, TOOL, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import is_voted
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import cut
from orbit_registry.hook.events import SYNCED
from orbit_registry.model.diagnostic import Severity
from orbit_registry.model.kind import Kind
from orbit_registry.model.votes import distinct_votes
from orbit_registry.registry import Registry
from orbit_registry.repository.votes import BROKEN
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import from_home, resolved

LONGEST_CELL = 2_000
if TYPE_CHECKING:
    from orbit_registry.exchange.exporters.rules import Change, RuleExport, UnsupportedGlob


@operation("site build")
def build(
    call: Call,
    out: Annotated[Path, Form(file_okay=False)] = Path("site"),
    base_url: str | None = None,
    strict: bool = False,
) -> Answer:
    """Write the site to a folder.

    Only pages that changed are written.

    orbit site build --out site

    Args:
        out DIRECTORY: The folder to write to.
        base_url: Its final address: https://example.org/decisions/
        strict: Exit 1 after a warning, such as a broken link, or an error.
    """
    need_site()
    from orbit_registry.site.build import (
        build_site,
    )  # only where its libraries are known to be there

    with call.progress() as progress:
        registry = call.registry
        result = build_site(
            registry, resolved(out), base_url=base_url, strict=strict, progress=progress
        )

    done = f"{plural(result.written, 'file')} written, {result.unchanged} unchanged"
    served = f"--directory {shlex.quote(str(result.out))}"
    lines: list[Block] = [
        f"{plural(result.pages, 'page')}: {done}, {result.removed} removed",
        str(result.out),
    ]
    ignored = registry.workspace.git.ignore_line(result.out)
    if ignored is not None:
        lines.append(f"to keep it out of git, put this into .gitignore: {ignored}")

    lines.append(f"read it: python3 -m http.server --bind 127.0.0.1 {served}")
    return Answer(
        result.as_data(),
        lines,
        ok=result.ok,
        diagnostics=result.diagnostics,
        warned=result.diagnostics,
    )


def need_site() -> None:
    """Raise where the site's packages are not installed."""
    modules = ["mdit_py_plugins", "nh3"]
    if importlib.util.find_spec("zensical") is None:
        modules = ["material", "mdit_py_plugins", "mkdocs", "nh3"]

    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        hint = "install the extra `orbit-registry[site]`"
        raise UsageError(f"the site needs {', '.join(missing)}, which is not installed", hint=hint)


FORMATS = ("table", "json", "csv")
SKILL_AGENTS = ("claude", "codex", "copilot", "gemini")


@operation("export", job="Set up", is_group=True)
def export_group(call: Call) -> None:
    """Write rule files, skills or a plugin for agents.

    orbit export rules --agent claude
    orbit export skills
    """


@operation("export rules", lists=True)
def rules(
    call: Call, agents: tuple[str, ...], check: bool = False, dry_run: bool = False
) -> Answer:
    """Write live records with paths as an agent's rule files.

    orbit export rules --agent claude
    orbit export rules --agent copilot --agent agents-md --check

    Args:
        agents --agent NAME: The agent: agents-md, claude, copilot, cursor or windsurf.
        check: Write nothing; exit 1 if a file is not what it would be.
        dry_run: Print what would be written; write nothing.
    """
    from orbit_registry.exchange.exporters.rules import plan, write  # `sync` and `site` need none

    workspace = call.workspace
    exports = plan(workspace, agents)
    is_written = not (check or dry_run)
    for export in exports if is_written else ():
        write(workspace, export)

    lines: list[Block] = []
    for export in exports:
        lines += _rule_lines(export, is_written=is_written)

    has_changes = any(export.changes for export in exports)
    again = " ".join(["orbit export rules", *(f"--agent {export.agent}" for export in exports)])
    data = {"rules": [export.as_data() for export in exports], "written": is_written}
    following = [again] if has_changes and not is_written else []
    return Answer(data, lines, following, ok=not (check and has_changes))


@operation("export skills")
def skills(
    call: Call,
    agent: Annotated[str, Form(enum=SKILL_AGENTS)] = "claude",
    check: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Write Orbit's three skills for an agent.

    The skills are orbit-adr, orbit-learnings and orbit-brief.

    orbit export skills
    orbit export skills --agent codex

    Args:
        agent: The agent.
        check: Write nothing; exit 1 if a skill is not what it would be.
        dry_run: Print what would be written; write nothing.
    """
    from orbit_registry.exchange.exporters.plugin import FOLDERS, skill_changes
    from orbit_registry.exchange.exporters.rules import apply_changes

    root = call.workspace.root
    changes = skill_changes(root, agent)
    is_written = not (check or dry_run)
    if is_written:
        apply_changes(root, changes)

    again = f"orbit export skills --agent {agent}"
    return _changes_answer(
        {"agent": agent},
        f"{agent}: skills in {FOLDERS[agent]}",
        changes,
        is_written,
        again=again,
        check=check,
    )


@operation("export plugin")
def plugin(call: Call, folder: Path, dry_run: bool = False) -> Answer:
    """Write a plugin: skills, hooks and the MCP server.

    orbit export plugin ~/orbit-plugin
    claude plugin marketplace add ~/orbit-plugin
    claude plugin install orbit@orbit

    Args:
        folder FOLDER: The folder to write.
        dry_run: Print what would be written; write nothing.
    """
    from orbit_registry.agents.claude import hook_events
    from orbit_registry.agents.install.install import launcher_text
    from orbit_registry.exchange.exporters.plugin import plugin_changes, plugin_files
    from orbit_registry.exchange.exporters.rules import apply_changes

    target = from_home(folder).absolute()
    changes = plugin_changes(target, plugin_files(hook_events(), launcher_text()))
    if not dry_run:
        target.mkdir(parents=True, exist_ok=True)
        apply_changes(target, changes)

    data, install = {"folder": str(target)}, f"claude plugin marketplace add {folder}"
    return _changes_answer(data, f"{folder}: the plugin", changes, not dry_run, following=[install])


@operation("export reference")
def reference(call: Call, folder: Path, dry_run: bool = False) -> Answer:
    """Write live resources as plain files.

    The folders are project, type and version.

    orbit export reference ~/reference --dry-run

    Args:
        folder FOLDER: The folder to write.
        dry_run: Print what would be written; write nothing.
    """
    from orbit_registry.exchange.exporters import reference as resource_files

    planned = resource_files.plan(call.workspace, from_home(folder))
    if not dry_run:
        resource_files.write(planned)

    head = f"{folder}: {plural(len(planned.files), 'resource')}"
    data = {
        "folder": str(planned.folder),
        "files": sorted(planned.files),
        "notes": list(planned.notes),
    }

    return _changes_answer(
        data,
        head,
        planned.changes,
        not dry_run,
        more=[f"  note: {note}" for note in planned.notes],
    )


@operation("export codeowners", lists=True)
def codeowners(
    call: Call, owners: tuple[str, ...] = (), check: bool = False, dry_run: bool = False
) -> Answer:
    """Write who owns the files of accepted decisions.

    The owners are the deciders that are accounts, teams or e-mail addresses. One marked block of
    CODEOWNERS has a line for each scope, and one for the decision's own folder. The rest of the
    file stays. Give --check the same --owner as the export.

    orbit export codeowners --owner @example/architects

    Args:
        owners: Owns decisions whose deciders are no accounts: @org/team.
        check: Write nothing; exit 1 if the file is not what it would be.
        dry_run: Print what would be written; write nothing.
    """
    from orbit_registry.exchange.exporters.codeowners import plan as plan_owners
    from orbit_registry.exchange.exporters.rules import apply_changes

    workspace = call.workspace
    planned = plan_owners(workspace, owners)
    is_written = not (check or dry_run)
    if is_written and workspace.git.top is not None:
        apply_changes(workspace.git.top, planned.changes)

    head = f"{planned.path}: {plural(planned.count, 'line')}"
    lines = _unsaid_lines(planned.unsupported)
    if planned.unowned:
        lines.append(f"  no decider is an account: {', '.join(planned.unowned)}")

    for record_id, names in planned.unusable.items():
        lines.append(f"  no account: {', '.join(names)} of {record_id}")

    if dry_run and planned.changes:
        lines += [f"    {line}" for line in "\n".join(planned.lines).splitlines()]

    return _changes_answer(
        planned.as_data(),
        head,
        planned.changes,
        is_written,
        again="orbit export codeowners",
        more=lines,
        check=check,
    )


def _changes_answer(
    data: Mapping[str, object],
    head: str,
    changes: Sequence[Change],
    is_written: bool,
    *,
    again: str = "",
    following: Sequence[str] = (),
    more: Sequence[str] = (),
    check: bool = False,
) -> Answer:
    """Return what an export changed; `again` is the command that writes it,
    where this one did not.
    """
    answer = {**data, "changes": [change.as_data() for change in changes], "written": is_written}
    lines: list[Block] = [head if changes else f"{head}, unchanged"]
    lines += [*_change_lines(changes, is_written), *more]
    if again and changes and not is_written:
        following = [again]

    return Answer(answer, lines, following, ok=not (check and changes))


def _unsaid_lines(entries: Sequence[UnsupportedGlob]) -> list[str]:
    return [f"  not said: {entry.glob} of {entry.id}: {entry.reason}" for entry in entries]


def _change_lines(changes: Sequence[Change], is_written: bool) -> list[str]:
    words = {"add": "added", "change": "changed", "remove": "removed"}
    return [
        f"  {words[change.what] if is_written else change.what}: {change.path}"
        for change in changes
    ]


def _rule_lines(export: RuleExport, *, is_written: bool) -> list[str]:
    counts = f"{plural(len(export.records), 'record')} in {plural(len(export.files), 'file')}"
    lines = [f"{export.agent}: {counts}"]
    if not export.changes:
        lines[0] += ", unchanged"
    if not export.records:
        lines.append(
            "  records are exported that are live, not stale (`orbit stale`) and have a glob "
            "(`orbit scope suggest`)"
        )

    lines += _change_lines(export.changes, is_written)
    lines += _unsaid_lines(export.unsupported)
    if export.omitted:
        lines.append(f"  {plural(export.omitted, 'record')} had no room: a file holds 1,000 tokens")
    if export.ignore and any(change.what == "add" for change in export.changes):
        lines.append(f"  to keep them out of git, put this into .gitignore: {export.ignore}")

    return lines


@operation("sync", job="Set up", of_kind=is_voted, lists=True)
def sync(
    call: Call, rebuild: Annotated[bool, GENERAL] = False, index: Annotated[bool, GENERAL] = False
) -> Answer:
    """Update the snapshot and the hook's index.

    orbit sync
    orbit sync --index        # twice as fast; the next question to the snapshot updates that

    Args:
        rebuild: Rebuild everything.
        index: Update the hook's index alone.

    Of a kind:
        Check the files and votes of {kinds}.

        It names each file and line that can't be read, changes none of them, and updates the
        snapshot.

        orbit {kind} sync
    """
    registry = call.registry
    result = registry.sync(rebuild=rebuild, snapshot=not index)
    write_event(registry.workspace, SYNCED, [], result.counted(), result.seconds)
    answer = answer_of(result, 'orbit query "FROM vote_ranking"')
    if call.kind is None:
        return answer

    return _with_votes(answer, registry, call.kind)


def _with_votes(answer: Answer, registry: Registry, kind: Kind) -> Answer:
    """Return the answer of a sync with the votes of a kind, and what of it can't be read."""
    folder = f"{registry.workspace.relative(registry.workspace.folder_of(kind))}/"
    every = registry.collection.problems
    problems = [problem for problem in every if f"{problem.location.path}/".startswith(folder)]
    skipped = sum(problem.code == BROKEN for problem in problems)
    records = registry.collection.records.of_kind(kind.name)
    votes = sum(len(distinct_votes(record.votes)) for record in records)
    return replace(
        answer,
        data={"votes": votes, "skipped": skipped, "snapshot": answer.data},
        text=[f"{plural(votes, 'vote')}, {plural(skipped, 'line')} skipped", str(answer.text)],
        diagnostics=problems,
        warned=problems,
        ok=all(problem.severity is not Severity.ERROR for problem in problems),
    )


@operation(
    "query",
    job="Find",
    line="Ask the snapshot in SQL.",
    tool="query",
    formats=FORMATS,
    lists=True,
)
def query(
    call: Call,
    sql: str,
    limit: Annotated[int, TOOL] = 100,
    seconds: Annotated[float, Form(minimum=0)] | None = None,
) -> Answer:
    """Ask the snapshot one SQL question, read only.

    The snapshot is updated first.

    orbit query "SELECT id, title FROM records WHERE status = 'accepted'"
    orbit query "FROM scope_match('src/app.py')"
    orbit query "FROM resolve_id('project-learnings/ADR-006')" --format json

    Args:
        sql SQL: One SELECT.
        limit: Maximum number of rows.
        seconds N: Time limit: 30 if not given, 10 over MCP.
    """
    if call.caller is not None:
        return _limited_query(call, sql, limit, 10.0 if seconds is None else seconds)

    text = call.registry.query(sql, call.form, 30.0 if seconds is None else seconds)
    return Answer(json.loads(text) if call.form == "json" else None, text)


def _limited_query(call: Call, sql: str, limit: int, seconds: float) -> Answer:
    """Return the first rows of a question, each cell short enough for an agent."""
    from orbit_registry.snapshot.query import limited_query

    vectors = call.registry.vectors
    result = limited_query(call.workspace, sql, seconds=float(seconds), rows=limit, vectors=vectors)
    rows = []
    for row in result.as_data():
        rows.append({name: _cell(value) for name, value in row.items()})

    text: list[Block] = [result.render("table").rstrip("\n")]
    if result.is_cut:
        text.append("there are more rows: narrow the question, or raise `limit`")

    return Answer({"columns": list(result.columns), "rows": rows, "more": result.is_cut}, text)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return cut(value, LONGEST_CELL)

    return value


@operation("snapshot", job="Publish", is_group=True)
def snapshot_group(call: Call) -> None:
    """Export the DuckDB snapshot.

    orbit snapshot export registry.duckdb
    """


@operation("snapshot export", lists=True)
def export(
    call: Call,
    file: Annotated[Path, Form(dir_okay=False)],
    parquet: Annotated[Path, Form(file_okay=False)] | None = None,
    unfiltered: bool = False,
    vectors: bool = False,
) -> Answer:
    """Write a copy of the snapshot for others.

    It holds no local state. DuckDB 1.2 and later reads it.

    orbit snapshot export orbit.duckdb --parquet tables/

    Args:
        file FILE: The file to write.
        parquet DIRECTORY: Write one Parquet file a table to this folder too.
        unfiltered: Include what `site.publish` withholds.
        vectors: Include the vectors of the configured model.
    """
    from orbit_registry.snapshot.export import (
        export_snapshot,
    )  # of the other commands none needs it

    registry = call.registry
    chosen = registry.vectors if vectors else None
    result = export_snapshot(
        registry.workspace, file, parquet, unfiltered=unfiltered, vectors=chosen
    )
    written = [str(path) for path in result]
    return Answer({"written": written}, list(written))
