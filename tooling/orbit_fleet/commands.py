"""`orbit fleet`: pushes of many repositories into one lake, and questions about all of them."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from shlex import quote
from typing import Any

import click

from orbit_fleet.collect import Collection, collect, lake_cache, token_settings
from orbit_fleet.database import DUCKDB, Engine
from orbit_fleet.engines import query
from orbit_fleet.forges import FORGES
from orbit_fleet.lake import Lake
from orbit_fleet.migrate import migrate
from orbit_fleet.push import PushResult, commit_of, push
from orbit_fleet.report import report
from orbit_fleet.search import (
    applying,
    hits_text,
    matches_text,
    record,
    record_text,
    search,
)
from orbit_fleet.sources import sources_in
from orbit_fleet.update import Update, update
from orbit_registry.doors.answers.agents import INSTALL_MCP
from orbit_registry.doors.answers.exports import need_site
from orbit_registry.doors.cli.output import (
    emit,
    format_option,
    open_registry,
    print_diagnostics,
    progress_display,
    warn_of_unread,
)
from orbit_registry.doors.cli.writer import give
from orbit_registry.errors import LakeError, UsageError, did_you_mean, plural
from orbit_registry.snapshot.query import FORMATS, QueryResult

LAKE = click.option(
    "--lake",
    required=True,
    metavar="DEST",
    help="The lake: a folder, or an address such as s3://….",
)
LONGEST_TITLE = 200  # as `project` in the configuration
ONE = click.option("--repository", metavar="NAME", help="Read this repository alone.")
ROWS = click.option(
    "--rows",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The most rows of an answer.",
)


_ENGINE = click.option(
    "--engine",
    "name",
    type=click.Choice(("duckdb", "spark")),
    default=DUCKDB.name,
    show_default=True,
    help="What reads the lake: DuckDB here, or the Spark Connect server that SPARK_REMOTE names.",
)
_ADDRESS = click.option(
    "--lake-on-engine",
    "address",
    default="",
    metavar="DEST",
    help="The lake's address as the cluster knows it: s3a://….",
)
_SECONDS = click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=DUCKDB.seconds,
    show_default=True,
    help="How long a question may take.",
)
_SIZE = click.option(
    "--memory",
    default="",
    metavar="SIZE",
    help="How much memory DuckDB takes, such as 8GB; half of the machine's by default.",
)
_SPILL = click.option(
    "--spill",
    default="",
    metavar="FOLDER",
    help="Where DuckDB puts what does not fit into memory; a temporary folder by default.",
)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of what answers its question, and of what that may use."""

    @_ENGINE
    @_ADDRESS
    @_SECONDS
    @_SIZE
    @_SPILL
    @functools.wraps(command)
    def call(
        *, name: str, address: str, seconds: float, memory: str, spill: str, **arguments: Any
    ) -> None:
        if memory and not _MEMORY.fullmatch(memory):
            raise UsageError(f"{memory!r} is no size", hint="--memory 8GB")

        if spill and not Path(spill).is_dir():
            raise UsageError(f"{spill} is no folder", hint="make it, or leave out --spill")

        command(asked_of=Engine(name, address, seconds, memory, spill), **arguments)

    return call


_MEMORY = re.compile(r"[1-9][0-9]{0,6}(?:\.[0-9]+)? ?(?:[KMGT]i?B)")


@click.group()
def group() -> None:
    """Ask one question of many repositories.

    A lake has the records of all: a folder or an object store. Collect them from here, or let each
    repository push its own.

    orbit fleet collect repositories.txt --lake /srv/lake
    orbit fleet report --lake /srv/lake
    """


