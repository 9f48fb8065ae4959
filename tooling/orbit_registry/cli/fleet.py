"""`orbit fleet`: pushes of many repositories into one lake, and questions about all of them."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import Any

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    open_registry,
    print_diagnostics,
    warn_of_unread,
)
from orbit_registry.cli.publish import need_site
from orbit_registry.cli.writer import give, say
from orbit_registry.errors import UsageError, plural
from orbit_registry.fleet.compact import GRACE_HOURS, compact, removal, remove, repositories
from orbit_registry.fleet.database import query
from orbit_registry.fleet.ducklake import DuckLake, lake_at
from orbit_registry.fleet.lake import Lake
from orbit_registry.fleet.push import PushResult, commit_of, push
from orbit_registry.fleet.report import report
from orbit_registry.fleet.update import Update, update
from orbit_registry.snapshot.query import FORMATS, QueryResult

LAKE = click.option(
    "--lake",
    required=True,
    metavar="DEST",
    help="The lake: a folder, or an address such as s3://… or ducklake:….",
)
LONGEST_TITLE = 200  # as `project` in the configuration
ONE = click.option("--repository", metavar="NAME", help="Read this repository alone.")


@click.group()
def group() -> None:
    """Ask one question of many repositories.

    Each repository pushes its records into a lake: a folder or an object store, or files that a
    database lists.

    orbit fleet push s3://decisions/lake
    orbit fleet query "FROM repositories" --lake s3://decisions/lake
    """


def _opened(address: str, **options: Any) -> Lake:
    """Return the lake at an address; when the command ends, it is closed,
    and its damaged manifests are named.
    """
    lake = lake_at(address, **options)

    def end() -> None:
        if isinstance(lake, DuckLake):
            lake.close()  # its catalogue may be locked
        for name in sorted(lake.unreadable):
            repair = (
                f"`orbit fleet push {quote(lake.address)}` in its repository writes all "
                f"records anew"
            )
            say(f"damaged, does not count: {name}; {repair}", err=True)

    click.get_current_context().call_on_close(end)
    return lake


@group.command("push")
@click.argument("dest")
@click.option("--data", default="", metavar="DEST", help="Where the files of a new ducklake:… go.")
@click.option(
    "--repository",
    metavar="NAME",
    help="The repository's name; else the path of its remote `origin`.",
)
@click.option(
    "--commit", metavar="SHA", help="The state's name where it is no commit, such as a date."
)
@click.option("--force", is_flag=True, help="Write all records, even over a newer commit.")
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def push_command(
    dest: str,
    data: str,
    repository: str | None,
    commit: str | None,
    force: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Write the records that changed into a lake.

    What `site.publish` withholds stays here. The first push makes the lake.

    orbit fleet push s3://decisions/lake
    orbit fleet push /srv/lake --repository example/shop --dry-run
    orbit fleet push 'ducklake:postgres:host=db.example dbname=lake' --data s3://decisions/files
    """
    registry = open_registry()
    commit_of(registry.workspace, commit)  # a refused push makes no lake
    lake = _opened(dest, create=not dry_run, may_be_new=True, data=data)
    result = push(
        registry.workspace, lake, repository=repository, commit=commit, force=force, dry_run=dry_run
    )
    following = (
        [] if dry_run else [f"orbit fleet query 'FROM repositories' --lake {quote(lake.address)}"]
    )
    emit(
        output,
        {**result.as_data(), "dry_run": dry_run},
        _push_text(result, dry_run),
        next_commands=following,
    )

    warn_of_unread(registry)


def _push_text(result: PushResult, dry_run: bool) -> str:
    manifest = result.push
    name = f"{manifest.repository} at {manifest.commit[:12]}"
    lines = [f"unreadable manifest, does not count: {path}" for path in result.unreadable]
    if result.outcome == "unchanged":
        return "\n".join(
            [*lines, f"{name}: nothing changed, {plural(manifest.records, 'record')} in the lake"]
        )

    if result.outcome == "older":
        return "\n".join(
            [*lines, f"{name}: the lake has this newer commit; --force pushes the older one"]
        )

    rows = ", ".join(f"{count} in {table}" for table, count in manifest.rows.items()) or "none"
    done = (
        f"{plural(result.changed, 'record')} {'would be ' if dry_run else ''}written, "
        f"{result.removed} removed"
    )
    return "\n".join(
        [*lines, f"{name}: {done}, {plural(manifest.records, 'record')} in all", f"rows: {rows}"]
    )


@group.command("repositories")
@LAKE
@format_option
def repositories_command(lake: str, output: str) -> None:
    """List the repositories of a lake.

    orbit fleet repositories --lake s3://decisions/lake
    """
    source = _opened(lake)
    fields = ("repository", "commit", "committed_at", "pushed_at", "records", "schema_version")
    rows = [tuple(getattr(manifest, name) for name in fields) for manifest in repositories(source)]
    answer = QueryResult(fields, tuple(rows))
    emit(output, answer.as_data(), answer.render("table").rstrip("\n"))


@group.command("compact")
@click.argument("dest")
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=GRACE_HOURS,
    show_default=True,
    metavar="HOURS",
    help="Keep files without a use so long: a reader may need them.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done; write nothing.")
