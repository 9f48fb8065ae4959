"""`orbit site`, `export`, `sync`, `query` and `snapshot`: everything derived from the records."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    keep_out,
    open_registry,
    print_diagnostics,
    progress_display,
    warn_of_unread,
)
from orbit_registry.cli.writer import give, say
from orbit_registry.errors import UsageError, plural
from orbit_registry.hook.events import SYNCED
from orbit_registry.workspace.event_log import write_event

if TYPE_CHECKING:
    from orbit_registry.exporters.rules import Change, RuleExport


@click.group()
def site_group() -> None:
    """Build or serve the site.

    orbit site build --out site
    orbit site serve
    """


@site_group.command("build")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    show_default=True,
    help="The folder to write to.",
)
@click.option("--base-url", help="Its final address: https://example.org/decisions/")
@click.option(
    "--strict", is_flag=True, help="Exit 1 after a warning, such as a broken link, or an error."
)
@format_option
def build(out: Path, base_url: str | None, strict: bool, output: str) -> None:
    """Write the site to a folder.

    Only pages that changed are written.

    orbit site build --out site
    """
    need_site()
    from orbit_registry.site.build import (
        build_site,
    )  # only where its libraries are known to be there

    with progress_display() as progress:
        registry = open_registry()
        result = build_site(
            registry, out.resolve(), base_url=base_url, strict=strict, progress=progress
        )

    if output == "text":
        print_diagnostics(result.diagnostics)

    done = (
        f"{plural(result.written, 'file')} written, {result.unchanged} unchanged, "
        f"{result.removed} removed"
    )
    lines = [
        f"{plural(result.pages, 'page')}: {done}",
        str(result.out),
        *keep_out(registry.workspace.git, result.out),
    ]
    lines.append(
        f"read it: python3 -m http.server --bind 127.0.0.1 --directory "
        f"{shlex.quote(str(result.out))}"
    )
    emit(output, result.as_data(), "\n".join(lines), ok=result.ok, diagnostics=result.diagnostics)


@site_group.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port; 0 takes any free one.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to build in; a cache if not given.",
)
def serve(port: int, out: Path | None) -> None:
    """Serve the site on this machine, and rebuild on changes.

    Ctrl-C ends it.

    orbit site serve --port 8001
    """
    need_site()
    from orbit_registry.site.serve import (
        serve_site,
    )  # only where its libraries are known to be there

    with contextlib.ExitStack() as display:
        progress = display.enter_context(progress_display())

        def tell(line: str) -> None:
            display.close()  # the first build is done
            say(line)

        serve_site(
            open_registry(),
            port=port,
            out=out.resolve() if out else None,
            say=tell,
            progress=progress,
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


def _exporter_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    from orbit_registry.exporters.rules import exporters

    return [name for name in exporters() if name.startswith(incomplete)]


SKILL_AGENTS = ("claude", "codex", "copilot", "gemini")


@click.group()
def export_group() -> None:
    """Write rule files, skills or a plugin for agents.

    orbit export rules --agent claude
    orbit export skills
    """


@export_group.command()
@click.option(
    "--agent",
    "agents",
    multiple=True,
    required=True,
    metavar="NAME",
    shell_complete=_exporter_names,
    help="The agent: agents-md, claude, copilot, cursor or windsurf.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if a file is not what it would be."
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def rules(agents: tuple[str, ...], check: bool, dry_run: bool, output: str) -> None:
    """Write live records with paths as an agent's rule files.

    orbit export rules --agent claude
    orbit export rules --agent copilot --agent agents-md --check
    """
    from orbit_registry.exporters.rules import plan, write  # `sync` and `site` need none

    workspace = open_registry().workspace
    exports = plan(workspace, agents)
    is_written = not (check or dry_run)
    for export in exports if is_written else ():
        write(workspace, export)

    lines = [line for export in exports for line in _rule_lines(export, is_written=is_written)]
    has_changes = any(export.changes for export in exports)
    again = f"orbit export rules {' '.join(f'--agent {export.agent}' for export in exports)}"
    data = {"rules": [export.as_data() for export in exports], "written": is_written}
    following = [again] if has_changes and not is_written else []
    emit(output, data, "\n".join(lines), ok=not (check and has_changes), next_commands=following)


@export_group.command()
@click.option(
    "--agent",
    type=click.Choice(SKILL_AGENTS),
    default="claude",
    show_default=True,
    help="The agent.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if a skill is not what it would be."
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def skills(agent: str, check: bool, dry_run: bool, output: str) -> None:
    """Write Orbit's three skills for an agent.

    The skills are orbit-adr, orbit-learnings and orbit-brief.

    orbit export skills
    orbit export skills --agent codex
    """
    from orbit_registry.exporters.plugin import FOLDERS, skill_changes
    from orbit_registry.exporters.rules import apply_changes

    root = open_registry().workspace.root
    changes = skill_changes(root, agent)
    is_written = not (check or dry_run)
    if is_written:
        apply_changes(root, changes)

    again = f"orbit export skills --agent {agent}"
    _print_changes(
        output,
        {"agent": agent},
        f"{agent}: skills in {FOLDERS[agent]}",
        changes,
        is_written,
        again=again,
        check=check,
    )


@export_group.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def plugin(folder: Path, dry_run: bool, output: str) -> None:
    """Write a plugin: skills, hooks and the MCP server.

    orbit export plugin ~/orbit-plugin
    claude plugin marketplace add ~/orbit-plugin
    claude plugin install orbit@orbit
    """
    from orbit_registry.agents.claude import hook_events
    from orbit_registry.exporters.plugin import plugin_changes, plugin_files
    from orbit_registry.exporters.rules import apply_changes
    from orbit_registry.install.install import launcher_text

    target = folder.expanduser().absolute()
    changes = plugin_changes(target, plugin_files(hook_events(), launcher_text()))
    if not dry_run:
        target.mkdir(parents=True, exist_ok=True)
        apply_changes(target, changes)

    data, install = {"folder": str(target)}, f"claude plugin marketplace add {folder}"
    _print_changes(output, data, f"{folder}: the plugin", changes, not dry_run, following=[install])


@export_group.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def reference(folder: Path, dry_run: bool, output: str) -> None:
    """Write live resources as plain files.

    The folders are project, type and version.

    orbit export reference ~/reference --dry-run
    """
    from orbit_registry.exporters import reference as resource_files

    planned = resource_files.plan(open_registry().workspace, folder.expanduser())
    if not dry_run:
        resource_files.write(planned)

    head = f"{folder}: {plural(len(planned.files), 'resource')}"
    data = {
        "folder": str(planned.folder),
        "files": sorted(planned.files),
        "notes": list(planned.notes),
    }

    _print_changes(
        output,
        data,
        head,
        planned.changes,
        not dry_run,
        more=[f"  note: {note}" for note in planned.notes],
    )


@export_group.command()
@click.option(
    "--owner",
    "owners",
    multiple=True,
    help="Owns decisions whose deciders are no accounts: @org/team.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if the file is not what it would be."
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def codeowners(owners: tuple[str, ...], check: bool, dry_run: bool, output: str) -> None:
    """Write who owns the files of accepted decisions.

    The owners are the deciders that are accounts, teams or e-mail addresses. One marked block of
    CODEOWNERS has a line for each scope, and one for the decision's own folder. The rest of the
    file stays. Give --check the same --owner as the export.

    orbit export codeowners --owner @example/architects
    """
    from orbit_registry.exporters.codeowners import plan as plan_owners
    from orbit_registry.exporters.rules import apply_changes

    workspace = open_registry().workspace
    planned = plan_owners(workspace, owners)
    is_written = not (check or dry_run)
    if is_written and workspace.git.top is not None:
        apply_changes(workspace.git.top, planned.changes)

    head = f"{planned.path}: {plural(planned.count, 'line')}"
    lines = [
        f"  not said: {entry.glob} of {entry.id}: {entry.reason}" for entry in planned.unsupported
    ]
    if planned.unowned:
        lines.append(f"  no decider is an account: {', '.join(planned.unowned)}")

    lines += [
        f"  no account: {', '.join(names)} of {record_id}"
        for record_id, names in planned.unusable.items()
    ]
    preview = (
        [f"    {line}" for line in "\n".join(planned.lines).splitlines()]
        if dry_run and planned.changes
        else []
    )

    _print_changes(
        output,
        planned.as_data(),
        head,
        planned.changes,
        is_written,
        again="orbit export codeowners",
        more=[*lines, *preview],
        check=check,
    )


def _print_changes(
    output: str,
    data: Mapping[str, object],
    head: str,
    changes: Sequence[Change],
    is_written: bool,
    *,
    again: str = "",
    following: Sequence[str] = (),
    more: Sequence[str] = (),
    check: bool = False,
) -> None:
    """Print what an export changed; `again` is the command that writes it,
    where this one did not.
    """
    answer = {**data, "changes": [change.as_data() for change in changes], "written": is_written}
    lines = [head if changes else f"{head}, unchanged", *_change_lines(changes, is_written), *more]
    following = [again] if again and changes and not is_written else following
    emit(output, answer, "\n".join(lines), ok=not (check and changes), next_commands=following)


def _change_lines(changes: Sequence[Change], is_written: bool) -> list[str]:
    words = {"add": "added", "change": "changed", "remove": "removed"}
    return [
        f"  {words[change.what] if is_written else change.what}: {change.path}"
        for change in changes
    ]


def _rule_lines(export: RuleExport, *, is_written: bool) -> list[str]:
    counts = f"{plural(len(export.records), 'record')} in {plural(len(export.files), 'file')}"
    lines = [f"{export.agent}: {counts}" + ("" if export.changes else ", unchanged")]
    if not export.records:
        lines.append(
            "  records are exported that are live, not stale (`orbit stale`) and have a glob "
            "(`orbit scope suggest`)"
        )

    lines += _change_lines(export.changes, is_written)
    lines += [
        f"  not said: {entry.glob} of {entry.id}: {entry.reason}" for entry in export.unsupported
    ]
    if export.omitted:
        lines.append(f"  {plural(export.omitted, 'record')} had no room: a file holds 1,000 tokens")
    if export.ignore and any(change.what == "add" for change in export.changes):
        lines.append(f"  to keep them out of git, put this into .gitignore: {export.ignore}")

    return lines


@click.command()
@click.option("--rebuild", is_flag=True, help="Rebuild everything.")
@format_option
def sync(rebuild: bool, output: str) -> None:
    """Update the snapshot and the hook's index.

    orbit sync
    """
    registry = open_registry()
    result = registry.sync(rebuild=rebuild)
    write_event(registry.workspace, SYNCED, [], result.counted(), result.seconds)
    emit(output, result.as_data(), result.text(), next_commands=['orbit query "FROM vote_ranking"'])
    warn_of_unread(registry)


@click.command()
@click.argument("sql")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="Output format.",
)
def query(sql: str, output: str) -> None:
    """Ask the snapshot one SQL question, read only.

    The snapshot is updated first.

    orbit query "SELECT id, title FROM records WHERE status = 'accepted'"
    orbit query "FROM scope_match('src/app.py')"
    orbit query "FROM resolve_id('project-learnings/ADR-006')" --format json
    """
    registry = open_registry()
    answer = registry.query(sql, output)
    if output == "json":
        emit(output, json.loads(answer), "")
    else:
        give(answer, nl=False)

    warn_of_unread(registry)


@click.group()
def snapshot_group() -> None:
    """Export the DuckDB snapshot.

    orbit snapshot export registry.duckdb
    """


@snapshot_group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--parquet",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one Parquet file a table to this folder too.",
)
@click.option("--unfiltered", is_flag=True, help="Include what `site.publish` withholds.")
@click.option("--vectors", is_flag=True, help="Include the vectors of the configured model.")
@format_option
def export(file: Path, parquet: Path | None, unfiltered: bool, vectors: bool, output: str) -> None:
    """Write a copy of the snapshot for others.

    It holds no local state. DuckDB 1.2 and later reads it.

    orbit snapshot export orbit.duckdb --parquet tables/
    """
    from orbit_registry.snapshot.export import (
        export_snapshot,
    )  # of the other commands none needs it

    registry = open_registry()
    chosen = registry.vectors if vectors else None
    result = export_snapshot(
        registry.workspace, file, parquet, unfiltered=unfiltered, vectors=chosen
    )
    emit(
        output, {"written": [str(path) for path in result]}, "\n".join(str(path) for path in result)
    )
