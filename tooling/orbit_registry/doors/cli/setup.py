"""`orbit init` and `completion`: a workspace that works."""

import shlex
import sys
from pathlib import Path

import click

from orbit_registry.agents.install.install import found_agents
from orbit_registry.doors.cli.output import emit, format_option
from orbit_registry.doors.cli.writer import give, say
from orbit_registry.errors import plural
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import COMMANDS, SetupReport, make_demo
from orbit_registry.registry import Registry

SCHEMAS = ".orbit/schemas/"


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, exists=True))
@click.option(
    "--adr-folder",
    metavar="DIR",
    help="Where new decisions go; if not given, the folder with the most.",
)
@click.option("--schemas", is_flag=True, help="Write JSON Schemas for editors too.")
@click.option(
    "--demo", metavar="DIR", help="Make a small project in a new folder, to try Orbit on."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def init(
    folder: str,
    adr_folder: str | None,
    schemas: bool,
    demo: str | None,
    yes: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Set up Orbit in this git repository.

    It looks at the names of tracked files, and writes .orbit/config.yaml and lines in .gitignore
    and .gitattributes. It writes JSON Schemas if an editor's folder is tracked. Running it again
    changes nothing.

    orbit init
    orbit init --yes --adr-folder docs/adr
    orbit init --demo /tmp/parcel
    """
    if demo is not None:
        _make_demo(Path(demo), output)
        return

    if not yes and not dry_run and sys.stdin.isatty():
        planned = Registry.init(
            Path(folder), adr_folder=adr_folder or "", schemas=schemas, dry_run=True
        )
        if planned.created or planned.changed or planned.driver:
            say("\n".join(_found_lines(planned)))

            if (
                planned.detected is not None
                and adr_folder is None
                and planned.detected.style == "file"
            ):
                adr_folder = click.prompt(
                    "Folder for new decisions", default=planned.detected.folder
                )
                planned = Registry.init(
                    Path(folder), adr_folder=adr_folder, schemas=schemas, dry_run=True
                )

            say(_setup_text(planned, "would be "))
            click.confirm("Go on?", default=True, abort=True)

    report = Registry.init(
        Path(folder), adr_folder=adr_folder or "", schemas=schemas, dry_run=dry_run
    )
    data: dict[str, object] = {
        "root": str(report.root),
        "created": report.created,
        "changed": report.changed,
        "kept": report.unchanged,
        "merge_driver": report.driver,
        "unrecorded": report.unrecorded,
        "baselined": report.baselined,
    }

    steps = ["orbit import . --dry-run", 'orbit adr new "Title"', "orbit check"]
    steps = steps if report.unrecorded or (report.files and report.files.elsewhere) else steps[1:]
    text = _setup_text(report, "would be " if dry_run else "")
    if report.created and not dry_run:
        text += f"\nnext: `{steps[0]}`"

    emit(output, data, text, next_commands=steps)


def _make_demo(folder: Path, output: str) -> None:
    root = make_demo(folder, load_kinds())
    steps = [f"cd {shlex.quote(str(root))}", *COMMANDS]
    text = "\n".join(
        [
            f"{root}: a repository with 3 decisions, 4 learnings and 1 rule; try:",
            *(f"  {s}" for s in steps),
        ]
    )
    emit(output, {"root": str(root)}, text, next_commands=steps)


def _found_lines(report: SetupReport) -> list[str]:
    files = report.files
    parts = {
        "decisions": [f"{folder} ({number})" for folder, number in files.folders.items()]
        if files
        else [],
        "logs of decisions": files.logs if files else (),
        "agents": found_agents(report.root),
        "CI and site": files.tools if files else (),
    }
    lines = [
        f"  {title}: {', '.join(entries[:5])}{' …' if len(entries) > 5 else ''}"
        for title, entries in parts.items()
    ]

    return [
        "found:",
        *(line for line, entries in zip(lines, parts.values(), strict=True) if entries),
    ]


def _setup_text(report: SetupReport, would: str) -> str:
    schemas = [path for path in report.created if path.startswith(SCHEMAS)]
    lines = [f"{path} {would}written" for path in report.created if path not in schemas]
    lines += (
        [f"{SCHEMAS} {would}written: {plural(len(schemas), 'schema')} for editors"]
        if schemas
        else []
    )
    if lines and report.root != Path.cwd().resolve():
        lines.insert(0, f"in {report.root}:")

    lines += [f"{path} {would}changed: lines added" for path in report.changed]
    if report.driver:
        lines.append(
            f"this clone's git settings {would}changed: it merges decision logs entry by entry"
        )

    if report.detected is not None:
        style = (
            "one file each in " + report.detected.folder
            if report.detected.style == "file"
            else "logs"
        )
        lines.append(f"decisions: {style}")

    if report.unrecorded:
        lines.append(
            f"{plural(report.unrecorded, 'decision has', 'decisions have')} no record yet: an "
            f"import adds them"
        )
    elif report.files and report.files.elsewhere:
        others = plural(
            report.files.elsewhere,
            "file is named like a decision",
            "files are named like decisions",
        )
        lines.append(f"{others}: an import shows which it takes")

    if report.baselined:
        baselined = plural(report.baselined, "older finding is", "older findings are")
        lines.append(f"{baselined} baselined: `orbit check --all` lists them")

    return "\n".join(lines) or f"nothing to do: {report.root} is a workspace already"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    eval "$(orbit completion bash)"                                # in ~/.bashrc; zsh: in ~/.zshrc
    orbit completion fish > ~/.config/fish/completions/orbit.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    name = str(context.find_root().info_name)
    if script is not None:
        variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
        give(script(context.find_root().command, {}, name, variable).source(), nl=False)
