"""`diff`: what a change does to the records, for the reviewer of a pull request."""

from typing import Annotated
from urllib.parse import quote

from orbit_registry.checks.review.changes import ChangeReport, compare
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.changes import (
    MARKER,
    changes_markdown,
    changes_text,
    check_command,
)
from orbit_registry.errors import OrbitError
from orbit_registry.registry import Registry
from orbit_registry.repository.record_path import record_path


@operation("diff", job="Check", formats=("text", "json", "markdown"))
def diff(
    call: Call,
    revisions: str,
    forge: Annotated[str, Form(enum=("github", "gitlab"))] | None = None,
) -> Answer:
    """Show what a change does to the records.

    It lists the accepted records that apply to the changed files, the narrowest scopes first; the
    records that the change adds, changes or removes; accepted decisions on the question of a new
    one; numbers that other branches took; what the gate finds that it did not find before; and at
    most three things that look like a decision and that no record explains, each with the command
    that starts the record. Without HEAD it compares the work tree. The change begins where HEAD
    left BASE. The exit code is 0 whatever it finds: `orbit check --against BASE` is the gate.

    --post needs GITHUB_TOKEN in a workflow of GitHub, and ORBIT_GITLAB_TOKEN in a job of GitLab.
    --format markdown prints the comment for a pull request.

    orbit diff main
    orbit diff origin/main..HEAD --format markdown --post github

    Args:
        revisions BASE[..HEAD]: The commits that are compared.
        forge --post: Post or update the comment from CI.
    """
    registry = call.registry
    report = compare(registry.workspace, revisions)
    comment = _markdown(registry, report) if forge or call.form == "markdown" else ""
    text = comment if call.form == "markdown" else changes_text(report)
    following = [check_command(report)] if report.findings else []

    notes: list[str] = []
    refused: list[OrbitError] = []
    if forge is not None:
        from orbit_registry.exchange.exporters.comment import FORGES, post  # only CI posts

        # What changed is printed too where the comment can't be written.
        try:
            done, address = post(FORGES[forge](), MARKER, comment)
            notes.append(f"comment {done}: {address}")
        except OrbitError as error:
            refused.append(error)

    return Answer(
        report.as_data(), text, following, notes, diagnostics=report.findings, refused=refused
    )


def _markdown(registry: Registry, report: ChangeReport) -> str:
    from orbit_registry.site.urls import record_url
    from orbit_registry.workspace.forge import forge_at

    workspace = registry.workspace
    forge = forge_at(workspace, report.head or workspace.git.head())
    base_url = str(workspace.config.setting("site", "base_url"))

    def file(path: str) -> str:
        return forge.built(path) or quote(path)

    def page(path: str) -> str:
        at = record_path(workspace.kinds, path)
        if at is None or not base_url:
            return file(path)
        return f"{base_url.rstrip('/')}/{record_url(at.kind.plural, at.id)}"

    return changes_markdown(report, page, file)
