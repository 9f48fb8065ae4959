"""`orbit fleet`: many repositories into one lake, and questions about all of them."""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from shlex import quote
from stat import S_ISDIR
from typing import Annotated, Any

from orbit_fleet import search
from orbit_fleet.collect import collect, lake_cache, token_settings
from orbit_fleet.database import DUCKDB, Engine, refuse_unknown
from orbit_fleet.engines import query
from orbit_fleet.forges import FORGES, apis_of
from orbit_fleet.lake import REPAIR, Lake
from orbit_fleet.migrate import migrate
from orbit_fleet.push import commit_of, push
from orbit_fleet.report import report
from orbit_fleet.sources import sources_in
from orbit_fleet.store import mode_of
from orbit_fleet.update import update
from orbit_registry.doors.answers.agents import INSTALL_MCP
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import EARLIER, Count, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.exports import need_site
from orbit_registry.doors.answers.table import ENTRIES, operation
from orbit_registry.errors import UsageError, plural
from orbit_registry.snapshot.query import FORMATS, QueryResult
from orbit_registry.workspace.files import resolved

LONGEST_TITLE = 200  # as `project` in the configuration
_MEMORY = re.compile(r"[1-9][0-9]{0,6}(?:\.[0-9]+)? ?(?:[KMGT]i?B)")
_ASKING = """
        engine: What reads the lake: DuckDB here, or the Spark Connect server that SPARK_REMOTE
         names.
        lake_on_engine --lake-on-engine DEST: The lake's address as the cluster knows it: s3a://….
        seconds: How long a question may take.
        memory --memory SIZE: How much memory DuckDB takes, such as 8GB; half of the machine's by
         default.
        spill --spill FOLDER: Where DuckDB puts what does not fit into memory; a temporary folder by
         default.
"""
Asked = Callable[..., Answer]


def _engine(
    engine: Annotated[str, Form(enum=("duckdb", "spark"))] = DUCKDB.name,
    lake_on_engine: str = "",
    seconds: Annotated[float, Form(minimum=1)] = DUCKDB.seconds,
    memory: str = "",
    spill: str = "",
) -> Engine:
    if memory and not _MEMORY.fullmatch(memory):
        raise UsageError(f"{memory!r} is no size", hint="--memory 8GB")

    if spill and not S_ISDIR(mode_of(Path(spill))):
        raise UsageError(f"{spill} is no folder", hint="make it, or leave out --spill")

    return Engine(engine, lake_on_engine, seconds, memory, spill)


_ENGINE = inspect.signature(_engine, eval_str=True).parameters


def asking(function: Asked) -> Asked:
    """Give an operation the options of what answers its question, and of what that may use."""
    declared = dict(inspect.signature(function, eval_str=True).parameters)
    declared["lake"] = declared["lake"].replace(annotation=str)
    del declared["engine"]
    parameters = [*declared.values(), *_ENGINE.values()]

    def run(call: Call, /, *, lake: str, **values: Any) -> Answer:
        options = {name: values.pop(name) for name in _ENGINE if name in values}
        source = Lake(lake)
        answer = function(call, lake=source, **values, engine=_engine(**options))
        notes = [*answer.notes, *map(_damage, source.damaged)]
        return replace(answer, notes=notes, ok=answer.ok and not source.damaged)

    run.__name__ = function.__name__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__annotations__["return"] = Answer
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    # Python 3.13 takes the indentation out of a docstring, earlier ones do not.
    words = inspect.cleandoc(function.__doc__ or "")
    run.__doc__ = words + textwrap.indent(textwrap.dedent(_ASKING), "    ")
    key = f"{function.__module__}.{function.__name__}"
    ENTRIES[key] = replace(ENTRIES[key], run=run)
    return function


def _damage(name: str) -> str:
    return (
        f"warning: the file of {name} is damaged, and nothing here is from it; {REPAIR} repairs it"
    )


@operation("fleet", job="Publish", is_group=True)
def fleet_group(call: Call) -> None:
    """Ask one question of many repositories.

    A lake has the records of all: a folder or an object store. Collect them from here, or let each
    repository push its own.

    orbit fleet collect repositories.txt --lake /srv/lake
    orbit fleet report --lake /srv/lake
    """


