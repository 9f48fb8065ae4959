"""`orbit learning` and `orbit lessons`: verbs that only learnings have, and learnings by slug."""

from collections.abc import Sequence

import click

from orbit_registry.answers.call import Call
from orbit_registry.answers.freshness import stale as list_stale
from orbit_registry.answers.show import show as show_record
from orbit_registry.cli.kind import kind_group
from orbit_registry.cli.operations import print_answer, table_command
from orbit_registry.cli.output import emit, format_option, open_registry, warn_of_unread
from orbit_registry.cli.records import binding_options, print_moved, review_of
from orbit_registry.errors import AmbiguousIdError, RecordNotFoundError, UsageError, plural
from orbit_registry.formats.markdown import slug
from orbit_registry.matching.personal import personal_workspace
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data, table
from orbit_registry.review import review
from orbit_registry.workspace.author import Review

group = kind_group("learning")
group.add_command(table_command("verify"))


KIND = "learning"
FEWEST = 4  # fewest characters of a slug's beginning that select it
_NAMES = click.argument("names", metavar="NAME...", nargs=-1, required=True)


@click.group("lessons", no_args_is_help=True)
def lessons_group() -> None:
    """Read and manage learnings by slug.

    NAME is an id, a slug of the text, or a beginning of one that is unique.

    orbit lessons list
    orbit lessons show tests-run-with-nox
    """


def _registries(registry: Registry) -> list[tuple[str, Registry]]:
    personal = personal_workspace(registry.workspace)
    return [
        ("project", registry),
        *([("personal", Registry(personal))] if personal is not None else []),
    ]


def _find_lesson(registry: Registry, name: str) -> tuple[Registry, Record]:
    if name.startswith((".", "~")) or "\\" in name or ".." in name:
        raise UsageError(
            f"{name!r} is not a name of a lesson", hint="`orbit lessons list` shows ids and slugs"
        )

    for _, owner in _registries(registry):
        matches = _lesson_matches(owner, name)
        if len(matches) > 1:
            listed = "\n".join(f"  {record.id}  {slug(record.title)}" for record in matches)
            message = f"{name!r} means {plural(len(matches), 'lesson')}:\n{listed}"
            raise AmbiguousIdError(
                message, candidates=tuple(record.id for record in matches), hint="name an id"
            )

        if matches:
            return owner, matches[0]

    hint = (
        f"`orbit lessons list` shows ids and slugs; the beginning of a slug has {FEWEST} "
        f"characters or more"
    )
    raise RecordNotFoundError(f"no lesson is named {name!r}", hint=hint)


def _lesson_matches(registry: Registry, name: str) -> list[Record]:
    learnings = registry.collection.records.of_kind(KIND)
    matches = [
        record
        for record in registry.collection.records.candidates(name)
        if record.kind.name == KIND
    ]
    matches = matches or [record for record in learnings if slug(record.title) == name]

    return matches or [
        record
        for record in learnings
        if len(name) >= FEWEST and slug(record.title).startswith(name)
    ]


@lessons_group.command("list")
@click.option("--all", "everything", is_flag=True, help="List closed ones too.")
@format_option
def list_lessons(everything: bool, output: str) -> None:
    """List learnings, personal ones too, with their slugs.

    orbit lessons list
    orbit lessons list --all --format json
    """
    registry = open_registry()
    listed = [
        (scope, record)
        for scope, owner in _registries(registry)
        for record in owner.collection.records.of_kind(KIND)
        if everything or record.phase != "closed"
    ]
    data = [
        {**record_data(record), "slug": slug(record.title), "scope_of": scope}
        for scope, record in listed
    ]
    rows = [
        (record.id, record.status.name, scope, slug(record.title)[:60]) for scope, record in listed
    ]
    emit(output, data, table(("id", "status", "scope", "slug"), rows) or "no lessons")

    warn_of_unread(registry)


@lessons_group.command("show")
@click.argument("name")
@format_option
def show(name: str, output: str) -> None:
    """Show a learning.

    orbit lessons show L-7k3fq
    orbit lessons show tests-run-with-nox
    """
    registry = open_registry()
    owner, record = _find_lesson(registry, name)
    print_answer(show_record(Call(lambda: owner), record.id), output)


@lessons_group.command("promote")
@_NAMES
@binding_options
@format_option
def promote(names: Sequence[str], expect: str | None, yes: bool, output: str) -> None:
    """Accept candidates; a terminal shows each one first.

    orbit lessons promote tests-run-with-nox
    """
    reviewed = review_of(names, Review(), expect, yes, output)
    registry = open_registry()
    author = registry.author()

    def move(name: str) -> tuple[Record, Record]:
        owner, record = _find_lesson(registry, name)
        record = owner.get(record.id)
        return record, review.decide(owner.workspace, record, "live", author, reviewed(record))

    print_moved(registry, output, names, move, next_commands=["orbit check"])


@lessons_group.command("rm")
@_NAMES
@click.option(
    "--reason",
    default="removed",
    show_default=True,
    metavar="WHY",
    help="Why; the record keeps it.",
)
@format_option
def remove(names: Sequence[str], reason: str, output: str) -> None:
    """Reject a candidate, or retire a live learning.

    orbit lessons rm tests-run-with-nox --reason "the linter says so already"
    """
    registry = open_registry()
    author = registry.author()

    def move(name: str) -> tuple[Record, Record]:
        owner, record = _find_lesson(registry, name)
        because = Review(reason=reason)
        if record.phase == "pending":
            return record, review.decide(owner.workspace, record, "closed", author, because)
        return record, owner.transition(record.id, "retired", because)

    print_moved(registry, output, names, move, next_commands=["orbit check"])


@lessons_group.command("stale")
@format_option
def stale(output: str) -> None:
    """List learnings that may no longer hold, and why.

    orbit lessons stale
    orbit verify L-7k3fq
    """
    print_answer(list_stale(Call(open_registry), KIND), output)
    warn_of_unread(open_registry())
