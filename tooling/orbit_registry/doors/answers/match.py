"""`orbit match`, `explain`, `coverage` and `scope suggest`: which records apply where, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from orbit_registry.checks.lines import diagnostic_lines
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import EARLIER, TOOL, Count
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.notes import (
    empty_notes,
    hook_notes,
    overlooked_notes,
    unknown_notes,
    visibility_of,
)
from orbit_registry.doors.answers.path_notes import call_notes, path_notes
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block, rendered
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.lifecycle.record_checks import StatedCheck, checks_of, runner, stated
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace.files import is_there
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import path_from_root

USUAL_LIMIT = 20
"""So many records a tool lists."""

if TYPE_CHECKING:
    from orbit_registry.matching.suggest import Proposal
    from orbit_registry.matching.visibility import Visibility
    from orbit_registry.model.diagnostic import Diagnostic


@operation("match", job="Find", tool="match", lists=True)
def match(
    call: Call,
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    task: str | None = None,
    project: str = "",
    everything: bool = False,
    limit: Count | None = None,
    new_text: Annotated[str | None, TOOL] = None,
    path: Annotated[str | None, TOOL] = None,
) -> Answer:
    """List the records that apply to files or tags.

    The order is that of hooks; no cap applies but --limit. A path need not exist; "/" at its end
    makes it a folder.

    orbit match src/app.py
    orbit match src/app.py docs/guide.md --tag sql --limit 5

    Args:
        paths [PATH]...: The files.
        tags: A tag; a record applies if any tag or path fits.
        task: The current task; leaves out records of other tasks.
        project: The current project; leaves out records of others.
        everything --all: List pending, closed and expired records too.
        limit: At most this many, the highest rank first.
        new_text: The whole new text of one file.
        path: The same as one of the paths.
    """
    from orbit_registry.matching.match import texts

    if path:
        paths = (*paths, path)

    registry = call.registry
    if not paths and not tags:
        hint = "name a path or a `--tag`; `orbit list` lists every record"
        if call.caller is not None:
            hint = "name `paths` or `tags`; `search` with a `kind` lists all records"
        raise UsageError("nothing to match", hint=hint)
    if new_text is not None and len(paths) != 1:
        raise UsageError("`new_text` is of one file", hint="name that file alone in `paths`")

    files = [call.path(path) for path in paths]
    notes: list[str] = []
    for name, path in zip(paths, files, strict=True):
        if call.caller is None and not is_there(Path(name)):
            notes += path_notes(registry, name, path)

    matches = registry.match(files, tags, task=task, everything=everything, project=project)
    if limit is None and call.caller is not None:
        limit = USUAL_LIMIT

    listed = matches[:limit]
    omitted = len(matches) - len(listed)
    data: dict[str, object] = {"matches": [entry.as_data() for entry in listed], "omitted": omitted}
    text = texts(listed) or "no record applies"
    if omitted:
        text += f"\nomitted: {omitted}"

    ids = [str(entry.as_data()["id"]) for entry in listed]
    following = [f"orbit show {record_id}" for record_id in ids[:1]]
    if new_text is not None:
        checked = _checked(call, files[0], new_text)
        data["check"] = checked.data
        text = f"{text}\n{rendered(checked.text)}"
        following = [*checked.next, *following]

    if call.caller is None:
        notes += unknown_notes(registry, tag=tags)
    if not matches and files:
        notes += overlooked_notes(registry)
    elif not matches:
        notes += empty_notes(registry, by_scope=True)

    return Answer(data, text, following, notes, paths=files, record_ids=ids)


@operation("check_text", is_command=False, tool="check_text")
def check_text(call: Call, path: str, text: str) -> Answer:
    """Say which decisions a text breaks. Call it before you write the file.

    Args:
        path PATH: The file, from the root.
        text TEXT: Its new text.
    """
    root = call.workspace.root
    return _checked(call, path_from_root(root, root, path), text)


def _checked(call: Call, path: str, text: str) -> Answer:
    records = stated(call.registry.collection.records)
    running = runner() if records else None
    rows: Sequence[Diagnostic] = ()
    if running is not None:
        rows = running.check_text(call.workspace, records, path, text)

    breaks = [row for row in rows if row.check and row.allowed is None]
    allowed = [row for row in rows if row.allowed is not None]
    reported = [*breaks, *(row for row in rows if not row.check)]
    checks = [check.name for check in _checks_of_file(call.registry, path)]

    lines: list[Block] = []
    for row in reported:
        lines += diagnostic_lines(row)

    counted = f"{plural(len(breaks), 'finding')}, {len(allowed)} allowed"
    lines.append(f"{plural(len(checks), 'check')} looked at {path}: {counted}")
    data = {
        "path": path,
        "checks": checks,
        "findings": [row.as_dict() for row in reported],
        "allowed": len(allowed),
    }
    ids = dict.fromkeys(str(row.record) for row in breaks)
    return Answer(data, lines, [f"orbit show {record_id}" for record_id in ids][:3], paths=[path])


@operation(
    "explain",
    job="Find",
    line="Explain why records are shown for a file, or not.",
    lists=True,
)
def explain(call: Call, name: str, project: str = "") -> Answer:
    """Explain what agents are shown at a file, or where they are shown a record.

    Of a file it says which records an edit shows and which it does not, with the reason, and which
    checks of records look at it. Of a record, or of its file or document, it says at which moments
    agents are shown it, or why never. It reads the files as they are.

    orbit explain src/app.py
    orbit explain ADR-0012

    Args:
        name PATH|ID: A file or a record.
        project: The current project, if the repository has several.
    """
    registry = call.registry
    path = call.path(name)
    records = _records_named(registry, name, path)
    judged, notes = visibility_of(registry, records) if records else ({}, [])
    data: dict[str, object] = {"verdicts": [], "checks": [], "records": []}
    data["records"] = [_record_data(judged, record) for record in records]
    lines: list[Block] = [_record_lines(judged, record) for record in records]
    exists = is_there(Path(name))
    if records and not exists:
        return Answer(data, lines, [f"orbit show {record.id}" for record in records[:1]], notes)

    if not exists and registry.workspace.kinds.of_id(name) is not None:
        registry.get(name)  # says that there is none, and which is near

    verdicts = registry.explain(path, project=project)
    checks = _checks_of_file(registry, path)
    for verdict in verdicts:
        entry = verdict.as_data()
        cause = f" ({verdict.doubt})" if verdict.key in ("stale", "doubted") else ""
        lines.append(f"{'+' if entry['pushed'] else '-'} {entry['id']}  {entry['title']}")
        lines.append(f"    {verdict.way}: {entry['said']}{cause}")

    if any(verdict.as_data()["pushed"] for verdict in verdicts):
        notes += [*hook_notes(registry), *call_notes(registry, path)]
    if not verdicts:
        lines.append("no record applies")
        notes += overlooked_notes(registry)
    for check in checks:
        lines.append(f"  checked by {check.name} ({check.level}): {escaped_line(check.say)}")

    if Path(name).is_dir():
        below = "ask about a file in it; `orbit coverage` lists which files have which records"
        notes.insert(0, note(f"{name} is a folder: {below}"))
    else:
        notes[:0] = path_notes(registry, name, path)

    data["verdicts"] = [verdict.as_data() for verdict in verdicts]
    data["checks"] = [
        {"name": check.name, "level": check.level, "say": check.say} for check in checks
    ]
    return Answer(data, lines, notes=notes)


def _checks_of_file(registry: Registry, path: str) -> list[StatedCheck]:
    """Return the checks of live records that look at a file (from the root)."""
    live = [record for record in registry.collection.records if record.phase == "live"]
    return [check for check in checks_of(live) if check.reads(path)]


def _records_named(registry: Registry, name: str, path: str) -> list[Record]:
    """Return the records that a name means: by their file or document, else by an id."""
    records = registry.collection.records
    own = [
        record
        for record in records
        if path in (record.path, record.body_path, f"{record.folder}/")
        or (record.source is not None and record.source.path == path)
    ]
    return own or records.matches(name)


def _record_lines(judged: Mapping[str, Visibility], record: Record) -> str:
    lines = judged[record.path].lines() if record.path in judged else ()
    return "\n  ".join([f"{record.id}  {record.title}", *lines])


def _record_data(judged: Mapping[str, Visibility], record: Record) -> dict[str, object]:
    shown = judged.get(record.path)
    visibility = None if shown is None else shown.as_data()
    return {"id": record.id, "kind": record.kind.name, "visibility": visibility}


@operation("coverage", job="Check")
def coverage(call: Call, enforced: bool = False) -> Answer:
    """Show which files have which records.

    It also lists files without records, and records that match no file or very many.

    orbit coverage
    orbit coverage --format json
    orbit coverage --enforced

    Args:
        enforced: Show how far decisions are enforced by checks instead.
    """
    if enforced:
        running = runner()
        if running is None:
            message = "no installed package runs the checks of records"
            raise UsageError(message, hint="install one, such as `orbit_enforce`")

        report = running.enforcement(call.registry.workspace, call.registry.collection.records)
        return Answer(report.as_data(), report.text(), ["orbit check"])

    from orbit_registry.matching import match as matches  # of these, no other reads all files

    result = matches.coverage(call.workspace)
    remarks = []
    if result.uncovered:
        files = plural(len(result.uncovered), "file")
        remarks.append(f"{files} without a record: `--format json` lists them")

    return Answer(result.as_data(), result.text(), remarks=remarks)


@operation("scope", job="Write", is_group=True)
def group(call: Call) -> None:
    """Propose paths for records that name none.

    orbit scope suggest L-7k3fq
    """


@operation("scope suggest", writes=True)
def suggest(
    call: Call,
    any_ids: tuple[str, ...] = (),
    write: bool = False,
    apply: Annotated[bool, EARLIER] = False,
    dry_run: bool = False,
) -> Answer:
    """Propose packages and globs for records as one diff to review.

    Clues are the packages that a title or decision names and files import, code that cites the
    record, the commits that made or name it, folders that its title names, and paths in its text.
    `git apply` takes the diff or a part of it; comments above it give the reasons.

    orbit scope suggest
    orbit scope suggest ADR-0042 --yes

    Args:
        any_ids [ID]...: The records; all open ones without a scope if none is named.
        write --yes: Write it; else nothing is written.
        apply: The same as --yes.
        dry_run: Print what would change; change nothing.
    """
    write = (write or apply) and not dry_run
    from orbit_registry.matching.suggest import suggestions as suggested
    from orbit_registry.matching.suggest import wants_scope

    registry = call.registry
    registry.refresh()
    call.workspace.git.require()
    chosen = {registry.collection.records.get(any_id).path for any_id in any_ids}
    if not any_ids:
        chosen = {each.path for each in registry.collection.records if wants_scope(each)}

    suggestions = suggested(call.workspace, [*registry.records], chosen)
    changes = _additions(registry, suggestions, write=write)
    records = {record.path: record for record in registry.collection.records}
    diff = unified_diff(changes)
    lines: list[Block] = []
    entries = []
    for path, proposals in suggestions.items():
        entries.append(_suggestion_data(records[path].id, path, proposals))
        lines += [_suggestion_line(records[path].id, proposal) for proposal in proposals]

    if diff:
        lines.append(diff.rstrip("\n"))
    if changes:
        done = "changed" if write else "would change: `--yes` writes it"
        lines.append(f"# {plural(len(changes), 'record')} {done}")

    without = [records[path] for path, proposals in suggestions.items() if not proposals]
    if without:
        kinds = sorted({record.kind.name for record in without})
        command = f"orbit {'|'.join(kinds)} update ID --path GLOB"
        lines.append(f"# no suggestion for {plural(len(without), 'record')}: {command}")
    if not records:
        lines.append("# there is no record yet")
    elif not suggestions:
        lines.append("# each open record names paths or packages")

    data = {"suggestions": entries, "diff": diff, "written": write and bool(changes)}
    return Answer(data, lines, ["orbit coverage" if write else "orbit scope suggest --yes"])


def _additions(
    registry: Registry, proposals: Mapping[str, Sequence[Proposal]], *, write: bool
) -> list[FileChange]:
    """Return the changes that add proposals to scopes, by record path; `write` writes them."""
    additions: list[tuple[Record, Mapping[str, Sequence[str]]]] = []
    for record in registry.collection.records:
        entries = proposals.get(record.path, ())
        globs = [entry.glob for entry in entries if entry.glob]
        packages = [entry.package for entry in entries if entry.package]
        additions.append((record, {"paths": globs, "uses": packages}))

    from orbit_registry.operations.links import add_to_scopes

    return add_to_scopes(registry.workspace, additions, write=write)


def _suggestion_line(record_id: str, proposal: Proposal) -> str:
    what = proposal.glob
    if proposal.package:
        what = f"uses {proposal.package}"

    head = f"# {record_id}: {what} ({plural(proposal.files, 'file')})"
    return escaped_line(f"{head}: {'; '.join(proposal.reasons)}")


def _suggestion_data(record_id: str, path: str, proposals: Sequence[Proposal]) -> dict[str, object]:
    globs: list[dict[str, object]] = []
    packages: list[dict[str, object]] = []
    for proposal in proposals:
        entry = {"files": proposal.files, "reasons": list(proposal.reasons)}
        if proposal.package:
            packages.append({"package": proposal.package, **entry})
        else:
            globs.append({"glob": proposal.glob, **entry})

    return {"id": record_id, "path": path, "globs": globs, "uses": packages}
