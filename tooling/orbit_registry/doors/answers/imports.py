"""`import`: decision documents, and records of another tool."""

from pathlib import Path
from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.registry import Registry


@operation("import", job="Set up", is_group=True, usual="records")
def import_group(call: Call) -> None:
    """Adopt existing decisions, or files as resources.

    `orbit import records --help` lists the options for decisions.

    orbit import .                      # decisions in any folder of the repository
    orbit import docs/decisions --dry-run
    orbit import doc docs/deploying.md --version 2.1
    orbit import script tools/migrate.sh --tag database
    """


@operation("import records", writes=True)
def import_records(
    call: Call,
    path: Path,
    source: str = "auto",
    assume: Annotated[str, Form(enum=("accepted", "proposed"))] | None = None,
    dry_run: bool = False,
    verbose: bool = False,
    explain: bool = False,
) -> Answer:
    """Adopt decision documents, or records of another tool.

    Your documents stay unchanged. Running it again changes nothing, and the report names everything
    that was left out.

    orbit import .                      # decisions in any folder of the repository
    orbit import docs/decisions --dry-run
    orbit import docs/decisions --assume accepted
    orbit import docs/decisions/0042-use-one-queue.md --explain

    Args:
        path PATH: A folder, a document, or another tool's repository.
        source --from FORMAT: What it is: auto, documents, lessons or orbit.
        assume: The status of decisions whose document states none.
        dry_run: Print what would be adopted; write nothing.
        verbose -v --verbose: List everything: five lines of each part if not given.
        explain: Print what each step makes of one document; write nothing.
    """
    if explain:
        explanation = Registry.explain_import(path)
        return Answer(explanation.as_data(), explanation.text())

    with call.progress() as show:
        report = Registry.import_from(
            path, source, assume=assume, dry_run=dry_run, on_progress=show
        )

    following = ["orbit check", "orbit scope suggest"]
    return Answer(report.as_data(), report.text(verbose=verbose), following)
