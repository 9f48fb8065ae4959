"""`orbit init`, `import PATH`, `trust` and `completion`: a workspace that works."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option, open_registry, progress_display
from orbit_registry.cli.writer import give, say
from orbit_registry.errors import OrbitError, RefusedError, UsageError, plural
from orbit_registry.install.install import found_agents
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import COMMANDS, SetupReport, make_demo
from orbit_registry.registry import Registry
from orbit_registry.workspace import trusted_commands
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.workspace import Workspace

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


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source",
    default="auto",
    show_default=True,
    metavar="FORMAT",
    help="What it is: auto, documents, lessons or orbit.",
)
@click.option(
    "--assume",
    type=click.Choice(["accepted", "proposed"]),
    help="The status of decisions whose document states none.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be adopted; write nothing.")
@click.option(
    "--verbose", "-v", is_flag=True, help="List everything: five lines of each part if not given."
)
@click.option(
    "--explain", is_flag=True, help="Print what each step makes of one document; write nothing."
)
@format_option
def import_records(
    path: Path,
    source: str,
    assume: str | None,
    dry_run: bool,
    verbose: bool,
    explain: bool,
    output: str,
) -> None:
    """Adopt decision documents, or records of another tool.

    Your documents stay unchanged. Running it again changes nothing, and the report names everything
    that was left out.

    orbit import .                      # decisions in any folder of the repository
    orbit import docs/decisions --dry-run
    orbit import docs/decisions --assume accepted
    orbit import docs/decisions/0042-use-one-queue.md --explain
    """
    if explain:
        explanation = Registry.explain_import(path)
        emit(output, explanation.as_data(), explanation.text())
        return

    with progress_display() as show:
        report = Registry.import_from(
            path,
            source,
            assume=assume,
            dry_run=dry_run,
            on_progress=show,
        )

    emit(
        output,
        report.as_data(),
        report.text(verbose=verbose),
        next_commands=["orbit check", "orbit scope suggest"],
    )


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


class _Configured:
    """The commands that the configuration names, their files, and whether each is allowed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.words = {
            **trusted_commands.configured_commands(workspace),
            **_site_code(workspace.root),
        }
        self.files = {
            key: trusted_commands.files_of(workspace, words) for key, words in self.words.items()
        }
        self.states = {
            key: trusted_commands.permission_state(workspace, key, words)
            for key, words in self.words.items()
        }

    @property
    def listing(self) -> str:
        """What a person reads before the answer."""
        return "\n".join(_command_lines(self.words, self.states, self.files))

    def as_data(self) -> dict[str, object]:
        """Return them as JSON shows them."""
        return {"commands": self.rows()}

    def rows(self, state: str = "") -> dict[str, object]:
        """Return a row for each command; with a state, all are in that."""
        return {
            key: {"words": self.words[key], "files": self.files[key], "state": state or known}
            for key, known in self.states.items()
        }


@click.command("trust")
@click.option("--yes", is_flag=True, help="Allow without asking.")
@click.option("--list", "listed", is_flag=True, help="List what you allowed, in every repository.")
@click.option("--revoke", is_flag=True, help="Remove all permissions here.")
@format_option
def trust(yes: bool, listed: bool, revoke: bool, output: str) -> None:
    """Allow the commands that the configuration names.

    None of them runs before. A command that changes needs a new permission, and so does one that
    names a changed file of the repository. Permissions are in your own configuration folder.

    orbit trust
    orbit trust --format json      # look without being asked
    orbit trust --list
    orbit trust --revoke
    """
    if yes + listed + revoke > 1:
        raise UsageError("--yes, --list and --revoke exclude each other", hint="give one of them")

    if listed:
        every = dict(trusted_commands.allowed_repositories())
        text = "\n\n".join(
            "\n".join([folder, *_command_lines(commands)]) for folder, commands in every.items()
        )
        emit(output, {"repositories": every}, text or "nothing is allowed anywhere")
        return

    workspace = open_registry().workspace
    if revoke:
        was = trusted_commands.revoke(workspace)
        text = "no command is allowed here any more" if was else "no command was allowed here"
        emit(output, {"revoked": was}, text)
        return

    configured = _Configured(workspace)
    if set(configured.states.values()) <= {"allowed"}:
        text = "the configuration names no command"
        if configured.states:
            text = f"{configured.listing}\nall of them are allowed"

        emit(output, configured.as_data(), text)
        return

    # To look is not to ask: a program or an agent may see what waits for a person.
    if output == "json" and not yes:
        emit(output, configured.as_data(), "", next_commands=["orbit trust"])
        return

    _allow(configured, yes, output)


def _allow(configured: _Configured, yes: bool, output: str) -> None:
    """Allow what the configuration names, if a person agrees."""
    workspace = configured.workspace
    if acting_role() == "agent":
        raise RefusedError(
            "an agent can't allow commands", hint="a person runs `orbit trust` in a terminal"
        )

    if output == "text":
        say(f"{workspace.root}\n{configured.listing}")

    if not yes:
        if not sys.stdin.isatty():
            raise RefusedError(
                "there is no terminal to ask in", hint="read them, then `orbit trust --yes`"
            )
        click.confirm("Run these commands when they are needed?", abort=True, err=True)

    file = trusted_commands.allow(workspace, configured.words, configured.files)
    data = {"commands": configured.rows("allowed")}
    emit(output, data, f"allowed, in {file}", next_commands=["orbit trust --revoke"])


def _site_code(root: Path) -> Mapping[str, tuple[str, ...]]:
    if not (root / "mkdocs.yml").is_file():
        return {}

    try:
        from orbit_registry.site.config import FILE, read_user_config

        config = read_user_config(root)
    except (ImportError, OrbitError):
        return {}

    return {FILE: config.code_settings} if config is not None and config.code_settings else {}


def _command_lines(
    commands: Mapping[str, Sequence[str]],
    states: Mapping[str, str] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> list[str]:
    lines = []
    for key in sorted(commands):
        lines.append(
            f"  {f'{key} ({states[key]})' if states else key}: {json.dumps(commands[key])}"
        )
        lines += [
            f"    {json.dumps(path)}  {digest[:16]}"
            for path, digest in sorted((files or {}).get(key, {}).items())
        ]

    return lines
