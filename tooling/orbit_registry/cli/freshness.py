"""`orbit stale`, `verify` and `learning prune`: stale records and what to do about them."""

from collections.abc import Iterator, Sequence

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    open_registry,
    print_refusals,
    warn_of_unread,
)
from orbit_registry.cli.records import kind_name
from orbit_registry.errors import OrbitError, UsageError, plural
from orbit_registry.model.freshness import FRESH, Cause, Freshness, State
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.verify import Verification
from orbit_registry.registry import Registry
from orbit_registry.render.records import freshness_data, record_data, remedies

_CAUSES = click.Choice([cause.value for cause in Cause])


@click.command("stale")
@click.option("--kind", metavar="KIND", help="Only records of this kind.")
@click.option("--cause", type=_CAUSES, multiple=True, help="Only for this cause; repeatable.")
@format_option
def stale(kind: str | None, cause: tuple[str, ...], output: str) -> None:
    """List records that may no longer hold, and why.

    orbit stale
    orbit stale --kind learning --cause fingerprint
    """
    print_stale(kind, cause, output)


def print_stale(kind: str | None, cause: Sequence[str], output: str) -> None:
    """Print the records that may no longer hold; of one kind, or for one of some causes."""
    registry = Registry.open()
    kind = kind_name(registry, kind)
    by_path = registry.freshness()
    records = [
        candidate
        for candidate in registry.collection.records
        if kind is None or candidate.kind.name == kind
    ]

    listed = [
        (record, freshness)
        for record in records
        if (freshness := by_path.get(record.path)) is not None
        and (not cause or any(reason.cause in cause for reason in freshness.reasons))
    ]
    open_records = sum(record.phase != "closed" for record in records)
    end = (
        f"{len(listed)} of {plural(open_records, 'record')} may no longer hold"
        if listed
        else "every record is fresh"
    )
    if cause and not listed:
        end = "no record is stale for that cause"

    text = "\n".join([*(_stale_text(*pair) for pair in listed), end])
    commands = [remedies(*pair)[0] for pair in listed if remedies(*pair)][:3]
    emit(output, [freshness_data(*pair) for pair in listed], text, next_commands=commands)
    warn_of_unread(registry)


@click.command("verify")
@click.argument("any_ids", metavar="ID...", nargs=-1, required=True)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="PATH",
    help="Add an input: a file, a folder, or FILE#FIELD.",
)
@click.option("--remove-input", "removed", multiple=True, metavar="PATH", help="Remove an input.")
@click.option("--by", metavar="NAME", help="Who looked; you if not given.")
@click.option(
    "--volatility", type=click.Choice(["evergreen", "stable", "volatile"]), help="How fast it ages."
)
@click.option("--expires", metavar="DATE", help="Until when it holds; `never` removes the date.")
@format_option
def verify(
    any_ids: tuple[str, ...],
    inputs: tuple[str, ...],
    removed: tuple[str, ...],
    by: str | None,
    volatility: str | None,
    expires: str | None,
    output: str,
) -> None:
    """Confirm that records still hold.

    It hashes their inputs again and notes who looked and when.

    orbit verify L-7k3fq
    orbit verify L-7k3fq --input package.json#scripts.test --input src/parser/
    """
    registry = open_registry()
    statement = Verification(by, inputs, removed, volatility, expires)
    done: list[dict[str, object]] = []
    lines: list[str] = []
    failed: list[OrbitError] = []

    for any_id in any_ids:
        try:
            verified = registry.verify(any_id, statement)
        except OrbitError as error:
            failed.append(error)
            continue

        record = verified.record
        remaining = registry.freshness([record]).get(record.path, FRESH)
        lines.append(
            f"{record.id} is verified"
            + "".join(f"\n    `{text}` hashed again" for text in verified.changed)
        )
        lines += [f"    still {remaining.state}: {reason.message}" for reason in remaining.reasons]
        done.append(
            {
                **record_data(record),
                "state": remaining.state.value,
                "hashed": list(verified.changed),
            }
        )

    if failed:
        print_refusals(output, done or None, "\n".join(lines), failed)

    emit(output, done, "\n".join(lines), next_commands=["orbit stale", "orbit check"])


