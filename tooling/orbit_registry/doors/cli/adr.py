"""`orbit adr`: verbs that only decisions have."""

from functools import partial
from typing import Any

import click

from orbit_registry.doors.answers.inputs import text_from
from orbit_registry.doors.cli.kind import add_synonym, kind_group, stated_headline
from orbit_registry.doors.cli.operations import print_answer
from orbit_registry.doors.cli.output import format_option, may_ask, open_registry
from orbit_registry.errors import UsageError
from orbit_registry.model.kind import load_kinds
from orbit_registry.registry import Registry

group = kind_group("adr")


@group.command("new")
@click.argument("headline", metavar="[TITLE]", required=False)
@click.option("--title", help="The decision in one line.")
@click.option("--feature", help="Its feature; this names the log if decisions are in logs.")
@click.option("--task", "tasks", multiple=True, help="The task in which it was made.")
@click.option("--decider", "deciders", multiple=True, help="Who decided.")
@click.option(
    "--legacy-id", "legacy_ids", multiple=True, help="An earlier name that still resolves."
)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files it applies to.")
@click.option("--tag", "tags", multiple=True, help="Topic it applies to (scope.tags).")
@click.option(
    "--uses",
    multiple=True,
    metavar="PACKAGE",
    help="Package or module; it applies to files that import it: redis.",
)
@click.option("--label", "labels", multiple=True, help="Word to group by (labels).")
@click.option("--summary", help="What it means for someone who edits this code (280 characters).")
@click.option(
    "--status",
    type=click.Choice(["proposed", "accepted", "rejected", "deprecated"]),
    help="Its status.",
)
@click.option(
    "--distinct-from",
    "distinct_from",
    multiple=True,
    metavar="ID",
    help="A record that looks alike but differs.",
)
@click.option(
    "--supersedes",
    multiple=True,
    metavar="ID",
    help="The decision that it replaces: both records and the new text say so.",
)
@click.option("--pending", is_flag=True, help="The same as --status proposed.")
@click.option("--date", help="YYYY-MM-DD or YYYY-MM; today if not given.")
@click.option("--review-by", metavar="DAY", help="When to look at it again: 2027-03 or 2027-03-31.")
@click.option(
    "--revisit-when",
    multiple=True,
    metavar="WHAT",
    help="What makes a review due: words of a commit, path: GLOB, or uses: PACKAGE.",
)
@click.option("--style", type=click.Choice(["file", "log"]), help="One file, or an entry in a log.")
@click.option(
    "--body-file",
    metavar="FILE",
    help="Context, Decision and Consequences; - is the standard input.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; take no number.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@format_option
def add(
    headline: str | None,
    body_file: str | None,
    pending: bool,
    dry_run: bool,
    yes: bool,
    output: str,
    **values: Any,
) -> None:
    """Add a decision: its record and its document.

    It takes the next free number on all branches. It is proposed while its text has prompts of the
    template: fill them in, then run `orbit accept`.

    orbit adr new "Keep the snapshot in DuckDB"
    orbit adr new --title "Keep the snapshot in DuckDB" --feature registry --task TASK-1
    """
    # Verbs that add nothing start without it.
    from orbit_registry.doors.answers.new_decision import new_decision, refuse_same_title
    from orbit_registry.operations.adr import NewAdr

    registry = open_registry()  # before a person is asked for anything
    values["title"] = stated_headline(
        load_kinds()["adr"], headline, values["title"], asks=may_ask(output, yes)
    )
    values["status"] = _status(registry, values["status"], pending=pending)
    request = NewAdr(body=_body(body_file), **values)

    # It runs under the lock: no record can be added meanwhile.
    admit = partial(refuse_same_title, registry, apart=request.distinct_from)
    added = registry.add_adr(request, admit=admit, dry_run=dry_run)
    print_answer(new_decision(registry, request, added, dry_run=dry_run), output)


def _status(registry: Registry, status: str | None, *, pending: bool) -> str | None:
    if pending and status not in (None, "proposed"):
        raise UsageError(
            "--pending and --status contradict each other", hint="leave one of them out"
        )

    if registry.author().role == "agent":
        if status not in (None, "proposed"):
            raise UsageError(
                "an agent proposes decisions; a person accepts them", hint="leave --status out"
            )
        return "proposed"

    return "proposed" if pending else status


def _body(file: str | None) -> str | None:
    if file is None:
        return None

    body = text_from(file)
    if not body.strip():
        raise UsageError(
            "the text is empty",
            hint="leave --body-file out: the document then has prompts to fill in",
        )

    return body


add_synonym(group)