@operation("fleet collect", writes=True)
def fleet_collect(
    call: Call,
    sources: Sequence[str],
    lake: str,
    apis: Sequence[str] = (),
    cache: Annotated[Path, Form(file_okay=False)] | None = None,
    jobs: Annotated[int, Form(minimum=1, maximum=64)] | None = None,
    force: bool = False,
    code: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Read the decisions of many repositories into a lake.

    A source is a file with an address a line, a folder of checkouts, or an account of a forge:
    `github:acme`, `gitlab:acme/platform`, `gitea:acme --api URL`. The forge's token is in
    GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN. Nothing is written into any repository; plain
    folders of decisions are read as `orbit import` reads them.

    orbit fleet collect repositories.txt --lake /srv/lake
    orbit fleet collect github:acme --lake s3://decisions/lake --jobs 8

    Args:
        sources SOURCES...: A list of repositories, a folder of checkouts, or an account of a forge.
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        apis --api URL: The address of the forge's API; FORGE=URL where there are several forges.
        cache --cache FOLDER: Where fetched repositories are.
        jobs: How many at once; the processors by default.
        force: Read all again, also those without a new commit.
        code: Fetch all files, so that `explain` knows what they cite and import.
        dry_run: Fetch and read; write nothing into the lake.
    """
    dest = Lake(lake)
    addresses = apis_of(sources, apis)
    expected = sources_in(sources, apis=addresses)
    # A server refuses a request that has the header of a token twice.
    for name in sorted({argument.partition(":")[0] for argument in sources} & FORGES.keys()):
        api = addresses.get(name, "")
        os.environ.update(token_settings(expected.repositories, FORGES[name], api))

    with call.progress() as show:
        result = collect(
            dest,
            expected,
            cache=cache or lake_cache(dest),
            jobs=jobs or 0,
            force=force,
            code=code,
            dry_run=dry_run,
            on_step=show,
        )

    text = result.text() + ("; nothing was written" if dry_run else "")
    following = [] if dry_run else [f"orbit fleet report --lake {quote(dest.address)}"]
    return Answer({**result.as_data(), "dry_run": dry_run}, text, following, ok=result.ok)


@operation("fleet push", writes=True, lists=True)
def fleet_push(
    call: Call,
    dest: str,
    repository: str | None = None,
    commit: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    data: Annotated[str, EARLIER] | None = None,
) -> Answer:
    """Write the records of this repository into a lake.

    What `site.publish` withholds stays here. The first push makes the lake.

    orbit fleet push s3://decisions/lake
    orbit fleet push /srv/lake --repository example/shop --dry-run

    Args:
        dest DEST: The lake: a folder, or an address such as s3://….
        repository --repository NAME: The repository's name; else the path of its remote `origin`.
        commit --commit SHA: The state's name where it is no commit, such as a date.
        force: Write all records, even over a newer commit.
        dry_run: Print what would be written; write nothing.
        data: Of 0.1.0.
    """
    commit_of(call.workspace, commit)  # a refused push makes no lake
    lake = Lake(dest)
    lake.make(dry_run=dry_run)
    result = push(
        call.workspace, lake, repository=repository, commit=commit, force=force, dry_run=dry_run
    )
    ask = f"orbit fleet query 'FROM repositories' --lake {quote(lake.address)}"
    following = [] if dry_run else [ask]
    return Answer({**result.as_data(), "dry_run": dry_run}, result.text(dry_run), following)


@operation("fleet repositories")
def fleet_repositories(call: Call, lake: str) -> Answer:
    """List the repositories of a lake.

    orbit fleet repositories --lake s3://decisions/lake

    Args:
        lake --lake DEST: The lake: a folder, or an address such as s3://….
    """
    source = Lake(lake)
    source.check()
    fields = ("repository", "commit", "committed_at", "pushed_at", "records", "schema_version")
    rows = tuple(map(attrgetter(*fields), source.repositories()))
    notes = list(map(_damage, source.damaged))
    answer = QueryResult(fields, rows)
    return Answer(answer.as_data(), answer.render("table").rstrip("\n"), notes=notes)


@operation("fleet compact", is_hidden=True)
def fleet_compact(
    call: Call,
    dest: str,
    grace: Annotated[float, EARLIER] | None = None,
    dry_run: bool = False,
) -> Answer:
    """Say that a lake needs no compaction any more.

    Args:
        dest DEST: The lake: a folder, or an address such as s3://….
        grace: Of 0.1.0.
        dry_run: Of 0.1.0.
    """
    lake = Lake(dest)
    lake.check()
    count = len(lake.names())
    text = f"nothing to do: each of {plural(count, 'repository', 'repositories')} is one file"
    names = ("compacted", "unchanged", "pushes", "files_written", "files_removed")
    return Answer({"repositories": count, **dict.fromkeys(names, 0), "dry_run": dry_run}, text)


@operation("fleet migrate", writes=True)
def fleet_migrate(call: Call, dest: str, dry_run: bool = False) -> Answer:
    """Bring a lake of an older Orbit up to date.

    The old files stay until the new ones are whole, and are removed then.

    orbit fleet migrate s3://decisions/lake --dry-run

    Args:
        dest DEST: The lake: a folder, or an address such as s3://….
        dry_run: Print what would be written; write nothing.
    """
    result = migrate(Lake(dest), dry_run=dry_run)
    would = "would be " if dry_run else ""
    total = plural(result.repositories, "repository", "repositories")
    text = f"{total} with {plural(result.records, 'record')} {would}migrated"
    return Answer({**result.as_data(), "dry_run": dry_run}, text)


@operation("fleet remove", writes=True)
def fleet_remove(
    call: Call, dest: str, repository: str, yes: bool = False, dry_run: bool = False
) -> Answer:
    """Remove a repository from a lake.

    orbit fleet remove s3://decisions/lake example/shop --yes

    Args:
        dest DEST: The lake: a folder, or an address such as s3://….
        repository REPOSITORY: Its name in the lake.
        yes: Remove it; without this, only print what would be removed.
        dry_run: Print what would be removed; remove nothing.
    """
    yes = yes and not dry_run
    lake = Lake(dest)
    lake.check()
    refuse_unknown(lake, repository)
    state = lake.repository(repository)
    records = state.records if state else 0
    if yes:
        lake.remove(repository)

    again = f"orbit fleet remove {quote(lake.address)} {quote(repository)} --yes"
    done = "removed" if yes else "would be removed; --yes does it"
    text = f"{repository}: {plural(records, 'record')} {done}"
    data = {"repository": repository, "records": records, "removed": yes}
    return Answer(data, text, [] if yes else [again])


@asking
@operation("fleet search", line="Find records of all repositories by words.")
def fleet_search(
    call: Call,
    words: Sequence[str],
    lake: Lake,
    everything: bool = False,
    rows: Count = 20,
    engine: Engine = DUCKDB,
) -> Answer:
    """Find records of all repositories by words, best first.

    orbit fleet search connection pool --lake /srv/lake

    Args:
        words WORDS...: Words, or an id: connection pool
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        everything --all: Also records that are not live.
        rows: The most rows of an answer.
    """
    answer = search.search(lake, " ".join(words), rows=rows, everything=everything, engine=engine)
    text = search.hits_text(answer)
    if not answer.rows and not everything:
        text += "; `--all` looks at records that are not live, too"

    return Answer(answer.as_data(), text)


@asking
@operation("fleet explain")
def fleet_explain(
    call: Call, path: str, lake: Lake, repository: str, engine: Engine = DUCKDB
) -> Answer:
    """Say which records apply to a file of a repository.

    Scopes say that, and, if the lake has them, what its files cite and import.

    orbit fleet explain src/app.py --repository acme/shop --lake /srv/lake

    Args:
        path PATH: Its path from the root: src/app.py
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        repository --repository NAME: The repository of the file.
    """
    answer = search.applying(lake, path, repository, engine)
    return Answer(answer.as_data(), search.matches_text(lake, repository, answer))


@asking
@operation("fleet show")
def fleet_show(
    call: Call, record_id: str, lake: Lake, repository: str, engine: Engine = DUCKDB
) -> Answer:
    """Show a record of a repository with its text.

    orbit fleet show ADR-0012 --repository acme/shop --lake /srv/lake

    Args:
        record_id ID: Its id: ADR-0012
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        repository --repository NAME: The record's repository.
    """
    answer = search.record(lake, repository, record_id, engine)
    return Answer(answer.as_data()[0], search.record_text(answer))


@operation("fleet mcp", formats=())
def fleet_mcp(call: Call, lake: str) -> Answer:
    """Serve a lake to an agent over MCP, read only.

    Its tools are search, show, explain and query.

    orbit fleet mcp --lake /srv/lake
    claude mcp add decisions -- orbit fleet mcp --lake /srv/lake

    Args:
        lake --lake DEST: The lake: a folder, or an address such as s3://….
    """
    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra `mcp`", hint=INSTALL_MCP)

    from orbit_fleet.mcp import serve  # part of that extra

    serve(Lake(lake))
    return Answer(None)


@asking
@operation("fleet query", formats=FORMATS)
def fleet_query(
    call: Call, sql: str, lake: Lake, repository: str | None = None, engine: Engine = DUCKDB
) -> Answer:
    """Ask a lake one SQL question, read only.

    `FROM records`, `scopes`, `links`, `votes`, `rejected` and `repositories` are views of the lake;
    `FROM scope_match('src/app.py')` gives the records that apply to a file.

    orbit fleet query "SELECT repository, id, title FROM records" --lake s3://decisions/lake
    orbit fleet query "FROM scope_match('src/app.py')" --lake /srv/lake --repository acme/shop

    Args:
        sql SQL: One SELECT.
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        repository --repository NAME: Read this repository alone.
    """
    answer = query(lake, sql, repository, engine)
    text = answer.render("csv" if call.form == "csv" else "table")
    return Answer(answer.as_data(), text)


@asking
@operation("fleet report")
def fleet_report(
    call: Call,
    lake: Lake,
    question: str | None = None,
    rows: Count = 20,
    engine: Engine = DUCKDB,
) -> Answer:
    """Answer the questions that every organisation has.

    The questions are areas, contradictions, coverage, events, inheritance, members, oldest,
    overrides, repeated-decisions, repeated-learnings, repositories, states and votes.

    orbit fleet report --lake s3://decisions/lake
    orbit fleet report contradictions --lake s3://decisions/lake --rows 100

    Args:
        question [QUESTION]: One of them; all by default.
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        rows: The most rows of an answer.
    """
    answers = report(lake, question, rows=rows, engine=engine)
    text = "\n\n\n".join(answer.text() for answer in answers)
    return Answer([answer.as_data() for answer in answers], text)


@operation("fleet update", writes=True)
def fleet_update(call: Call, name: str | None = None, dry_run: bool = False) -> Answer:
    """Fetch inherited records, and those that sources inherit.

    `extends` names the sources. The copy in `.orbit/inherited` is replaced, and its digest is
    written to the configuration. Commit both.

    orbit fleet update --dry-run
    orbit fleet update org

    Args:
        name [NAME]: One source; all by default.
        dry_run: Print what would change; write nothing.
    """
    updates = update(call.workspace, name, dry_run=dry_run)
    data = {"sources": [each.as_data() for each in updates], "dry_run": dry_run}
    text = "\n".join(each.text() for each in updates)
    return Answer(data, text, [] if dry_run else ["orbit check"])


@operation("fleet site", writes=True)
def fleet_site(
    call: Call,
    dest: Annotated[Path, Form(file_okay=False)],
    lake: str,
    title: str = "Decisions of all repositories",
    base_url: str | None = None,
) -> Answer:
    """Write one site about all repositories.

    It has a page for each question of the report, the repositories and their decisions.

    orbit fleet site fleet-site --lake s3://decisions/lake

    Args:
        dest DEST: The folder of the site.
        lake --lake DEST: The lake: a folder, or an address such as s3://….
        title: The name of the site.
        base_url: Its final address: https://example.org/decisions/
    """
    if len(title) > LONGEST_TITLE:
        hint = f"give one of at most {LONGEST_TITLE}: --title"
        raise UsageError(f"the title has {len(title)} characters", hint=hint)

    need_site()
    from orbit_fleet.site.build import build_fleet_site  # where its libraries are there

    source = Lake(lake)
    result = build_fleet_site(source, resolved(dest), title, base_url)
    text = f"{plural(result.pages, 'page')}: {plural(result.written, 'file')} written\n{result.out}"
    findings, notes = result.diagnostics, list(map(_damage, source.damaged))
    return Answer(
        result.as_data(), text, notes=notes, diagnostics=findings, warned=findings, ok=result.ok
    )
