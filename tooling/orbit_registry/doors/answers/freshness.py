"""`orbit stale`, `verify` and `learning prune`: stale records and what to do about them."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import EARLIER, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import is_learning
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block
from orbit_registry.doors.render.records import freshness_data, record_data
from orbit_registry.errors import OrbitError, UsageError, plural
from orbit_registry.model.freshness import FRESH, Cause, Freshness, State
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.remedies import remedies
from orbit_registry.operations.freshness.renames import Relocation, follow_renames
from orbit_registry.operations.freshness.verify import Verification
from orbit_registry.registry import Registry


@operation("stale", job="Review", lists=True)
def stale(call: Call, kind: str | None = None, cause: tuple[Cause, ...] = ()) -> Answer:
    """List records that may no longer hold, and why.

    orbit stale
    orbit stale --kind learning --cause fingerprint

    Args:
        kind KIND: Only records of this kind.
        cause: Only for this cause; repeatable.
    """
    registry = call.registry
    only = None if kind is None else registry.workspace.kinds.named(kind).name
    records = [*registry.collection.records]
    if only is not None:
        records = [record for record in records if record.kind.name == only]

    listed = _listed(registry, records, cause)
    lines: list[Block] = [_stale_text(*pair) for pair in listed]
    if listed:
        of_all = plural(sum(record.phase != "closed" for record in records), "record")
        lines.append(f"{len(listed)} of {of_all} may no longer hold")
    else:
        lines.append("no record is stale for that cause" if cause else "every record is fresh")

    firsts = [remedies(*pair)[:1] for pair in listed]
    commands = [*chain.from_iterable(firsts)]
    return Answer([freshness_data(*pair) for pair in listed], lines, commands[:3])


def _listed(
    registry: Registry, records: Sequence[Record], causes: Sequence[str]
) -> list[tuple[Record, Freshness]]:
    """Return the records that are stale, for some of the causes if there are any."""
    by_path = registry.freshness()
    listed = [(record, by_path[record.path]) for record in records if record.path in by_path]
    if causes:
        listed = [pair for pair in listed if not set(causes).isdisjoint(_causes(pair[1]))]

    return listed


def _causes(freshness: Freshness) -> list[str]:
    return [reason.cause.value for reason in freshness.reasons]


@operation("verify", job="Review", of_kind=is_learning, writes=True)
def verify(
    call: Call,
    any_ids: tuple[str, ...],
    inputs: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
    by: str | None = None,
    volatility: Annotated[str, Form(enum=["evergreen", "stable", "volatile"])] | None = None,
    expires: str | None = None,
    dry_run: bool = False,
) -> Answer:
    """Confirm that records still hold.

    It hashes their inputs again and notes who looked and when.

    orbit verify L-7k3fq
    orbit verify L-7k3fq --input package.json#scripts.test --input src/parser/

    Args:
        any_ids ID...: The records.
        inputs PATH: Add an input: a file, a folder, or FILE#FIELD.
        removed --remove-input PATH: Remove an input.
        by NAME: Who looked; you if not given.
        volatility: How fast it ages.
        expires DATE: Until when it holds; `never` removes the date.
        dry_run: Print what would change; change nothing.
    """
    registry = call.registry
    statement = Verification(by, inputs, removed, volatility, expires)
    done: list[dict[str, object]] = []
    lines: list[Block] = []
    failed: list[OrbitError] = []

    for any_id in any_ids:
        try:
            call.of_kind(any_id, f"orbit verify {any_id}")
            verified = registry.verify(any_id, statement, dry_run=dry_run)
        except OrbitError as error:
            failed.append(error)
            continue

        record = verified.record
        remaining = registry.freshness([record]).get(record.path, FRESH)
        becomes = "would be" if dry_run else "is"
        lines.append(f"{record.id} {becomes} verified")
        lines += [f"    `{text}` hashed again" for text in verified.changed]
        lines += [f"    still {remaining.state}: {reason.message}" for reason in remaining.reasons]
        state = {"state": remaining.state.value, "hashed": list(verified.changed)}
        done.append({**record_data(record), **state})

    following = ["orbit stale", "orbit check"]
    return Answer(done or None, lines, following, refused=failed)


@operation("learning prune", writes=True)
def prune(
    call: Call,
    stale_only: bool = False,
    cause: tuple[Cause, ...] = (),
    fix_renames: bool = False,
    yes: bool = False,
    confirm: Annotated[bool, EARLIER] = False,
    dry_run: bool = False,
) -> Answer:
    """Show learnings that no longer hold, and retire them.

    --yes retires those that expired or whose scope, evidence or document is gone. A learning
    that only changed or aged stays for `orbit verify`, unless --cause names it. --fix-renames
    follows files that moved.

    orbit learning prune
    orbit learning prune --fix-renames --yes
    orbit learning prune --stale-only --yes

    Args:
        stale_only: Leave expired ones alone.
        cause: Only records that are stale for this cause.
        fix_renames: Print new globs for moved files as a diff; retire nothing.
        yes: Write it; else nothing is written.
        confirm: The same as --yes.
        dry_run: Print what would change; change nothing.
    """
    confirm = (yes or confirm) and not dry_run
    registry = call.registry
    if fix_renames:
        if cause or stale_only:
            raise UsageError(
                "--fix-renames asks git, whatever the cause",
                hint="leave --cause and --stale-only away",
            )

        return _follow_renames(registry, confirm)

    live = [
        each for each in registry.collection.records.of_kind("learning") if each.phase == "live"
    ]
    listed = _listed(registry, live, cause)
    if stale_only:
        listed = [pair for pair in listed if pair[1].state is not State.EXPIRED]

    moved = _moved_ids(registry, [record for record, freshness in listed if freshness.is_gone])
    retiring = [record for record, freshness in listed if cause or freshness.is_gone]
    doomed = [record for record in retiring if record.id not in moved]
    retired, failed = _retire(registry, doomed) if confirm else ([], [])
    rows = []
    for record, freshness in listed:
        ends = {
            "retire": record in doomed,
            "retired": record.id in retired,
            "moved": record.id in moved,
        }
        rows.append({**freshness_data(record, freshness), **ends})

    lines: list[Block] = [_stale_text(*pair) for pair in listed if pair[0].id not in retired]
    lines += [f"{record_id} is retired" for record_id in retired]
    lines += _prune_summary(len(listed), len(doomed), len(moved), confirm=confirm)
    again = ["orbit learning prune --yes"] if doomed and not confirm else ["orbit check"]
    if moved:
        again.insert(0, "orbit learning prune --fix-renames")

    data = {"stale": rows, "retired": retired}
    return Answer(data, lines or "every learning is fresh", again, refused=failed)


def _prune_summary(listed: int, doomed: int, moved: int, *, confirm: bool) -> Iterator[str]:
    if not confirm and doomed:
        yield f"{doomed} of {plural(listed, 'learning')} would be retired: `--yes` does it"
    elif listed and not doomed and not moved:
        yield "none is retired: read again what changed or aged"

    if moved:
        corrected = plural(moved, "learning")
        yield (
            f"{corrected} left alone: git saw the files move, `orbit learning prune "
            f"--fix-renames` follows them"
        )


def _moved_ids(registry: Registry, missing: Sequence[Record]) -> frozenset[str]:
    if not missing:
        return frozenset()
    return frozenset(move.record.id for move in _renames(registry).moves if move.new is not None)


def _retire(registry: Registry, doomed: Sequence[Record]) -> tuple[list[str], list[OrbitError]]:
    # It reads documents, which other commands do not.
    from orbit_registry.operations.lifecycle import transitions

    if not doomed:
        return [], []

    ids = [record.id for record in doomed]
    try:
        done, refusals = transitions(registry.workspace, ids, "retired", registry.author())
    except OrbitError as error:
        return [], [error]

    return [record.id for record in done], refusals


def _renames(registry: Registry, *, write: bool = False) -> Relocation:
    """Find the git renames of what learnings name."""
    workspace = registry.refresh()
    return follow_renames(workspace, registry.collection.records.of_kind("learning"), write=write)


def _follow_renames(registry: Registry, confirm: bool) -> Answer:
    renames = _renames(registry, write=confirm)
    moves = []
    lines: list[Block] = [renames.diff.rstrip("\n")] if renames.changes else []
    for move in renames.moves:
        moves.append({"id": move.record.id, "field": move.field, "old": move.old, "new": move.new})
        if move.new is None:
            lines.append(f"{move.record.id}: the new path of `{move.old}` is unknown")

    names = plural(sum(move.new is not None for move in renames.moves), "name")
    following = "orbit stale"
    if renames.changes:
        lines.append(
            f"{names} corrected" if confirm else f"{names} to correct: `--yes` writes this"
        )
        if not confirm:
            following = "orbit learning prune --fix-renames --yes"

    data = {"moves": moves, "diff": renames.diff, "written": confirm and bool(renames.changes)}
    return Answer(data, lines or "nothing that learnings name is gone", [following])


def _stale_text(record: Record, freshness: Freshness) -> str:
    causes = ", ".join(dict.fromkeys(reason.cause.value for reason in freshness.reasons))
    head = "expired" if freshness.cause is Cause.EXPIRED else f"stale ({causes})"
    lines = [f"{record.id}  {head}  {record.title}"]
    lines += [f"    {reason.message}" for reason in freshness.reasons]
    lines += [f"    do: {'  or  '.join(f'`{command}`' for command in remedies(record, freshness))}"]
    return "\n".join(lines)
