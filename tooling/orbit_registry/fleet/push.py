"""Push of a repository into a lake: rows of the records that changed,
then the manifest that makes them count.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.errors import LakeError, RefusedError, UsageError
from orbit_registry.fleet.database import ROW_GROUP, add_state, add_tables, damage, memory_database
from orbit_registry.fleet.lake import (
    TABLES,
    TABLES_SQL,
    Bucket,
    Lake,
    Push,
    file_stem,
    folder_name,
    valid_repository,
)
from orbit_registry.formats.wording import SMALL_WORDS
from orbit_registry.judgements.contradicts import A_NUMBER, position_of
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.repository.codec import hides_record
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.repository.reader import Reading
from orbit_registry.search.rejected import names_used, option_names
from orbit_registry.search.text import stem, words
from orbit_registry.snapshot.export import duckdb, fill_all, quoted, shared_rows
from orbit_registry.workspace.config import Extension
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

USES, REJECTS = "uses", "rejects"  # axes of names that decisions take and that they rejected
ATTEMPTS = 20  # pushes of one repository that may come between before this one gives up
_TELLING_TERMS = 12  # fewest terms of a text that is compared: shorter ones are equal by chance
_COMMIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_HASH = re.compile(r"[0-9a-f]{7,40}\Z")
_ADDRESS = re.compile(
    r"(?:[a-z+]+://(?:[^/@]*@)?(?P<host>[^/:]*)[^/]*"
    r"|(?:[^/@:]*@)?(?P<scp_host>[^/:@]+):)?(?P<path>.*)",
    re.DOTALL,
)
"""An address of git: a URL, `user@host:path`, or a path."""
_BEFORE = " | "  # between the topic of a title and its side
_DECIDING = (
    "about across adopt all allow always any architecture can choose decide decision do does "
    "enable everywhere how instead introduce keep must only over permit pick prefer record select "
    "shall should start switch use via where will "
    "nutze nutzen utiliser usar usare verwende verwenden wir"
)
_COMMON = frozenset(map(stem, SMALL_WORDS.union(_DECIDING.split())))
"""Stems that say little of what a title is about."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class PushResult:
    """What a push wrote, or would write."""

    push: Push
    outcome: str  # `pushed`, `unchanged`, or `older` where the lake has a newer commit
    changed: int = 0
    removed: int = 0
    unreadable: tuple[str, ...] = field(default=())

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        data = {
            name: value
            for name, value in asdict(self.push).items()
            if name not in ("since", "removed", "files", "origin", "extends")
        }

        counts = {
            "outcome": self.outcome,
            "records_written": self.changed,
            "records_removed": self.removed,
        }

        return {
            **data,
            **counts,
            "files": list(self.push.files),
            "unreadable": list(self.unreadable),
        }