@click.command("prune")
@click.option("--stale-only", is_flag=True, help="Leave expired ones alone.")
@click.option(
    "--cause", type=_CAUSES, multiple=True, help="Only records that are stale for this cause."
)
@click.option(
    "--fix-renames", is_flag=True, help="Print new globs for moved files as a diff; retire nothing."
)
@click.option("--yes", "-y", "confirm", is_flag=True, help="Write it; else nothing is written.")
@click.option("--confirm", "confirmed", is_flag=True, hidden=True)
@click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")
@format_option
def prune(
    stale_only: bool,
    cause: tuple[str, ...],
    fix_renames: bool,
    confirm: bool,
    confirmed: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Show learnings that no longer hold, and retire them.

    --yes retires those that expired or whose scope, evidence or document is gone. A learning
    that only changed or aged stays for `orbit verify`, unless --cause names it. --fix-renames
    follows files that moved.

    orbit learning prune
    orbit learning prune --fix-renames --yes
    orbit learning prune --stale-only --yes
    """
    registry = open_registry()
    confirm = (confirm or confirmed) and not dry_run
    if fix_renames:
        if cause or stale_only:
            raise UsageError(
                "--fix-renames asks git, whatever the cause",
                hint="leave --cause and --stale-only away",
            )

        _follow_renames(registry, confirm, output)
        return

    by_path = registry.freshness()
    listed = [
        (record, freshness)
        for record in registry.collection.records.of_kind("learning")
        if record.phase == "live"
        and (freshness := by_path.get(record.path)) is not None
        and not (stale_only and freshness.state is State.EXPIRED)
        and (not cause or any(reason.cause in cause for reason in freshness.reasons))
    ]
    moved = _moved_ids(registry, [record for record, freshness in listed if freshness.is_gone])
    doomed = [
        record
        for record, freshness in listed
        if (cause or freshness.is_gone) and record.id not in moved
    ]
    retired, failed = _retire(registry, doomed) if confirm else ([], [])
    data = {
        "stale": [
            {
                **freshness_data(record, freshness),
                "retire": record in doomed,
                "retired": record.id in retired,
                "moved": record.id in moved,
            }
            for record, freshness in listed
        ],
        "retired": retired,
    }

    lines = [_stale_text(*pair) for pair in listed if pair[0].id not in retired]
    lines += [f"{record_id} is retired" for record_id in retired]
    lines += _prune_summary(len(listed), len(doomed), len(moved), confirm=confirm)
    text = "\n".join(lines or ["every learning is fresh"])

    if failed:
        print_refusals(output, data, text, failed)

    again = ["orbit learning prune --yes"] if doomed and not confirm else ["orbit check"]
    emit(
        output,
        data,
        text,
        next_commands=["orbit learning prune --fix-renames", *again] if moved else again,
    )


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
    return frozenset(
        move.record.id for move in registry.follow_renames("learning").moves if move.new is not None
    )


def _retire(registry: Registry, doomed: Sequence[Record]) -> tuple[list[str], list[OrbitError]]:
    from orbit_registry.operations.lifecycle import (
        transitions,
    )  # it reads documents, which other commands do not

    if not doomed:
        return [], []

    try:
        done, refusals = transitions(
            registry.workspace,
            [doomed_record.id for doomed_record in doomed],
            "retired",
            registry.author(),
        )
    except OrbitError as error:
        return [], [error]

    return [record.id for record in done], refusals


def _follow_renames(registry: Registry, confirm: bool, output: str) -> None:
    renames = registry.follow_renames("learning", write=confirm)
    moves = [
        {"id": move.record.id, "field": move.field, "old": move.old, "new": move.new}
        for move in renames.moves
    ]
    unknown = [
        f"{move.record.id}: the new path of `{move.old}` is unknown"
        for move in renames.moves
        if move.new is None
    ]
    names = plural(sum(move.new is not None for move in renames.moves), "name")
    end = f"{names} corrected" if confirm else f"{names} to correct: `--yes` writes this"

    lines = [*([renames.diff.rstrip("\n")] if renames.changes else []), *unknown]
    text = "\n".join(
        [
            *lines,
            *(
                [end]
                if renames.changes
                else []
                if unknown
                else ["nothing that learnings name is gone"]
            ),
        ]
    )

    data = {"moves": moves, "diff": renames.diff, "written": confirm and bool(renames.changes)}
    again = (
        "orbit stale"
        if confirm or not renames.changes
        else "orbit learning prune --fix-renames --yes"
    )
    emit(output, data, text, next_commands=[again])


def _stale_text(record: Record, freshness: Freshness) -> str:
    causes = ", ".join(dict.fromkeys(reason.cause.value for reason in freshness.reasons))
    head = "expired" if freshness.cause is Cause.EXPIRED else f"stale ({causes})"
    lines = [f"{record.id}  {head}  {record.title}"]
    lines += [f"    {reason.message}" for reason in freshness.reasons]
    lines += [f"    do: {'  or  '.join(f'`{command}`' for command in remedies(record, freshness))}"]
    return "\n".join(lines)
