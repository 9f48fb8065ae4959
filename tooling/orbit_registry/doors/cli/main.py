"""Entry point of `orbit`: commands by name, errors as text and exit codes."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from orbit_registry.doors.answers.table import commands
from orbit_registry.doors.cli.encoding import restart_in_utf8, set_streams
from orbit_registry.doors.cli.help import finished
from orbit_registry.doors.cli.writer import give, say
from orbit_registry.errors import (
    OrbitError,
    UsageError,
    WriteError,
    did_you_mean,
    without_long_words,
)
from orbit_registry.formats.untrusted import json_text
from orbit_registry.seams import add, extras, kind_folders, load

INTERNAL_ERROR = 3
FEWER_COLLECTIONS = 100_000
"""After how many new values the garbage collector looks for cycles:
ten thousand records make none, and looking for them again and again took a fifth of a cold check.
"""
KINDS = Path(__file__).parents[2] / "kinds"
"""The shipped kinds; their names are enough here, and reading the table would cost every start."""

JOBS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Set up": {
        "init": ("", ""),
        "import": ("", ""),
        "hook": ("", ""),
        "mcp": ("mcp:group", "Serve records to agents over MCP."),
        "export": ("", ""),
        "trust": ("", ""),
        "doctor": ("", ""),
        "leave": ("", ""),
        "completion": ("completion:completion", "Print the completion script of a shell."),
        "sync": ("", ""),
    },
    "Write": {
        "adr": ("", "Write, list and change decisions (ADRs)."),
        "learning": ("", "Write, list and change learnings."),
        "link": ("", ""),
        "unlink": ("", ""),
        "scope": ("", ""),
        "run": ("", ""),
        "refresh": ("", ""),
    },
    "Review": {
        "review": ("", ""),
        "accept": ("", ""),
        "reject": ("", ""),
        "retire": ("", ""),
        "stale": ("", ""),
        "verify": ("", ""),
    },
    "Find": {
        "search": ("", ""),
        "show": ("", ""),
        "list": ("", ""),
        "match": ("", ""),
        "explain": ("", ""),
        "related": ("", ""),
        "brief": ("", ""),
        "query": ("", ""),
    },
    "Check": {
        "check": ("", ""),
        "diff": ("", ""),
        "audit": ("", ""),
        "baseline": ("", ""),
        "resolve": ("", ""),
        "coverage": ("", ""),
    },
    "Publish": {
        "site": ("publish:site_group", "Build or serve the site."),
        "snapshot": ("", ""),
    },
    "Learn from work": {
        "lessons": ("", ""),
    },
}
"""Commands by job: where each is, and its line in the help; both are empty where the table of
operations has them.
"""


def jobs() -> dict[str, dict[str, str]]:
    """Return the lines of the whole help by job and name; what an extra adds comes last."""
    declared = commands()
    lines: dict[str, dict[str, str]] = {}
    for job, rows in JOBS.items():
        lines[job] = {name: line or declared[name].line for name, (_, line) in rows.items()}

    taken = dict.fromkeys(itertools.chain(*lines.values(), HIDDEN), "")
    for extra in extras():
        for job, added in extra.commands.items():
            lines_of_extra = {name: each.line for name, each in added.items()}
            add(taken, lines_of_extra, "command", extra.name)
            lines.setdefault(job, {}).update(lines_of_extra)

    listed = {*itertools.chain.from_iterable(lines.values())}
    for name, row in declared.items():
        if row.job and name not in listed and " " not in name:
            lines.setdefault(row.job, {})[name] = row.line

    return lines


def command_lines() -> dict[str, str]:
    """Return the lines of all commands by name."""
    lines: dict[str, str] = {}
    for rows in jobs().values():
        lines |= rows

    return lines


START: Mapping[str, tuple[str, ...]] = {
    "Start": ("init", "import", "hook"),
    "Write": ("adr", "learning", "review"),
    "Find and check": ("search", "show", "check", "site"),
}
"""Commands on the first page of the help."""
_FURTHER = """
apply capture clear completion coverage ensure events fail failure lessons note pitch proposal
propose prove refresh replay resource retro run snapshot sync unlink watchdog
"""
FURTHER = frozenset(_FURTHER.split())
"""Commands that the list of all commands only names: few people type them."""
HIDDEN: Mapping[str, tuple[str, str]] = {
    "queue": ("", ""),
    "promote": ("", "Accept records that wait for review."),
    "merge-driver": ("merge_driver:merge_driver", "Merge one decision log; git calls this."),
}
"""Commands that run and that the help does not list: synonyms, and what git calls."""

SYNONYMS = {"promote": "accept"}
"""Earlier names of operations."""
USUAL_WORDS = {
    "build": "orbit site build",
    "delete": "orbit retire ID",
    "edit": "orbit adr update ID",
    "lint": "orbit check",
    "log": "orbit events tail",
    "open": "orbit show ID",
    "remove": "orbit retire ID",
    "rm": "orbit retire ID",
    "serve": "orbit site serve",
    "status": "orbit review",
    "uninstall": "orbit leave",
    "validate": "orbit check",
    "version": "orbit --version",
    "--edit": "--body-file FILE",
    "--json": "--format json",
    "check --base": "--against BRANCH",
    "diff --against": "orbit diff BRANCH",
    "diff --base": "orbit diff BRANCH",
    "hook run": "orbit hook test AGENT",
    "resource new": "orbit import doc FILE",
    "snapshot build": "orbit sync",
    "supersede --by": "--with NEW",
}
"""Words that other programs take, and what does the same here."""


def _target(name: str) -> str:
    """Return where a command is that the table of operations does not have; else nothing."""
    for rows in (*JOBS.values(), HIDDEN):
        if name in rows:
            target = rows[name][0]
            return target and f"orbit_registry.doors.cli.{target}"

    for extra in extras():
        for added in extra.commands.values():
            if name in added:
                return added[name].target

    return ""


class _Suggesting(click.Group):
    """Group whose error about an unknown command names a near one, or the one of a kind:
    `orbit adr supersede`.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; suggest near names if there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0].startswith("-"):
                raise

            kinds = [
                kind
                for kind in ("adr", "learning", *_kind_names())
                if _verb(kind, args[0]) is not None
            ]
            near = f"did you mean `orbit {kinds[0]} {args[0]}`?" if kinds else ""
            near = near or did_you_mean(args[0], self.list_commands(ctx))
            ctx.fail(f"No such command {args[0]!r}. {near[:1].upper()}{near[1:]}".rstrip())


