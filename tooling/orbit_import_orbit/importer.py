"""Import of an `.orbit/` of danieljhkim/orbit, in place or from another folder; and of its older
layout of learnings.

In place, each record moves in one recoverable step, and its old files go when the new ones are
there. Unreadable files stay; files that are no records stay, or are put aside where only records
may be.
"""

import json
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from orbit_import_orbit.files import (
    ASIDE,
    ForeignRecord,
    Mapped,
    OrbitLayout,
    ProseHome,
    adr_fields,
    find_homes,
    find_orbit,
    is_stub,
    learning_fields,
    read_layout,
    same_prose,
    same_words,
)
from orbit_registry.errors import (
    ForeignWorkspaceError,
    InvalidRecordError,
    OrbitError,
    UsageError,
    WorkspaceNotFoundError,
    plural,
)
from orbit_registry.formats.adr.options import rejected_data
from orbit_registry.formats.yaml_nodes import has_comment
from orbit_registry.model.ids import code_id, sequence_number
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import BODY, Record
from orbit_registry.model.schema import SCHEMA_VERSION
from orbit_registry.model.votes import format_time
from orbit_registry.operations import init
from orbit_registry.operations.document_facts import cut_line, stable_uid
from orbit_registry.operations.import_report import Outcome, OutcomeKind, TakeoverReport
from orbit_registry.operations.renumber import renamed_votes
from orbit_registry.repository.codec import list_in, ordered
from orbit_registry.repository.documents import entry_text
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.ids import new_ids
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.vcs_state import IMPORTED_BODY
from orbit_registry.repository.writer import finish_steps, record_path, render, validated, writing
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.config import config_of
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.journal import FileChange, unfinished_steps
from orbit_registry.workspace.workspace import ORBIT, Workspace, find_workspace, open_workspace

MARK = "x-imported_from"
_COMMITTED = (
    "config.yaml",
    "schemas/",
    "baseline.yaml",
    "adrs/",
    "learnings/",
    "imported-from-orbit/",
)
_AGAIN = "correct it, then import again"
_LOGS = frozenset({"votes.jsonl", "comments.jsonl"})


@dataclass(slots=True)
class OrbitPlan:
    """Planned changes, and the outcome of every file."""

    workspace: Workspace
    layout: OrbitLayout
    in_place: bool
    now: str = field(default_factory=lambda: format_time(datetime.now(UTC)))
    renamed: dict[str, str] = field(default_factory=dict)  # old ids with their new ones
    shared_ids: set[str] = field(default_factory=set)  # old ids of several records
    changes: list[FileChange] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stubs: dict[str, int] = field(default_factory=dict)
    """Bytes of the body of each decision whose entry in a log only points to it, by its new id."""

    def say(self, what: OutcomeKind, path: str, reason: str, record_id: str | None = None) -> None:
        """Note the outcome of a foreign file."""
        self.outcomes.append(Outcome(what, f"{self.layout.root.name}/{path}", record_id, reason))


@dataclass(frozen=True, slots=True)
class _Assignment:
    foreign: ForeignRecord
    id: str
    legacy_ids: tuple[str, ...] = ()
    reason: str = ""


def plan_import(
    workspace: Workspace, layout: OrbitLayout, *, in_place: bool, dry_run: bool
) -> OrbitPlan:
    """Return the plan of an import; without `dry_run` it reserves numbers, under the write lock."""
    plan = OrbitPlan(workspace, layout, in_place)
    is_ours = (workspace.orbit / "config.yaml").exists()
    # foreign records break the schema
    records = [*read_collection(workspace).records] if is_ours else []
    assigned = [*_ids(plan, records, dry_run=dry_run)]
    plan.renamed = {assignment.foreign.id: assignment.id for assignment in reversed(assigned)}

    counts = Counter([each.foreign.id for each in assigned])
    plan.shared_ids = {name for name, count in counts.items() if count > 1}
    homes, spare = find_homes(
        workspace,
        [
            (assignment.id, assignment.foreign)
            for assignment in assigned
            if assignment.foreign.kind == "adr"
        ],
        records,
        partial(_body, plan.layout),
    )
    for assignment in assigned:
        plan.changes += _record_changes(plan, assignment, homes.get(assignment.id))

    _plan_others(plan)
    _notes(plan, assigned, homes, spare)
    return plan


