"""`lessons`: learnings by slug, personal ones too."""

from collections.abc import Iterator

from orbit_registry.checks.review import review
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.decide import FOLLOWING, decision_of, moved_answer, reviewed_by
from orbit_registry.doors.answers.freshness import stale as list_stale
from orbit_registry.doors.answers.show import show as show_record
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Table
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import AmbiguousIdError, RecordNotFoundError, UsageError, plural
from orbit_registry.formats.markdown import slug
from orbit_registry.matching.personal import personal_workspace
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry

KIND = "learning"
FEWEST = 4
"""The fewest characters of a slug's beginning that select it."""
LONGEST_SLUG = 60


@operation(
    "lessons",
    job="Learn from work",
    line="Read and manage learnings by slug.",
    is_group=True,
)
def group(call: Call) -> None:
    """Read and manage learnings by slug.

    NAME is an id, a slug of the text, or a beginning of one that is unique.

    orbit lessons list
    orbit lessons show tests-run-with-nox
    """


@operation("lessons list", lists=True)
def list_lessons(call: Call, everything: bool = False) -> Answer:
    """List learnings, personal ones too, with their slugs.

    orbit lessons list
    orbit lessons list --all --format json

    Args:
        everything --all: List closed ones too.
    """
    data = []
    rows = []
    for scope, owner in _registries(call.registry):
        for record in owner.collection.records.of_kind(KIND):
            if everything or record.phase != "closed":
                name = slug(record.title)
                data.append({**record_data(record), "slug": name, "scope_of": scope})
                rows.append((record.id, record.status.name, scope, name[:LONGEST_SLUG]))

    return Answer(data, [Table(("id", "status", "scope", "slug"), rows)] if rows else "no lessons")


@operation("lessons show")
def show(call: Call, name: str) -> Answer:
    """Show a learning.

    orbit lessons show L-7k3fq
    orbit lessons show tests-run-with-nox

    Args:
        name NAME: An id, a slug, or the beginning of one.
    """
    owner, record = _find_lesson(call.registry, name)
    return show_record(Call(lambda: owner), record.id)


@operation("lessons promote", writes=True)
def promote(
    call: Call,
    names: tuple[str, ...],
    expect: str | None = None,
    yes: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Accept candidates; a terminal shows each one first.

    orbit lessons promote tests-run-with-nox

    Args:
        names NAME...: Ids, slugs, or beginnings of slugs.
        expect DIGEST: Only if the record has this digest, which `show` and `review` print.
        yes: Do not ask; else a terminal shows the record first.
        dry_run: Print what would change; change nothing.
    """
    author = call.author()
    reviewed = reviewed_by(call, names, decision_of(None, None), expect, yes or dry_run)

    def move(name: str) -> tuple[Record, Record]:
        owner, lesson = _find_lesson(call.registry, name)
        record = owner.get(lesson.id)
        decision = reviewed(record)
        workspace = owner.workspace
        accepted = review.decide(workspace, record, "live", author, decision, dry_run=dry_run)
        return record, accepted

    return moved_answer(call, names, move, dry_run=dry_run, following=FOLLOWING[:1])


@operation("lessons rm", writes=True)
def remove(
    call: Call, names: tuple[str, ...], reason: str = "removed", dry_run: bool = False
) -> Answer:
    """Reject a candidate, or retire a live learning.

    orbit lessons rm tests-run-with-nox --reason "the linter says so already"

    Args:
        names NAME...: Ids, slugs, or beginnings of slugs.
        reason WHY: Why; the record keeps it.
        dry_run: Print what would change; change nothing.
    """
    author = call.author()
    decision = decision_of(None, reason)

    def move(name: str) -> tuple[Record, Record]:
        owner, record = _find_lesson(call.registry, name)
        if record.phase != "pending":
            return record, owner.transition(record.id, "retired", decision, dry_run=dry_run)

        workspace = owner.workspace
        rejected = review.decide(workspace, record, "closed", author, decision, dry_run=dry_run)
        return record, rejected

    return moved_answer(call, names, move, dry_run=dry_run, following=FOLLOWING[:1])


@operation("lessons stale", lists=True)
def stale(call: Call) -> Answer:
    """List learnings that may no longer hold, and why.

    orbit lessons stale
    orbit verify L-7k3fq
    """
    return list_stale(call, KIND)


def _registries(registry: Registry) -> Iterator[tuple[str, Registry]]:
    yield "project", registry
    personal = personal_workspace(registry.workspace)
    if personal is not None:
        yield "personal", Registry(personal)


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
            candidates = tuple(record.id for record in matches)
            raise AmbiguousIdError(message, candidates=candidates, hint="name an id")

        if matches:
            return owner, matches[0]

    hint = (
        f"`orbit lessons list` shows ids and slugs; the beginning of a slug has {FEWEST} "
        f"characters or more"
    )
    raise RecordNotFoundError(f"no lesson is named {name!r}", hint=hint)


def _lesson_matches(registry: Registry, name: str) -> list[Record]:
    records = registry.collection.records
    slugs = [(slug(record.title), record) for record in records.of_kind(KIND)]
    by_id = [record for record in records.candidates(name) if record.kind.name == KIND]
    by_slug = [record for words, record in slugs if words == name]
    by_start = [record for words, record in slugs if words.startswith(name)]
    return by_id or by_slug or (by_start if len(name) >= FEWEST else [])