class Commands(_Suggesting):
    """Commands by name; each module is imported only when its command runs."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; no code that it calls chooses the exit code by ending the process."""
        try:
            return super().invoke(ctx)
        except SystemExit as stop:
            raise RuntimeError(
                f"a package ended the command by SystemExit({stop.code!r})"
            ) from stop

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the whole help."""
        return [*command_lines(), *_kind_names(), "new", "help"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, also that of a kind."""
        command: click.Command | None = None
        target = _target(cmd_name)
        if target:
            command = load(target)
        elif SYNONYMS.get(cmd_name, cmd_name) in commands():
            from orbit_registry.doors.cli.operations import table_command

            command = table_command(SYNONYMS.get(cmd_name, cmd_name))
        elif cmd_name == "help":
            command = help_command
        elif cmd_name in ("adr", "learning", *_kind_names()):
            from orbit_registry.doors.cli.kind import (
                kind_group,
            )  # only a workspace with its own kinds pays for it

            command = kind_group(cmd_name)
        elif cmd_name == "new":
            command = _New("new", help=_NEW_HELP, hidden=True)

        return command and finished(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands that most people need, without importing them."""
        lines = command_lines()
        for title, names in START.items():
            with formatter.section(title):
                formatter.write_dl([(name, lines[name]) for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the command that lists the rest."""
        formatter.write_paragraph()
        formatter.write_text("All commands by job: orbit help --all")


class _New(_Suggesting):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a kind; say which there are if there is a title in its place."""
        word = args[0]
        is_title = " " in word.strip() or (word[:1].isupper() and not word.startswith("-"))
        if is_title and self.get_command(ctx, word.lower()) is None:
            kinds = f'`orbit adr new "{word}"` or `orbit learning new "{word}"`'
            ctx.fail(f"a new record of which kind? For example {kinds}")

        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["adr", "learning", *(name for name in _kind_names() if _adder(name) is not None)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _adder(cmd_name)


_NEW_HELP = """Write a new record of a kind.

orbit new adr "Use DuckDB"
orbit new learning "Read a file before you move it" --path "src/**"
"""


def _adder(kind: str) -> click.Command | None:
    if kind in ("adr", "learning", *_kind_names()):
        return _verb(kind, "new")

    return None


def _verb(kind: str, name: str) -> click.Command | None:
    context = click.Context(orbit, info_name="orbit")
    group = orbit.get_command(context, kind)
    if isinstance(group, click.Group):
        return group.get_command(context, name)

    return None


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="List every command by job.")
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...], everything: bool) -> None:
    """Show the help of a command, or list all commands.

    orbit help --all
    orbit help adr new
    """
    parent = click.Context(
        orbit, info_name="orbit", help_option_names=["-h", "--help"], max_content_width=100
    )
    if everything:
        formatter = parent.make_formatter()
        further = [name for name in _kind_names() if name in FURTHER]
        for title, rows in jobs().items():
            listed = [(name, line) for name, line in rows.items() if name not in FURTHER]
            further += [name for name in rows if name in FURTHER]
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)

        with formatter.section("Other kinds of records"):
            formatter.write_dl(
                [
                    (name, f"Write, list and change records of kind {name}.")
                    for name in _kind_names()
                    if name not in FURTHER
                ]
            )

        with formatter.section("For loops, programs and measurements, each with its --help"):
            formatter.write_text(", ".join(sorted(further)))

        say(formatter.getvalue().lstrip("\n"), nl=False)
        return

    orbit.main([*words, "--help"], prog_name="orbit", standalone_mode=False)


def _kind_names() -> list[str]:
    """Return the kinds without a line in the help, from folder names alone."""
    placed = command_lines()
    shipped: list[str] = []
    for kinds in (KINDS, *kind_folders()):
        names = [file.parent.name for file in kinds.glob("*/kind.yaml")]
        shipped += [name for name in names if name not in placed]

    folder = Path.cwd()
    for parent in (folder, *folder.parents):
        if (parent / ".orbit").is_dir():
            return sorted(
                {
                    *shipped,
                    *(file.parent.name for file in (parent / ".orbit/kinds").glob("*/kind.yaml")),
                }
            )

    return sorted(shipped)


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="orbit-registry", prog_name="orbit")
@click.option(
    "-C",
    "directory",
    type=click.Path(file_okay=False, exists=True),
    help="Run as if started there.",
)
def orbit(directory: str | None) -> None:
    """Keep decisions and learnings as reviewed files in git.

    \b
    orbit init
    orbit adr new "Use DuckDB" --path "src/**"
    orbit check
    """
    if directory is not None:
        os.chdir(directory)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 clean, 1 findings or refusal, 2 usage, 3 internal error."""
    if arguments is None:
        restart_in_utf8()
        set_streams()

    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(FEWER_COLLECTIONS, 20, 100)
    code = run(words)

    # A process that ends needs no look at each of its objects: 60 ms after a sync.
    gc.freeze()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    as_json = _wants_json(arguments)
    _written_roots().clear()

    try:
        _refuse_bytes(arguments)
        _refuse_deleted_folder()
        try:
            code = orbit.main(args=arguments, prog_name=_program_name(), standalone_mode=False)
        finally:
            _sync_written()
        if isinstance(code, int):
            return code

        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return 0
    except click.ClickException as error:
        message, hint = _click_error(error)
        message = without_long_words(message)
        _print_error(message, _dash_hint(error, arguments) or hint, as_json=as_json)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("stopped; nothing half-written is left", err=True)
        return 130
    except OrbitError as error:
        _print_error(error.message, error.hint, error.next_commands, as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        _discard_output()  # the reader left; end in peace
        return 0
    except SystemExit:
        # Click ends the process itself once it completed a word, and where the reader left.
        if _is_completing():
            raise

        _discard_output()
        return 0
    except Exception as error:  # noqa: BLE001 - the last handler of the process
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            _discard_output()
            say(
                "error: what this prints can't be written: no space is left where it goes", err=True
            )
            say("  hint: free some, or write elsewhere; the command did its work", err=True)
            return WriteError.exit_code

        import traceback

        if as_json:
            message = f"orbit failed: {type(error).__name__}: {error}"
            _print_error(message, "this is a bug: report it with the error output", as_json=True)

        say("orbit failed; this is a bug, please report it with what follows:", err=True)
        say(traceback.format_exc(), err=True)
        return INTERNAL_ERROR


def _sync_written() -> None:
    if _written_roots():
        from orbit_registry.matching.match import sync_written

        if problem := sync_written():
            say(f"warning: {problem}", err=True)


def _written_roots() -> set[Path]:
    """Return the roots written to, without importing the module that writes."""
    journal = sys.modules.get("orbit_registry.workspace.journal")
    return journal.WRITTEN_ROOTS if journal is not None else set()


def _is_completing() -> bool:
    """Say whether a shell asks for words, which click answers and then ends the process itself."""
    return not {"_ORBIT_COMPLETE", "_ORBIT_REGISTRY_COMPLETE"}.isdisjoint(os.environ)


def _program_name() -> str:
    is_long = Path(sys.argv[0]).name == "orbit-registry" or "_ORBIT_REGISTRY_COMPLETE" in os.environ
    if is_long:
        return "orbit-registry"

    return "orbit"


def _discard_output() -> None:
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open to the end


def _refuse_deleted_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the folder in which this runs was deleted", hint="change to a folder that exists"
        ) from None


def _refuse_bytes(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise UsageError(f"{argument!a} is not valid UTF-8", hint="give it in UTF-8")


def _wants_json(arguments: list[str]) -> bool:
    return "--format=json" in arguments or any(
        pair == ("--format", "json") for pair in itertools.pairwise(arguments)
    )


def _print_error(
    message: str, hint: str, next_commands: Sequence[str] = (), *, as_json: bool
) -> None:
    if as_json:
        from orbit_registry.model.diagnostic import envelope  # help does without

        answer = envelope(None, ok=False, error=message, hint=hint, next_commands=next_commands)
        give(json_text(answer))
        return

    say(f"error: {message}", err=True)
    say(f"  hint: {hint}", err=True)


def _click_error(error: click.ClickException) -> tuple[str, str]:
    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    unknown = re.match(r"No such (?:command|option) '([\w-]+)'", message)
    if unknown is not None and context is not None and (same := _usual_word(context, unknown[1])):
        message = f"{unknown[0]}. Did you mean `{same}`?"

    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is not None and isinstance(parameter.type, click.Choice):
        if isinstance(error, click.MissingParameter):
            name = f" {parameter.opts[0]}" if isinstance(parameter, click.Option) else ""
            message = (
                f"missing {parameter.param_type_name}{name}: one of "
                f"{', '.join(parameter.type.choices)}"
            )
        else:
            if isinstance(parameter, click.Argument):
                message = error.message.rstrip(".")  # click's own names all choices twice
            if near := did_you_mean(
                "".join(error.message.split("'")[1:2]), parameter.type.choices, "`"
            ):
                message = f"{message}. {near[0].upper()}{near[1:].rstrip()}"

    more_words = re.match(r"Got unexpected extra arguments? \((.*)\)", message)
    if more_words is not None and context is not None and context.params.get("headline"):
        title = f"{context.params['headline']} {more_words[1]}"
        hint = f'write it so: `{context.command_path} "{title}"`'
        return "the title has several words without quotes", hint

    message = re.sub(r"is not a valid integer(?: range)?\Z", "is not a whole number", message)
    if context is None:
        return f"{message[:1].lower()}{message[1:]}", "`--help` after a command shows its usage"

    hint = f"`{context.command_path} --help` shows the usage"
    lines = (
        ()
        if isinstance(context.command, click.Group)
        else (context.command.help or "").splitlines()
    )
    examples = [line.strip() for line in lines if line.strip().startswith("orbit ")]
    options = parameter.opts if isinstance(parameter, click.Option) else ()
    with_option = [line for line in examples if {*options} & {*line.split()}]
    example = next(iter((*with_option, *examples)), None)
    if example is not None:
        hint = f"for example `{example.partition('  #')[0].rstrip()}`; {hint}"

    return f"{message[:1].lower()}{message[1:]}", hint


def _dash_hint(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return how to write a name that was read as options, such as `-notes.md`; else nothing."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""

    takes_names = any(isinstance(each, click.Argument) for each in error.ctx.command.params)
    names = [word for word in arguments if word.startswith(error.option_name) and len(word) > 2]
    if not takes_names or not names or names[0].startswith("--"):
        return ""

    command = f"{error.ctx.command_path} -- {shlex.quote(names[0])}"
    return f"put `--` before a name that begins with `-`: `{command}`"


def _usual_word(context: click.Context, word: str) -> str:
    """Return what does the same as a word of other programs;
    in a group that is no kind, a command means another.
    """
    name = context.info_name or ""
    is_kind = name in ("adr", "learning", *_kind_names())
    is_general = is_kind or context.parent is None or word.startswith("-")
    same = USUAL_WORDS.get(f"{name} {word}") or (USUAL_WORDS.get(word, "") if is_general else "")
    if is_kind:
        return same.replace("orbit adr ", f"orbit {name} ")

    return same


if __name__ == "__main__":
    main()
