"""Operations that only decisions have, and numbers."""

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Count
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import text_from
from orbit_registry.doors.answers.kinds import is_numbered
from orbit_registry.doors.answers.notes import past_review
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError
from orbit_registry.operations import adoption
from orbit_registry.operations.adr import amend_adr
from orbit_registry.operations.renumber import RenumberReport
from orbit_registry.operations.renumber import renumber as give_number


@operation("adr amend", writes=True)
def amend(
    call: Call,
    any_id: str,
    task: str,
    text: str | None = None,
    body_file: str | None = None,
    date: str | None = None,
    review_by: str | None = None,
) -> Answer:
    """Add a dated amendment; the decision's text stays.

    It also says that someone looked at the decision, so that a review is no longer due.

    orbit adr amend ADR-0012 --task TASK-9 --text "Holds for the export too."

    Args:
        any_id ID: The decision.
        task --task: The task in which it was amended.
        text: What changes, in a sentence or two.
        body_file FILE: The same from a file; - is the standard input.
        date: YYYY-MM-DD; today if not given.
        review_by DAY: When to look at it again: 2027-03 or 2027-03-31.
    """
    if (text is None) == (body_file is None):
        raise UsageError(
            "give --text or --body-file",
            hint="one of them says what changes; `--body-file -` reads stdin",
        )

    amendment = text_from(body_file) if body_file is not None else str(text)
    record = amend_adr(call.registry.refresh(), any_id, amendment, task, date, review_by)
    where = record.source.path if record.source else record.path
    notes = past_review(record) if review_by is not None else []
    line = f"{record.id} amended in {where}"
    return Answer(record_data(record), line, ["orbit check"], notes)


@operation("adr backfill", writes=True)
def backfill(
    call: Call,
    documents: tuple[str, ...] = (),
    moves: tuple[tuple[str, str], ...] = (),
    dry_run: bool = False,
    verbose: bool = False,
) -> Answer:
    """Make records for decisions that were written by hand.

    Without DOCUMENTS it takes every decision document. With --moved it makes no record: records
    whose documents were renamed get the new names.

    orbit adr backfill docs/design/search/4_decisions.md
    orbit adr backfill --moved docs/adr docs/decisions

    Args:
        documents [DOCUMENTS]...: Documents of decisions.
        moves --moved OLD NEW: A document or folder that was renamed.
        dry_run: Print what would be written; write nothing.
        verbose -v --verbose: List everything: five lines of each part if not given.
    """
    if documents and moves:
        raise UsageError(
            "--moved makes no records, so it takes no documents", hint="run one after the other"
        )

    workspace = call.registry.refresh()
    report = adoption.backfill(workspace, documents, moves=moves, dry_run=dry_run)
    return Answer(report, report.text(verbose=verbose), ["orbit check"])


@operation("renumber", is_command=False, of_kind=is_numbered, writes=True)
def renumber(
    call: Call, any_id: str, number: Count | None = None, dry_run: bool = False
) -> RenumberReport:
    """Give a record another number.

    orbit adr renumber ADR-0007 --dry-run

    Args:
        any_id ID: The record.
        number --to: The new number; the next free one if not given.
        dry_run: Print what would change; change nothing.

    Of a kind:
        Give {a_kind} another number.

        Every citation follows, and so does its document. The old id still resolves.

        orbit {kind} renumber {id} --dry-run
    """
    call.of_kind(any_id)
    return give_number(call.registry.refresh(), any_id, number, dry_run=dry_run)