def _ids(plan: OrbitPlan, records: Sequence[Record], *, dry_run: bool) -> Iterator[_Assignment]:
    workspace = plan.workspace
    there: dict[tuple[str, str], Record] = {}
    for record in records:
        for name in (record.id, *record.legacy_ids):
            there[name, str(record.data.get("created_at"))] = record

    used = {record.id for record in records}
    fresh: list[tuple[ForeignRecord, str]] = []
    for foreign in plan.layout.records:
        if foreign.problem is not None:
            plan.say("left", foreign.path, f"{foreign.problem}; {_AGAIN}")
            continue

        existing = there.get((foreign.id, str(foreign.data.get("created_at"))))
        if existing is not None:
            plan.say("present", foreign.path, "", existing.id)
            continue

        valid = sequence_number(foreign.id, workspace.kinds[foreign.kind].prefix) is not None
        if valid and foreign.id not in used:
            used.add(foreign.id)
            yield _Assignment(foreign, foreign.id)
        elif foreign.kind == "learning":
            length = 5  # of a code that is the same in every import
            while (
                record_id := code_id(workspace.kinds["learning"].prefix, _uid(foreign), length)
            ) in used:
                length += 1

            used.add(record_id)
            if valid:
                reason = f"{foreign.id} is taken by another record"
            else:
                reason = f"{foreign.id} is an older form of id"

            yield _Assignment(foreign, record_id, (foreign.id,), reason)
        else:
            if valid:
                reason = f"{foreign.id} names another decision too"
            else:
                reason = f"{foreign.id} is not an id of a record"

            fresh.append((foreign, reason))

    if fresh:
        kind = workspace.kinds["adr"]
        avoid = {
            number
            for used_id in used
            if (number := sequence_number(used_id, kind.prefix)) is not None
        }
        numbers = new_ids(workspace, kind, len(fresh), avoid, dry_run=dry_run)
        for (foreign, reason), record_id in zip(fresh, numbers, strict=True):
            yield _Assignment(foreign, record_id, (foreign.id,), reason)


def _uid(foreign: ForeignRecord) -> str:
    headline = foreign.data.get("title") or foreign.data.get("summary")
    return stable_uid(
        "orbit", foreign.kind, foreign.id, str(foreign.data.get("created_at")), str(headline)
    )


def _body(layout: OrbitLayout, foreign: ForeignRecord) -> str:
    if BODY not in foreign.siblings:
        return ""

    return _file_text(layout.root / f"{foreign.folder}/{BODY}")


def _record_changes(
    plan: OrbitPlan, assignment: _Assignment, home: ProseHome | None
) -> list[FileChange]:
    foreign, workspace, layout = assignment.foreign, plan.workspace, plan.layout
    kind = workspace.kinds[foreign.kind]
    fields_of = adr_fields if foreign.kind == "adr" else learning_fields
    body = _body(layout, foreign) if home is not None else ""

    pointer = None
    if home is not None and is_stub(body, entry_text(home.document, home.entry)):
        pointer, home = home, None
        plan.stubs[assignment.id] = len(body.encode("utf-8", "surrogateescape"))

    mapped = fields_of(foreign.data, foreign.status_folder, plan.renamed, plan.now)
    files, dropped, comments = _files(layout, assignment, home)
    names = [*assignment.legacy_ids]
    if foreign.id in plan.shared_ids and (features := list_in(foreign.data, "related_features")):
        names.append(f"{features[0]}/{foreign.id}")

    if pointer is not None:
        names.append(pointer.local_name)
        dropped.append(
            f"its entry in {pointer.document.path} only points to its {BODY}, which has its prose"
        )
        dropped += _differences(pointer, mapped)

    data = _data(assignment, mapped, home or pointer, names, comments, in_document=home is not None)
    prose = _body(layout, foreign) if home is None else entry_text(home.document, home.entry)
    if foreign.kind == "adr" and (rejected := rejected_data(prose)):
        data["rejected"] = rejected

    target = posixpath.dirname(record_path(workspace, kind, assignment.id))
    path = f"{target}/{kind.name}.yaml"
    try:
        text = render(workspace, kind, ordered(data, kind.schema.properties), path)
        validated(text, kind, path)
    except InvalidRecordError as error:
        plan.say("left", foreign.path, f"{error.message.partition(': ')[2]}; {_AGAIN}")
        return []

    after = {path: text, **{f"{target}/{name}": content for name, content in files.items()}}
    if plan.in_place:
        old_files = (foreign.path, *(f"{foreign.folder}/{name}" for name in foreign.siblings))
    else:
        old_files = ()

    before = {f"{ORBIT}/{name}": _file_text(layout.root / name) for name in old_files}

    if has_comment(foreign.text):
        kept_path = f"{ORBIT}/{ASIDE}/{foreign.path}"
        after[kept_path] = foreign.text
        dropped.append(
            f"its file has comments, which have no place in the new one: the old one is kept as "
            f"{kept_path}"
        )

    plan.say("taken", foreign.path, "", assignment.id)

    if assignment.reason:
        new_id = f"a new id, because {assignment.reason}; the old one is a legacy id"
        plan.say("changed", foreign.path, new_id, assignment.id)

    for reason in (*mapped.changed, *dropped):
        plan.say("changed", foreign.path, reason, assignment.id)

    return [
        FileChange(name, before.get(name), after.get(name))
        for name in dict.fromkeys((*after, *before))
    ]