@format_option
def compact_command(dest: str, grace: float, dry_run: bool, output: str) -> None:
    """Merge the files of many pushes.

    Questions then read few files. It also deletes files without a use. Run it once a night.

    orbit fleet compact s3://decisions/lake
    """
    lake = _opened(dest, writes=not dry_run)
    result = compact(lake, grace_hours=grace, dry_run=dry_run)
    would = "would be " if dry_run else ""
    pushes = plural(result.pushes, "push", "pushes")
    done = (
        f"{plural(result.compacted, 'bucket')} {would}compacted ({pushes}), "
        f"{result.unchanged} unchanged"
    )

    if isinstance(lake, DuckLake):
        done = f"rows of {pushes} {would}deleted"

    files = (
        f"{plural(result.files_written, 'file')} {would}written, {result.files_removed} "
        f"{would}removed"
    )
    text = f"{done}, {plural(result.repositories, 'repository', 'repositories')}\n{files}"
    emit(output, {**result.as_data(), "dry_run": dry_run}, text)


@group.command("remove")
@click.argument("dest")
@click.argument("repository")
@click.option(
    "--yes", is_flag=True, help="Remove it; without this, only print what would be removed."
)
@click.option("--dry-run", is_flag=True, help="Print what would be removed; remove nothing.")
@format_option
def remove_command(dest: str, repository: str, yes: bool, dry_run: bool, output: str) -> None:
    """Remove a repository from a lake.

    Views and report lack it at once. `orbit fleet compact DEST --grace 0` deletes the rows from the
    files.

    orbit fleet remove s3://decisions/lake example/shop --yes
    """
    yes = yes and not dry_run
    lake = _opened(dest, writes=yes)
    planned = removal(lake, repository)
    if yes:
        remove(lake, planned)

    following = [f"orbit fleet compact {quote(lake.address)} --grace 0"]
    if not yes:
        following = [f"orbit fleet remove {quote(lake.address)} {quote(repository)} --yes"]

    text = (
        f"{repository}: {plural(planned.records, 'record')} "
        f"{'removed' if yes else 'would be removed; --yes does it'}"
    )
    data = {"repository": repository, "records": planned.records, "removed": yes}
    emit(output, data, text, next_commands=following)


@group.command("query")
@click.argument("sql")
@LAKE
@ONE
@click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
def query_command(sql: str, lake: str, repository: str | None, output: str) -> None:
    """Ask a lake one SQL question, read only.

    orbit fleet query "SELECT repository, id, title FROM records WHERE kind = 'adr'" --lake
    s3://decisions/lake orbit fleet query "FROM scope_match('src/app.py')" --lake /srv/lake
    --repository example/shop
    """
    source = _opened(lake)
    answer = query(source, sql, repository).render(output)
    if output == "json":
        emit(output, json.loads(answer), "")
    else:
        give(answer, nl=False)


@group.command("report")
@click.argument("question", required=False)
@LAKE
@click.option(
    "--engine",
    type=click.Choice(["duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="What reads the lake.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The most rows of an answer.",
)
@format_option
def report_command(question: str | None, lake: str, engine: str, rows: int, output: str) -> None:
    """Answer the questions that every organisation has.

    The questions are contradictions, inheritance, overrides, repeated-decisions,
    repeated-learnings, states and votes.

    orbit fleet report --lake s3://decisions/lake
    orbit fleet report contradictions --lake s3://decisions/lake --rows 100
    """
    source = _opened(lake)
    answers = report(source, question, rows=rows, engine=engine)
    emit(
        output,
        [answer.as_data() for answer in answers],
        "\n\n\n".join(answer.text() for answer in answers),
    )


@group.command("update")
@click.argument("name", required=False)
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
@format_option
def update_command(name: str | None, dry_run: bool, output: str) -> None:
    """Fetch the records that `extends` names.

    The copy in `.orbit/inherited` is replaced, and its digest is written to the configuration.
    Commit both.

    orbit fleet update --dry-run
    orbit fleet update org
    """
    updates = update(open_registry().workspace, name, dry_run=dry_run)
    following = [] if dry_run else ["orbit check"]
    emit(
        output,
        {"sources": [each.as_data() for each in updates], "dry_run": dry_run},
        "\n".join(map(_update_text, updates)),
        next_commands=following,
    )


def _update_text(each: Update) -> str:
    if each.digest == each.before and not (each.added or each.changed or each.gone):
        return f"{each.name}: nothing changed, {plural(each.records, 'record')}"

    counts = f"{len(each.added)} added, {len(each.changed)} changed, {len(each.gone)} gone"
    rows = (("+", each.added), ("~", each.changed), ("-", each.gone))
    lines = [f"  {mark} {each.name}:{record_id}" for mark, ids in rows for record_id in ids]

    return "\n".join(
        [
            f"{each.name}: {counts}, {plural(each.records, 'record')} in all",
            *lines,
            f"  {each.digest}",
        ]
    )


@group.command("site")
@click.argument("dest", type=click.Path(file_okay=False, path_type=Path))
@LAKE
@click.option(
    "--title",
    default="Decisions of all repositories",
    show_default=True,
    help="The name of the site.",
)
@click.option("--base-url", help="Its final address: https://example.org/decisions/")
@format_option
def site_command(dest: Path, lake: str, title: str, base_url: str | None, output: str) -> None:
    """Write one site about all repositories.

    It has a page for each question of the report, the repositories and their decisions.

    orbit fleet site fleet-site --lake s3://decisions/lake
    """
    if len(title) > LONGEST_TITLE:
        raise UsageError(
            f"the title has {len(title)} characters",
            hint=f"give one of at most {LONGEST_TITLE}: --title",
        )

    need_site()
    from orbit_registry.site.fleet import (
        build_fleet_site,
    )  # only where its libraries are known to be there

    source = _opened(lake)
    result = build_fleet_site(source, dest.resolve(), title, base_url)
    if output == "text":
        print_diagnostics(result.diagnostics)

    text = f"{plural(result.pages, 'page')}: {plural(result.written, 'file')} written\n{result.out}"
    emit(output, result.as_data(), text, ok=result.ok, diagnostics=result.diagnostics)
