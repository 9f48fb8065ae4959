"""`init`: a workspace that works."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from orbit_registry.agents.install.install import found_agents
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call, Person
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import plural
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import COMMANDS, SetupReport, make_demo
from orbit_registry.registry import Registry

SCHEMAS = ".orbit/schemas/"
MOST_NAMED = 5
"""So many of what was found are named."""


@operation("init", job="Set up", line="Set up Orbit in this git repository.", writes=True)
def init(
    call: Call,
    folder: Annotated[Path, Form(file_okay=False, exists=True)] = Path(),
    adr_folder: str = "",
    schemas: bool = False,
    demo: Path | None = None,
    yes: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Set up Orbit in this git repository.

    It looks at the names of tracked files, and writes .orbit/config.yaml and lines in .gitignore
    and .gitattributes. It writes JSON Schemas if an editor's folder is tracked. Running it again
    changes nothing.

    orbit init
    orbit init --yes --adr-folder docs/adr
    orbit init --demo /tmp/parcel

    Args:
        folder [FOLDER]: The repository.
        adr_folder DIR: Where new decisions go; if not given, the folder with the most.
        schemas: Write JSON Schemas for editors too.
        demo DIR: Make a small project in a new folder, to try Orbit on.
        yes --yes -y: Do not ask.
        dry_run: Print what would be written; write nothing.
    """
    if demo is not None:
        return _demo(demo)

    def run(dry_run: bool) -> SetupReport:
        return Registry.init(folder, adr_folder=adr_folder, schemas=schemas, dry_run=dry_run)

    if call.person is not None and not yes and not dry_run:
        planned = run(dry_run=True)
        if planned.created or planned.changed or planned.driver:
            if not adr_folder:
                adr_folder = _folder_of_decisions(call.person, planned)
                planned = run(dry_run=True)

            shown = "\n".join(_lines(planned, "would be "))
            call.person.confirm(shown, "Go on?", usual=True)

    report = run(dry_run)
    data: dict[str, object] = {
        "root": str(report.root),
        "created": report.created,
        "changed": report.changed,
        "kept": report.unchanged,
        "merge_driver": report.driver,
        "unrecorded": report.unrecorded,
        "baselined": report.baselined,
    }

    steps = ['orbit adr new "Title"', "orbit check"]
    if report.unrecorded or (report.files and report.files.elsewhere):
        steps.insert(0, "orbit import . --dry-run")

    lines = _lines(report, "would be " if dry_run else "")
    if report.created and not dry_run:
        lines.append(f"next: `{steps[0]}`")

    return Answer(data, [*lines], steps)


def _demo(folder: Path) -> Answer:
    root = make_demo(folder, load_kinds())
    steps = [f"cd {shlex.quote(str(root))}", *COMMANDS]
    lines = [f"{root}: a repository with 3 decisions, 4 learnings and 1 rule; try:"]
    lines += [f"  {step}" for step in steps]
    return Answer({"root": str(root)}, [*lines], steps)


def _folder_of_decisions(person: Person, planned: SetupReport) -> str:
    """Show what was found and ask where new decisions go, if they are one file each."""
    person.show("\n".join(_found_lines(planned)))
    if planned.detected is None or planned.detected.style != "file":
        return ""

    return person.answer("Folder for new decisions", planned.detected.folder)


def _found_lines(report: SetupReport) -> list[str]:
    parts: dict[str, Sequence[str]] = {"agents": found_agents(report.root)}
    if report.files is not None:
        decisions = [f"{folder} ({count})" for folder, count in report.files.folders.items()]
        parts = {
            "decisions": decisions,
            "logs of decisions": report.files.logs,
            **parts,
            "CI and site": report.files.tools,
        }

    lines = ["found:"]
    for title, entries in parts.items():
        more = " …" if len(entries) > MOST_NAMED else ""
        if entries:
            lines.append(f"  {title}: {', '.join(entries[:MOST_NAMED])}{more}")

    return lines


def _lines(report: SetupReport, would: str) -> list[str]:
    schemas = [path for path in report.created if path.startswith(SCHEMAS)]
    lines = [f"{path} {would}written" for path in report.created if path not in schemas]
    if schemas:
        lines.append(f"{SCHEMAS} {would}written: {plural(len(schemas), 'schema')} for editors")
    if lines and report.root != Path.cwd().resolve():
        lines.insert(0, f"in {report.root}:")

    lines += [f"{path} {would}changed: lines added" for path in report.changed]
    if report.driver:
        lines.append(
            f"this clone's git settings {would}changed: it merges decision logs entry by entry"
        )

    if report.detected is not None:
        where = "logs"
        if report.detected.style == "file":
            where = f"one file each in {report.detected.folder}"

        lines.append(f"decisions: {where}")

    if report.unrecorded:
        counted = plural(report.unrecorded, "decision has", "decisions have")
        lines.append(f"{counted} no record yet: an import adds them")
    elif report.detected is not None and report.files and report.files.elsewhere:
        like_decisions = plural(
            report.files.elsewhere,
            "file is named like a decision",
            "files are named like decisions",
        )
        lines.append(f"{like_decisions}: an import shows which it takes")

    if report.baselined:
        baselined = plural(report.baselined, "older finding is", "older findings are")
        lines.append(f"{baselined} baselined: `orbit check --all` lists them")

    return lines or [f"nothing to do: {report.root} is a workspace already"]