def _data(
    assignment: _Assignment,
    mapped: Mapped,
    home: ProseHome | None,
    names: Sequence[str],
    comments: Sequence[object],
    *,
    in_document: bool,
) -> dict[str, object]:
    """Return the new record's fields; `names` are further legacy ids. An entry that only points to
    the record still states a date.
    """
    fields = dict(mapped.fields)
    if home is not None and not in_document:
        fields["date"] = home.entry.date or fields.get("date")
    elif home is not None:
        source = {"path": home.document.path, "heading": home.heading}
        fields["source"] = {**source, "format": "log", "authority": "document"}
        fields["date"] = home.entry.date or fields.get("date")
        if same_words(str(fields.get("title")), home.entry.title):
            fields["title"] = cut_line(home.entry.title, 300)

    fields["legacy_ids"] = list(dict.fromkeys([*list_in(fields, "legacy_ids"), *names]))
    fields["x-comments"] = list(comments)
    filled = {name: value for name, value in fields.items() if value not in (None, "", [], {})}

    return {
        "schema_version": SCHEMA_VERSION,
        "id": assignment.id,
        "uid": _uid(assignment.foreign),
        **filled,
    }


def _differences(pointer: ProseHome, mapped: Mapped) -> Iterator[str]:
    """Yield what an entry that only points to a record says otherwise."""
    entry = pointer.entry
    status = str(mapped.fields.get("status", ""))
    if entry.status not in ("unknown", status):
        yield (
            f"it is {status}, and its entry in {pointer.document.path} says "
            f"`{entry.status_raw.strip()[:60]}`; the record counts, so correct the entry"
        )


def _files(
    layout: OrbitLayout, assignment: _Assignment, home: ProseHome | None
) -> tuple[dict[str, str], list[str], list[object]]:
    files: dict[str, str] = {}
    dropped: list[str] = []
    comments: list[object] = []
    for name in assignment.foreign.siblings:
        content = _file_text(layout.root / f"{assignment.foreign.folder}/{name}")
        if name in _LOGS and not content.strip():
            dropped.append(f"its empty {name} is dropped: here it is made on the first entry")
        elif name == "comments.jsonl":
            comments = [_json(line) for line in content.splitlines() if line.strip()]
            dropped.append("its comments are kept in the record, as x-comments")
        elif name == "votes.jsonl":
            files[name] = renamed_votes(content, assignment.foreign.id, assignment.id)
        elif name == BODY and not content.strip():
            dropped.append("its body.md is empty")
        elif name == BODY and home is not None:
            if same_prose(content, entry_text(home.document, home.entry)):
                dropped.append(f"its body.md says what {home.document.path} says, and is dropped")
            else:
                files[IMPORTED_BODY] = content
                dropped.append(
                    f"{home.document.path} has its prose; the other version is kept as "
                    f"{IMPORTED_BODY}"
                )
        else:
            files[name] = content

    return files, dropped, comments


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _file_text(path: Path) -> str:
    return read_bytes(path, limit=20 * DOCUMENT_LIMIT).decode("utf-8", "surrogateescape")


def _plan_others(plan: OrbitPlan) -> None:
    for name in plan.layout.strays:
        if not plan.in_place:
            plan.say("left", name, "no record: untouched")
            continue

        try:
            content = _file_text(plan.layout.root / name)
        except OrbitError as error:
            plan.say("left", name, f"no record, and can't be put aside: {error.message}")
            continue

        target = f"{ORBIT}/{ASIDE}/{name}"
        plan.changes += (
            FileChange(target, None, content),
            FileChange(f"{ORBIT}/{name}", content, None),
        )
        plan.say("left", name, f"no record: put aside in {ORBIT}/{ASIDE}/")

    for name in plan.layout.others:
        plan.say("left", name, "not about records: untouched")

    for name in plan.layout.hidden:
        plan.say("left", name, "a lock or a hidden file: untouched")