@group.command("collect")
@click.argument("sources", nargs=-1, required=True)
@LAKE
@click.option("--api", default="", metavar="URL", help="The address of the forge's API.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where fetched repositories are.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), help="How many at once; the processors by default."
)
@click.option("--force", is_flag=True, help="Read all again, also those without a new commit.")
@click.option("--dry-run", is_flag=True, help="Fetch and read; write nothing into the lake.")
@format_option
def collect_command(
    sources: tuple[str, ...],
    lake: str,
    api: str,
    cache: Path | None,
    jobs: int | None,
    force: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Read the decisions of many repositories into a lake.

    A source is a file with an address a line, a folder of checkouts, or an account of a forge:
    `github:acme`, `gitlab:acme/platform`, `gitea:acme --api URL`. The forge's token is in
    GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN. Nothing is written into any repository; plain
    folders of decisions are read as `orbit import` reads them.

    orbit fleet collect repositories.txt --lake /srv/lake
    orbit fleet collect github:acme --lake s3://decisions/lake --jobs 8
    """
    dest = Lake(lake)
    expected = sources_in(sources, api=api)
    # A server refuses a request that has the header of a token twice.
    for name in sorted({argument.partition(":")[0] for argument in sources} & FORGES.keys()):
        os.environ.update(token_settings(expected.repositories, FORGES[name], api))

    with progress_display() as show:
        result = collect(
            dest,
            expected,
            cache=cache or lake_cache(dest),
            jobs=jobs or 0,
            force=force,
            dry_run=dry_run,
            on_step=show,
        )

    following = [] if dry_run else [f"orbit fleet report --lake {quote(dest.address)}"]
    emit(
        output,
        {**result.as_data(), "dry_run": dry_run},
        _collection_text(result, dry_run),
        ok=result.ok,
        next_commands=following,
    )


def _collection_text(result: Collection, dry_run: bool) -> str:
    lines = [f"{each.where}: {each.message}" for each in result.problems]
    for each in result.repositories:
        if each.outcome == "failed":
            lines += [f"{each.repository}: {each.error}", *_indented(each.hint)]
        if each.renamed_from:
            lines.append(f"{each.repository}: {each.renamed_from} before")

    lines += [f"{name}: no source names it any more; its records stay" for name in result.missing]
    counts = [
        f"{result.count(outcome)} {text}"
        for outcome, text in _OUTCOMES.items()
        if result.count(outcome)
    ]
    total = plural(len(result.repositories), "repository", "repositories")
    would = "; nothing was written" if dry_run else ""
    return "\n".join([*lines, f"{total}: {', '.join(counts) or 'none'}{would}"])


def _indented(hint: str) -> list[str]:
    return [f"  {hint}"] if hint else []


_OUTCOMES = {
    "written": "read",
    "unchanged": "unchanged",
    "empty": "without decisions",
    "failed": "failed",
}


@group.command("push")
@click.argument("dest")
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
@click.option("--data", hidden=True, expose_value=False)  # of 0.1.0
@format_option
def push_command(
    dest: str,
    repository: str | None,
    commit: str | None,
    force: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Write the records of this repository into a lake.

    What `site.publish` withholds stays here. The first push makes the lake.

    orbit fleet push s3://decisions/lake
    orbit fleet push /srv/lake --repository example/shop --dry-run
    """
    registry = open_registry()
    commit_of(registry.workspace, commit)  # a refused push makes no lake
    lake = Lake(dest)
    lake.make(dry_run=dry_run)
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
    state = result.repository
    name = f"{state.repository} at {state.commit[:12]}"
    if result.outcome == "unchanged":
        return f"{name}: nothing changed, {plural(state.records, 'record')} in the lake"

    if result.outcome == "older":
        return f"{name}: the lake has this newer commit; --force pushes the older one"

    would = "would be " if dry_run else ""
    done = f"{plural(result.changed, 'record')} {would}written, {result.removed} removed"
    rows = ", ".join(f"{count} in {table}" for table, count in result.rows.items()) or "none"
    return f"{name}: {done}, {plural(state.records, 'record')} in all\nrows: {rows}"


@group.command("repositories")
@LAKE
@format_option
def repositories_command(lake: str, output: str) -> None:
    """List the repositories of a lake.

    orbit fleet repositories --lake s3://decisions/lake
    """
    source = Lake(lake)
    source.check()
    fields = ("repository", "commit", "committed_at", "pushed_at", "records", "schema_version")
    rows = tuple(map(attrgetter(*fields), source.repositories()))
    answer = QueryResult(fields, rows)
    emit(output, answer.as_data(), answer.render("table").rstrip("\n"))


@group.command("compact", hidden=True)
@click.argument("dest")
@click.option("--grace", type=click.FloatRange(min=0), hidden=True, expose_value=False)
@click.option("--dry-run", is_flag=True, hidden=True)
@format_option
def compact_command(dest: str, dry_run: bool, output: str) -> None:
    """Say that a lake needs no compaction any more."""
    lake = Lake(dest)
    lake.check()
    count = len(lake.names())
    text = f"nothing to do: each of {plural(count, 'repository', 'repositories')} is one file"
    names = ("compacted", "unchanged", "pushes", "files_written", "files_removed")
    data = {"repositories": count, **dict.fromkeys(names, 0), "dry_run": dry_run}
    emit(output, data, text)


@group.command("migrate")
@click.argument("dest")
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def migrate_command(dest: str, dry_run: bool, output: str) -> None:
    """Bring a lake of an older Orbit up to date.

    The old files stay until the new ones are whole, and are removed then.

    orbit fleet migrate s3://decisions/lake --dry-run
    """
    lake = Lake(dest)
    result = migrate(lake, dry_run=dry_run)
    would = "would be " if dry_run else ""
    total = plural(result.repositories, "repository", "repositories")
    text = f"{total} with {plural(result.records, 'record')} {would}migrated"
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

    orbit fleet remove s3://decisions/lake example/shop --yes
    """
    yes = yes and not dry_run
    lake = Lake(dest)
    lake.check()
    names = lake.names()
    if repository not in names:
        hint = f"{did_you_mean(repository, names)}`orbit fleet repositories` lists them"
        raise LakeError(f"{lake.address} has no repository {repository!r}", hint=hint)

    state = lake.repository(repository)
    records = state.records if state else 0
    if yes:
        lake.remove(repository)

    following = []
    if not yes:
        following = [f"orbit fleet remove {quote(lake.address)} {quote(repository)} --yes"]

    done = "removed" if yes else "would be removed; --yes does it"
    data = {"repository": repository, "records": records, "removed": yes}
    text = f"{repository}: {plural(records, 'record')} {done}"
    emit(output, data, text, next_commands=following)


@group.command("search")
@click.argument("words", nargs=-1, required=True)
@LAKE
@click.option("--all", "everything", is_flag=True, help="Also records that are not live.")
@ROWS
@asking
@format_option
def search_command(
    words: tuple[str, ...],
    lake: str,
    everything: bool,
    rows: int,
    asked_of: Engine,
    output: str,
) -> None:
    """Find records of all repositories by words.

    orbit fleet search connection pool --lake /srv/lake
    """
    text = " ".join(words)
    answer = search(Lake(lake), text, rows=rows, everything=everything, engine=asked_of)
    hits = hits_text(answer)
    if not answer.rows and not everything:
        hits += "; `--all` looks at records that are not live, too"

    emit(output, answer.as_data(), hits)


@group.command("explain")
@click.argument("path")
@LAKE
@click.option("--repository", required=True, metavar="NAME", help="The repository of the file.")
@asking
@format_option
def explain_command(path: str, lake: str, repository: str, asked_of: Engine, output: str) -> None:
    """Say which records apply to a file of a repository.

    Scopes say that. A lake has no code: `orbit explain` in a checkout also knows what it cites.

    orbit fleet explain src/app.py --repository acme/shop --lake /srv/lake
    """
    answer = applying(Lake(lake), path, repository, asked_of)
    emit(output, answer.as_data(), matches_text(answer))


@group.command("show")
@click.argument("record_id", metavar="ID")
@LAKE
@click.option("--repository", required=True, metavar="NAME", help="The record's repository.")
@asking
@format_option
def show_command(record_id: str, lake: str, repository: str, asked_of: Engine, output: str) -> None:
    """Show a record of a repository with its text.

    orbit fleet show ADR-0012 --repository acme/shop --lake /srv/lake
    """
    answer = record(Lake(lake), repository, record_id, asked_of)
    emit(output, answer.as_data()[0], record_text(answer))


@group.command("mcp")
@LAKE
def mcp_command(lake: str) -> None:
    """Serve a lake to an agent over MCP, read only.

    Its tools are search, show, explain and query.

    orbit fleet mcp --lake /srv/lake
    claude mcp add decisions -- orbit fleet mcp --lake /srv/lake
    """
    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra `mcp`", hint=INSTALL_MCP)

    from orbit_fleet.mcp import serve  # part of that extra

    serve(Lake(lake))


@group.command("query")
@click.argument("sql")
@LAKE
@ONE
@asking
@click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
def query_command(
    sql: str,
    lake: str,
    repository: str | None,
    asked_of: Engine,
    output: str,
) -> None:
    """Ask a lake one SQL question, read only.

    orbit fleet query "SELECT repository, id FROM records WHERE kind = 'adr'" --lake /srv/lake
    orbit fleet query "FROM scope_match('src/app.py')" --lake /srv/lake --repository example/shop
    """
    result = query(Lake(lake), sql, repository, asked_of)
    answer = result.render(output)
    if output == "json":
        emit(output, json.loads(answer), "")
    else:
        give(answer, nl=False)


@group.command("report")
@click.argument("question", required=False)
@LAKE
@ROWS
@asking
@format_option
def report_command(
    question: str | None,
    lake: str,
    rows: int,
    asked_of: Engine,
    output: str,
) -> None:
    """Answer the questions that every organisation has.

    The questions are contradictions, coverage, inheritance, members, overrides,
    repeated-decisions, repeated-learnings, states and votes.

    orbit fleet report --lake s3://decisions/lake
    orbit fleet report contradictions --lake s3://decisions/lake --rows 100
    """
    answers = report(Lake(lake), question, rows=rows, engine=asked_of)
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
    """Fetch inherited records, and those that sources inherit.

    `extends` names the sources. The copy in `.orbit/inherited` is replaced, and its digest is
    written to the configuration. Commit both.

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
    name = each.name
    if each.through:
        name += f" through {' and '.join(each.through)}"

    if each.digest == each.before and not (each.added or each.changed or each.gone):
        return f"{name}: nothing changed, {plural(each.records, 'record')}"

    counts = f"{len(each.added)} added, {len(each.changed)} changed, {len(each.gone)} gone"
    lines = [f"{name}: {counts}, {plural(each.records, 'record')} in all"]
    for mark, ids in (("+", each.added), ("~", each.changed), ("-", each.gone)):
        lines += [f"  {mark} {each.name}:{record_id}" for record_id in ids]

    return "\n".join([*lines, f"  {each.digest}"])


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
    from orbit_fleet.site.build import build_fleet_site  # where its libraries are there

    result = build_fleet_site(Lake(lake), dest.resolve(), title, base_url)
    if output == "text":
        print_diagnostics(result.diagnostics)

    text = f"{plural(result.pages, 'page')}: {plural(result.written, 'file')} written\n{result.out}"
    emit(output, result.as_data(), text, ok=result.ok, diagnostics=result.diagnostics)