def push(
    workspace: Workspace,
    lake: Lake,
    *,
    repository: str | None = None,
    commit: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> PushResult:
    """Write what changed of a repository since its newest push.

    Raises:
        RefusedError: the records have uncommitted changes.
        LakeError: other pushes of the repository came between, again and again.
    """
    name = valid_repository(repository or repository_name(workspace))
    commit_name, committed_at = commit_of(workspace, commit)
    rows = lake_rows(workspace)
    origin = _origin(workspace.git)
    extends = ", ".join(
        f"{source_repository(each)} {each.digest[7:19]}" for each in workspace.config.extends
    )

    digests = {record_id: _digest(tables) for record_id, tables in rows.items()}
    for _ in range(ATTEMPTS):
        bucket = lake.bucket(lake.bucket_of(name), name)
        head = bucket.heads.get(name)
        is_whole = (
            force or head is None or head.removed or bool(bucket.unreadable)
        )  # write all, read nothing
        number = lake.next_sequence(name, bucket)
        since = number if is_whole or head is None else head.since
        planned = _plan(
            name, commit_name, committed_at, digests, (number, since), (origin, extends)
        )

        if head is not None and not head.removed and not force:
            if head.origin and head.origin != origin:
                hint = (
                    "give this one another name with --repository; after a move, --force "
                    "takes the name over"
                )
                message = (
                    f"the lake has another repository {name}: {head.origin}, not "
                    f"{origin or 'one without a remote'}"
                )
                raise RefusedError(message, hint=hint)

            if head.digest == planned.digest and not bucket.unreadable:
                if committed_at <= head.committed_at or commit_name == head.commit or dry_run:
                    return PushResult(head, "unchanged")

                if not lake.commit(
                    planned
                ):  # that this commit has the same state: an older one is then older
                    continue

                return PushResult(planned, "unchanged")

            if committed_at < head.committed_at:
                return PushResult(head, "older", unreadable=bucket.unreadable)

        stored = {} if is_whole else _stored_digests(lake, bucket, name)
        changed = [
            record_id for record_id in sorted(rows) if stored.get(record_id) != digests[record_id]
        ]
        removed_ids = sorted(stored.keys() - rows.keys())
        counts = (len(changed), len(removed_ids), bucket.unreadable)
        new_rows = _written_rows(
            planned, {record_id: rows[record_id] for record_id in changed}, removed_ids, digests
        )

        if dry_run:
            return PushResult(_with_files(planned, new_rows, ()), "pushed", *counts)

        files = _write(lake, planned, new_rows)
        final = _with_files(planned, new_rows, files)
        if lake.commit(final):
            return PushResult(final, "pushed", *counts)

        lake.store.remove(files)

    message = f"{ATTEMPTS} other pushes of {name} came between"
    raise LakeError(message, hint="let one job of the repository push at a time")


def repository_name(workspace: Workspace) -> str:
    """Return the name of a repository: the path of its remote, else the project's;
    with the folder in a monorepo.
    """
    name = _path_in(workspace.git.origin() or "") or workspace.name
    return "/".join(filter(None, (name, workspace.git.prefix.strip("/"))))


def _path_in(address: str) -> str:
    """Return the path of an address, on its host or on this machine:
    `example/shop`, `srv/git/shop`.
    """
    return _host_and_path(address)[1].strip("./")


def _host_and_path(address: str) -> tuple[str, str]:
    """Return the host of an address of git, without user and port, and the path there;
    "" for what it lacks.
    """
    match = _ADDRESS.fullmatch(address)
    assert match is not None  # it takes any text for a path
    return match["host"] or match["scp_host"] or "", match["path"].strip("/").removesuffix(".git")


def _origin(git: Git) -> str:
    """Return host and path of the remote `origin`, without user and port; "" if it has no host."""
    host, path = _host_and_path(git.origin() or "")
    return f"{host}/{path}".lower() if host else ""


def commit_of(workspace: Workspace, name: str | None) -> tuple[str, str]:
    """Return the commit that the records are those of, and its time; refuse uncommitted changes."""
    git = workspace.git
    head = git.commit("HEAD")
    commit = head if name is None else git.commit(name)
    if commit != head and (commit is not None or (name is not None and _HASH.match(name))):
        message = f"{name!r} is not the commit that is checked out"
        raise UsageError(message, hint="check it out first, or leave out --commit")

    if commit is not None:
        changes = git.run(
            "status", "--porcelain", "--", ".orbit", workspace.config.adr.folder
        ).decode("utf-8", "replace")
        if changes:
            message = f"the records have uncommitted changes: {changes.splitlines()[0][3:]}"
            raise RefusedError(message, hint="commit them first, or name the state with --commit")

    if commit is None and (name is None or not _COMMIT.match(name)):
        missing = "there is no commit" if shutil.which("git") else "git is not installed"
        message = missing if name is None else f"{name!r} names no commit"
        raise UsageError(message, hint="commit the records, or name the state: --commit 2026-11-26")

    time_text = git.ask("show", "-s", "--format=%cI", commit) if commit else None
    return commit or str(name), format_time(
        parse_time(time_text) if time_text else datetime.now(UTC)
    )


def refuse_unread(reading: Reading, label: str = "") -> None:
    """Raise where records can't be read: those who take the others would lose them without
    a word.
    """
    if unread := [problem for problem in reading.collection.problems if hides_record(problem)]:
        message = (
            f"{label}records can't be read, the first: {unread[0].location}: {unread[0].message}"
        )
        raise RefusedError(
            message, hint="correct what `orbit check` reports there, then run this again"
        )


def lake_rows(workspace: Workspace) -> dict[str, dict[str, list[Row]]]:
    """Return the rows of each record that others may read, by table."""
    reading = Reading(workspace)
    refuse_unread(reading)
    rows = shared_rows(
        workspace, reading, unfiltered=not workspace.config.publish.is_set, only_shown=True
    )
    result: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    reasons: dict[tuple[object, object, object], object] = {}

    for row in map(json.loads, rows.shared.get("records", ())):
        record_id = row.pop("id")

        if row["origin"]:
            continue  # its own repository pushes it

        body_terms = list(map(stem, words(f"{row['summary'] or ''} {row['body']}")))
        text_key = hashlib.sha256(" ".join(body_terms).encode()).hexdigest()[:32]
        row |= title_fields(row["title"])
        data = json.loads(row["data"])
        reasons |= {
            (record_id, link["rel"], link["to"]): link.get("reason")
            for link in data.get("links", ())
        }

        data.pop(workspace.kinds[row["kind"]].prose, None)  # `body` has it
        row["data"] = json.dumps(data, ensure_ascii=False)
        row["text_key"] = text_key if len(body_terms) >= _TELLING_TERMS else None
        result[record_id]["records"].append({"record_id": record_id, **row})

    for row in map(json.loads, rows.shared.get("scope_globs", ())):
        row |= {"axis": "path", "value": row.pop("pattern")}
        result[row["record_id"]]["scopes"].append(row)

    for row in map(json.loads, rows.shared.get("tags", ())):
        result[row["record_id"]]["scopes"].append(
            {"record_id": row["record_id"], "axis": row["axis"], "value": row["tag"]}
        )

    # The text of a document may hold what is withheld.
    chosen = {} if workspace.config.publish.is_set else _chosen_options(reading)
    taken: set[str] = set()
    for record_id, tables in result.items():
        for row in tables["records"]:
            if row["phase"] != "live" or not workspace.kinds[str(row["kind"])].in_document:
                continue

            names = names_used(str(row["title"]), chosen.get(record_id, ""))
            taken |= names
            tables["scopes"] += _names(record_id, USES, names)

    for row in map(json.loads, rows.shared.get("rejected_options", ())):
        fields = title_fields(row["option"])
        names = option_names(row["option"])
        is_taken = not taken.isdisjoint(names)
        # Who rejects "no X" is not against X.
        row["option_key"] = None if fields["negated"] or is_taken else fields["title_key"]
        for name_row in _names(row["record_id"], REJECTS, names - taken):
            result[row["record_id"]]["scopes"].append({**name_row, "position": row["position"]})

        result[row["record_id"]]["rejected"].append(row)

    for row in map(json.loads, rows.shared.get("votes", ())):
        result[row["record_id"]]["votes"].append(row)

    for row in _links(workspace, list(map(json.loads, rows.shared.get("links", ()))), reasons):
        result[str(row["record_id"])]["links"].append(row)

    return {record_id: tables for record_id, tables in result.items() if tables["records"]}


def _names(record_id: str, axis: str, names: Set[str]) -> list[Row]:
    return [{"record_id": record_id, "axis": axis, "value": name} for name in sorted(names)]


def _chosen_options(reading: Reading) -> dict[str, str]:
    """Return the option that each decision chose, by the record's id."""
    decisions = (record for record in reading.collection.records if record.kind.in_document)
    records = free_of_secrets(reading.prose.filled(decisions))
    return {record.id: record.options.chosen for record in records}


def _links(
    workspace: Workspace,
    rows: Sequence[Row],
    reasons: Mapping[tuple[object, object, object], object],
) -> Iterator[Row]:
    """Yield links; one to an inherited record names its repository, and an override is one link."""
    repositories = {entry.name: source_repository(entry) for entry in workspace.config.extends}
    overrides = {(row["record_id"], row["target"]) for row in rows if row["rel"] == OVERRIDES}
    for row in rows:
        source, _, record_id = str(row["target"]).partition(":")
        row["reason"] = reasons.get((row["record_id"], row["rel"], row["target"]))
        if source not in repositories:
            yield row
        elif not (row["derived"] and (row["record_id"], row["target"]) in overrides):
            yield {**row, "target": f"{repositories[source]}:{record_id}", "target_id": None}


def source_repository(source: Extension) -> str:
    """Return the name under which a source of records pushes itself."""
    return source.repository or _path_in(source.address) or source.name


def title_fields(title: str) -> Row:
    """Return the key of a title, equal for titles that say the same in other words,
    and whether it denies.

    A title that takes one of several sides has its side behind the key: `mysql postgr | mysql`,
    `# python | 3.12`.
    """
    position = position_of(title)
    topic, side = _stems(position.topic), _stems(position.side)
    if topic <= {A_NUMBER}:  # what has no other topic than a name such as `S3`
        topic, side = side, set()

    key = " ".join(sorted(topic))
    if side:
        key += _BEFORE + " ".join(sorted(side))

    return {"title_key": key or None, "negated": position.denies}


def _stems(title_words: Iterable[str]) -> set[str]:
    return {*map(stem, title_words)} - _COMMON


def _digest(tables: Mapping[str, Sequence[Row]]) -> str:
    lines = sorted(
        json.dumps([table, row], sort_keys=True) for table, rows in tables.items() for row in rows
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _plan(
    name: str,
    commit: str,
    committed_at: str,
    digests: Mapping[str, str],
    numbers: tuple[int, int],
    sources: tuple[str, str],
) -> Push:
    origin, extends = sources
    lines = "\n".join(
        [*(f"{record_id} {digest}" for record_id, digest in sorted(digests.items())), extends]
    )
    return Push(
        repository=name,
        sequence=numbers[0],
        since=numbers[1],
        commit=commit,
        committed_at=committed_at,
        pushed_at=format_time(datetime.now(UTC)),
        records=len(digests),
        digest=hashlib.sha256(lines.encode()).hexdigest(),
        extends=extends,
        origin=origin,
    )


def _stored_digests(lake: Lake, bucket: Bucket, repository: str) -> dict[str, str]:
    """Return the digest of each record that the lake has of a repository."""
    try:
        with memory_database(lake) as connection:
            add_tables(connection, lake, bucket.files_of(repository), repository)
            add_state(connection, [bucket])
            current = "lake_records JOIN lake_current USING (repository, record_id, sequence)"
            return dict(connection.execute(f"SELECT record_id, digest FROM {current}").fetchall())
    except duckdb.Error as error:
        raise damage(lake, error, bucket.number) from None


def _written_rows(
    planned: Push,
    changed: Mapping[str, Mapping[str, Sequence[Row]]],
    removed_ids: Sequence[str],
    digests: Mapping[str, str],
) -> dict[str, list[str]]:
    """Return the rows of a push as JSON, by table."""
    mark = {"repository": planned.repository, "sequence": planned.sequence}
    lines: dict[str, list[str]] = {table: [] for table in TABLES}
    for record_id, tables in changed.items():
        for table, rows in tables.items():
            more = {"removed": False, "digest": digests[record_id]} if table == "records" else {}
            lines[table] += [json.dumps({**row, **mark, **more}) for row in rows]

    lines["records"] += [
        json.dumps({"record_id": record_id, "removed": True, **mark}) for record_id in removed_ids
    ]
    return {table: rows for table, rows in lines.items() if rows}


def _with_files(planned: Push, written: Mapping[str, Sequence[str]], files: Sequence[str]) -> Push:
    rows = {table: len(lines) for table, lines in written.items()}
    return Push(**{**asdict(planned), "rows": rows, "files": tuple(files)})


def _write(lake: Lake, planned: Push, written: Mapping[str, Sequence[str]]) -> list[str]:
    """Write the rows of a push as one Parquet file a table, and return their names."""
    stem_of_files = f"{file_stem(planned.repository)}.{planned.sequence:06d}.{os.urandom(8).hex()}"
    folder = folder_name(lake.bucket_of(planned.repository))
    names = []
    with tempfile.TemporaryDirectory() as temporary, memory_database(lake) as connection:
        connection.execute(TABLES_SQL.read_text("utf-8"))
        fill_all(
            connection,
            {f"lake_{table}": map(lake.stored, lines) for table, lines in written.items()},
            Path(temporary),
        )
        for table in written:
            file = Path(temporary) / f"{table}.parquet"
            write_parquet(connection, f"FROM lake_{table} ORDER BY record_id", file)
            names.append(f"{table}/{folder}/{stem_of_files}.parquet")
            lake.store.put(file, names[-1])

    return names


def write_parquet(connection: duckdb.DuckDBPyConnection, select: str, file: Path) -> None:
    """Write the rows of a question to a file."""
    target = quoted(str(file))
    connection.execute(
        f"COPY ({select}) TO {target} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE "
        f"{ROW_GROUP})"
    )