def _notes(
    plan: OrbitPlan, assigned: Sequence[_Assignment], homes: Mapping[str, ProseHome], spare: int
) -> None:
    adrs = [assignment for assignment in assigned if assignment.foreign.kind == "adr"]
    if adrs:
        here = sum(
            1 for assignment in adrs if assignment.id in homes and assignment.id not in plan.stubs
        )
        plan.notes.append(
            f"{here} of {plural(len(adrs), 'decision')} have their prose in a document, "
            f"the others in their record's {BODY}"
        )

    if plan.stubs:
        forms = ("entry of a decision log only points", "entries of decision logs only point")
        entries = plural(len(plan.stubs), *forms)
        plan.notes.append(
            f"{entries} to a {BODY}: {sum(plan.stubs.values()):,} bytes of prose are read there"
        )

    if spare:
        plan.notes.append(
            f"{plural(spare, 'entry', 'entries')} of decision logs without a record: "
            f"`orbit adr backfill` makes them"
        )

    by_id: dict[str, list[_Assignment]] = defaultdict(list)
    for assignment in assigned:
        by_id[assignment.foreign.id].append(assignment)

    for name, group in by_id.items():
        if len(group) > 1:
            names = ", ".join(f"{each.id} ({_headline(each.foreign.data)})" for each in group)
            plan.notes.append(f"{name} named {plural(len(group), 'thing')}: {names}")


def _headline(data: Mapping[str, object]) -> object:
    return data.get("title") or data.get("summary")


@dataclass(frozen=True, slots=True)
class OrbitImporter:
    """Importer of the file layout of danieljhkim/orbit up to 0.12."""

    name: str = "orbit"

    def detects(self, path: Path) -> bool:
        """Say whether a foreign `.orbit/` is there, or was imported in place."""
        return find_orbit(path) is not None or _marked(path) is not None

    def run(self, path: Path, start: Path, *, assume: str | None, dry_run: bool) -> TakeoverReport:
        """Import every record below `path`."""
        if assume is not None:
            hint = "leave it out: these records state their status"
            raise UsageError("--assume is for decision documents", hint=hint)

        orbit = find_orbit(path)
        if orbit is None:
            done = _marked(path)
            if done is None:
                raise UsageError(
                    f"{path} holds no `.orbit/` of danieljhkim/orbit",
                    hint="name the repository's root",
                )

            records = read_collection(open_workspace(done.parent)).records
            here = tuple(Outcome("present", record.path, record.id, "") for record in records)
            note = "nothing to import: its records were imported before"
            return TakeoverReport("orbit", str(done), dry_run, here, (note,))

        target = target_of(start, orbit)
        in_place = target.root / ORBIT == orbit
        files = _workspace_files(target) if in_place else []
        plan = _take_over(target, orbit, read_layout, in_place=in_place, dry_run=dry_run)

        return TakeoverReport(
            "orbit", str(orbit), dry_run, (*plan.outcomes, *files), tuple(plan.notes)
        )


IMPORTERS = (OrbitImporter(),)


def _take_over(
    target: Workspace,
    orbit: Path,
    read: Callable[[Path], OrbitLayout],
    *,
    in_place: bool,
    dry_run: bool,
) -> OrbitPlan:
    migrates = read is _learnings

    if dry_run or acting_role() == "agent":
        plan = plan_import(target, read(orbit), in_place=in_place, dry_run=True)
        if dry_run:
            return plan
        refuse_for_agent(target, plan.changes)

    if in_place and not (migrates and (orbit / "config.yaml").exists()):
        make_workspace(target)

    workspace = open_workspace(target.root)
    with writing(workspace, wait=0 if migrates else None):
        plan = plan_import(workspace, read(orbit), in_place=in_place, dry_run=False)
        write_step(
            workspace,
            "learning-migrate-layout" if migrates else "import",
            plan.changes,
            taken_over=True,
        )

    return plan


def _marked(path: Path) -> Path | None:
    for orbit in (path / ORBIT, path):
        config = orbit / "config.yaml"
        if orbit.name == ORBIT and config.is_file():
            try:
                if MARK in open_workspace(orbit.parent).config.raw:
                    return orbit

                return None
            except UsageError:
                return None
    return None


def target_of(start: Path, orbit: Path) -> Workspace:
    """Return the workspace of the new records;
    one that is still to be made has its future configuration.
    """
    root, is_home = orbit.parent, orbit.name == ORBIT
    if not is_home or root not in (start, *start.parents):
        try:
            return find_workspace(start)
        except (ForeignWorkspaceError, WorkspaceNotFoundError) as error:
            if not is_home and isinstance(error, ForeignWorkspaceError):
                raise UsageError(
                    f"{error.message}; import it first", hint="orbit import ."
                ) from None

            if not is_home:
                message = f"{orbit} can only be copied into a workspace, and this is not one"
                hint = "run `orbit init` first; or name the folder `.orbit` to convert it in place"
                raise WorkspaceNotFoundError(message, hint=hint) from None

    if (orbit / "config.yaml").exists():
        return open_workspace(root)

    return Workspace(root, replace(config_of({}), adr=init.project_files(root).adr), load_kinds())


def make_workspace(target: Workspace) -> None:
    """Make the workspace, its configuration first, so that a killed import can be repeated."""
    config = target.orbit / "config.yaml"
    if not config.exists():
        note = f"\n# The tool whose records were imported here.\n{MARK}: orbit\n"
        write_atomic(config, init.config_text(init.project_files(target.root).adr) + note)

    top = Git(target.root).top
    if top is None or top == target.root:
        init.setup_workspace(target.root, load_kinds())

    hidden = _hidden_from_git(target)
    if hidden:
        lines = tuple(f"!{ORBIT}/{name}" for name in hidden)
        init.add_lines(init.SetupReport(target.root), ".gitignore", lines, dry_run=False)


def _hidden_from_git(target: Workspace) -> list[str]:
    git = Git(target.root)
    return [
        name
        for name in _COMMITTED
        if git.ask("check-ignore", "--no-index", f"{ORBIT}/{name}") is not None
    ]


def _workspace_files(target: Workspace) -> list[Outcome]:
    root = target.root
    files = [] if (target.orbit / "config.yaml").exists() else [f"{ORBIT}/config.yaml"]
    if Git(root).top == root:
        attributes = init.attributes(init.project_files(root), target.config.adr)
        for path, lines in ((".gitignore", init.GITIGNORE), (".gitattributes", attributes)):
            report = init.SetupReport(root)
            init.add_lines(report, path, lines, dry_run=True)
            files += report.created + report.changed

    outcomes = [Outcome("changed", path, None, "written for this tool") for path in files]
    hidden = ", ".join(_hidden_from_git(target))
    if hidden:
        reason = (
            f"git ignores {hidden} in {ORBIT}/, which have to be committed: lines that let "
            f"them in are added"
        )
        outcomes.append(Outcome("changed", ".gitignore", None, reason))

    return outcomes


def migrate_layout(start: Path, *, dry_run: bool = False) -> TakeoverReport:
    """Move every learning of an older layout to its current place; old ids become legacy ids."""
    root = _root(start)
    orbit = root / ORBIT
    target = target_of(root, orbit)
    if not dry_run and unfinished_steps(target):
        finish_steps(target)  # of a killed migration

    if not _learnings(orbit).records:
        note = "nothing to migrate: every learning uses the current layout"
        return TakeoverReport("orbit", str(orbit), dry_run, (), (note,))

    plan = _take_over(target, orbit, _learnings, in_place=True, dry_run=dry_run)
    outcomes = tuple(map(_migration_outcome, plan.outcomes))
    return TakeoverReport("orbit", str(orbit), dry_run, outcomes, tuple(plan.notes))


def _learnings(orbit: Path) -> OrbitLayout:
    layout = read_layout(orbit)
    records = [record for record in layout.records if record.kind == "learning"]
    return OrbitLayout(
        orbit, records, [name for name in layout.strays if name.startswith("learnings/")]
    )


def _migration_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome; a record in both layouts is left for a person to compare."""
    if outcome.what != "present":
        return outcome
    reason = f"{outcome.record} has its place already: compare the two, and delete this one"
    return replace(outcome, what="left", reason=reason)


def _root(start: Path) -> Path:
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ORBIT).is_dir():
            return folder
        if (folder / ".git").exists():
            break

    raise WorkspaceNotFoundError(
        f"there is no {ORBIT}/ in {start} or above it", hint="run `orbit init` first"
    )
