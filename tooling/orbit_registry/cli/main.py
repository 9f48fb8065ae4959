"""Entry point of `orbit`: commands by name, errors as text and exit codes."""

from __future__ import annotations

import errno
import gc
import importlib
import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from orbit_registry.errors import OrbitError, UsageError, WriteError, did_you_mean
from orbit_registry.formats.untrusted import json_text, visible
from orbit_registry.model.diagnostic import envelope

INTERNAL_ERROR = 3
FEWER_COLLECTIONS = 100_000
"""After how many new values the garbage collector looks for cycles: ten thousand records make none, and looking for
them again and again took a fifth of a cold check."""
KINDS = Path(__file__).parents[1] / "kinds"
"""The shipped kinds; their names are enough here, and reading the table would cost every start."""

FIRST: Mapping[str, tuple[str, str]] = {
    "init": ("setup:init", "Make this repository a workspace."),
    "adr": ("adr:group", "Decisions: add, list, show, amend, accept, supersede, …"),
    "learning": ("learning:group", "Learnings: add, list, show, search, update, supersede, vote."),
    "search": ("records:search", "Find records by words."),
    "check": ("check:check", "The gate: find what is invalid, duplicate or dangling."),
    "site": ("publish:site_group", "Build or serve the site."),
    "doctor": ("setup:doctor", "Whether the workspace and its hooks work, and what to do."),
}
REST: Mapping[str, tuple[str, str]] = {
    "list": ("records:list_records", "List records of every kind."),
    "show": ("records:show", "Show a record by id or legacy id."),
    "link": ("records:link", "State a link between two records."),
    "unlink": ("records:unlink", "Take back a link."),
    "related": ("records:related", "What a record has to do with, by links and citations."),
    "note": ("retro:note", "Say how a piece of work went; it asks for what is worth keeping."),
    "queue": ("review:queue", "What waits for a person's review."),
    "promote": ("review:promote", "Bring what waits for review into force."),
    "fail": ("retro:fail", "Keep a target that failed from being tried again."),
    "clear": ("retro:clear", "Let a target that failed be tried again."),
    "reject": ("review:reject", "Turn down what waits for review, with the reason."),
    "stale": ("freshness:stale", "Records that may no longer hold, why, and what to do."),
    "verify": ("freshness:verify", "Say that records still hold, and hash what they rest on."),
    "match": ("match:match", "Records that apply to paths or tags, as they are pushed."),
    "explain": ("match:explain", "Why records are pushed for a path, or are not."),
    "brief": ("brief:brief", "What an agent should know before it begins."),
    "trust": ("setup:trust", "Allow the commands that this repository's configuration names."),
    "hook": ("hook:group", "Show an agent the records that apply, by itself."),
    "mcp": ("hook:mcp_group", "Serve records to agents over MCP."),
    "export": ("publish:export_group", "Write rule files, skills or a plugin for agents."),
    "scope": ("match:group", "Propose globs for records that name none."),
    "coverage": ("match:coverage", "Which files have which records."),
    "stats": ("stats:stats", "What agents were shown, how often nothing, and what it cost."),
    "replay": ("stats:replay", "What would have been shown in the commits of a history."),
    "prove": ("stats:prove", "Whether records reach their work, compared with git log and full-text search."),
    "import": ("resources:import_group", "Take over records of other tools, or files as resources."),
    "run": ("resources:run_command", "Run a script that is a resource, if it was reviewed."),
    "refresh": ("resources:refresh_command", "Take a resource's text over from its file again."),
    "sync": ("publish:sync", "Bring snapshot and push index up to date."),
    "query": ("publish:query", "Ask the snapshot in SQL, read only."),
    "snapshot": ("publish:snapshot_group", "Export the snapshot."),
    "baseline": ("check:baseline", "Findings that were there at adoption."),
    "resolve": ("check:resolve", "Mend a merge: colliding numbers, decision logs, votes."),
}
LOOP: Mapping[str, tuple[str, str]] = {
    "capture": ("retro:capture", "Learn from the transcript of a session; what it finds waits for review."),
    "lessons": ("learning:lessons_group", "Learnings by slug: list, show, promote, rm, stale."),
    "propose": ("review:propose", "What learnings would change in skills and records, for approval."),
    "apply": ("review:apply", "Put an approved proposal into its file."),
    "watchdog": ("setup:watchdog", "Look at what nobody looks at, once or every few hours."),
    "events": ("stats:events_group", "What was shown, opened, noted and done: the event log."),
    "retro": ("retro:group", "Look back on a run: outcomes, and a learning that waits for each finding."),
    "pitch": ("brief:pitch", "What could be done next, ranked and explained; a person approves or rejects."),
    "ensure": ("retro:ensure_command", "Make a record stand once, however often a producer says it."),
}
"""Commands of the loop; they run everywhere, and the help names them where `loop.enabled` is set."""
LOOP_KINDS = ("failure", "proposal")
HIDDEN: Mapping[str, tuple[str, str]] = {
    "merge-driver": ("check:merge_driver", "Merge one decision log; git calls this."),
}


_LOOP_ENABLED = r"(?m)^loop:[ \t]*(?:\{[^}\n]*|(?:#.*)?\n(?:[ \t]+.*\n|[ \t]*#.*\n|\n)*?[ \t]+)\benabled:[ \t]*true\b"


class Commands(click.Group):
    """Commands by name; each module is imported only when its command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, the most used first."""
        return [*FIRST, *_kind_names(), *REST, *LOOP]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, also that of a kind."""
        target = {**FIRST, **REST, **LOOP, **HIDDEN}.get(cmd_name)
        if target is not None:
            module, _, name = target[0].partition(":")
            command: click.Command = getattr(importlib.import_module(f"orbit_registry.cli.{module}"), name)
            return command
        if cmd_name in _kind_names():
            from orbit_registry.cli.kind import kind_group  # only a workspace with kinds of its own pays for it

            return kind_group(cmd_name)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; suggest near names if there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0].startswith("-"):
                raise
            ctx.fail(
                f"No such command {args[0]!r}. {did_you_mean(args[0], self.list_commands(ctx)).capitalize()}".rstrip()
            )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of the help without importing the commands."""
        loops = _is_loop_enabled()
        names = (name for name in _kind_names() if loops or name not in LOOP_KINDS)
        kinds = {name: ("", f"Records of the kind {name}.") for name in names}
        loop = (("The loop", LOOP),) if loops else ()
        for title, commands in (("Commands", {**FIRST, **kinds}), ("More", REST), *loop):
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()])


def _is_loop_enabled() -> bool:
    """Search the configuration as text: parsing YAML would slow down each `--help`."""
    folder = Path.cwd()
    for parent in (folder, *folder.parents):
        try:
            return re.search(_LOOP_ENABLED, (parent / ".orbit/config.yaml").read_text("utf-8", "replace")) is not None
        except OSError:
            continue
    return False


def _kind_names() -> list[str]:
    """Return the kinds without a command of their own, from folder names alone."""
    shipped = [file.parent.name for file in KINDS.glob("*/kind.yaml") if file.parent.name not in {**FIRST, **LOOP}]
    folder = Path.cwd()
    for parent in (folder, *folder.parents):
        if (parent / ".orbit").is_dir():
            return sorted({*shipped, *(file.parent.name for file in (parent / ".orbit/kinds").glob("*/kind.yaml"))})
    return sorted(shipped)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="orbit-registry", prog_name="orbit")
@click.option("-C", "directory", type=click.Path(file_okay=False, exists=True), help="Run as if started there.")
def orbit(directory: str | None) -> None:
    """Keep decisions and learnings as reviewed files in git.

    \b
    orbit init                                     # start here
    orbit adr add --title "Use DuckDB"             # decide something
    orbit learning add --summary "…" --path "src/**"
    orbit check                                    # what is wrong
    orbit site build --out site                    # read it all
    """
    if directory is not None:
        os.chdir(directory)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 clean, 1 findings or refusal, 2 usage, 3 internal error."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(FEWER_COLLECTIONS, 20, 100)
    sys.exit(run(words))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    as_json = _wants_json(arguments)
    _written_roots().clear()
    try:
        _refuse_bytes(arguments)
        try:
            code = orbit.main(args=arguments, prog_name=_program_name(), standalone_mode=False)
        finally:
            _sync_written()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        if as_json:
            context = error.ctx if isinstance(error, click.UsageError) else None
            command = context.command_path if context is not None else "orbit"
            _print_json_error(error.format_message(), f"`{command} --help` says what can be given")
        else:
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; nothing half-written is left", err=True)
        return 130
    except OrbitError as error:
        if as_json:
            _print_json_error(error.message, error.hint)
        else:
            click.echo(visible(f"error: {error.message}"), err=True)
            click.echo(visible(f"  hint: {error.hint}"), err=True)
        return error.exit_code
    except BrokenPipeError:
        _discard_output()  # the reader left; end in peace
        return 0
    except Exception as error:  # noqa: BLE001 - the boundary: a bug is said to be one, with what reports it
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            _discard_output()
            click.echo("error: what this prints can't be written: no space is left where it goes", err=True)
            click.echo("  hint: free some, or send it elsewhere; what the command did stands", err=True)
            return WriteError.exit_code
        import traceback

        if as_json:
            message = f"{type(error).__name__}: {error}"
            _print_json_error(
                f"orbit failed: {message}", "this is a bug, please report it with what stands on the error output"
            )
        click.echo("orbit failed; this is a bug, please report it with what follows:", err=True)
        click.echo(traceback.format_exc(), err=True)
        return INTERNAL_ERROR


def _sync_written() -> None:
    """Update the push index, so that the next hook call shows what the command wrote."""
    if _written_roots():
        from orbit_registry.matching.match import sync_written

        if problem := sync_written():
            click.echo(visible(f"warning: {problem}"), err=True)


def _written_roots() -> set[Path]:
    """Return the roots written to, without importing the module that writes."""
    journal = sys.modules.get("orbit_registry.workspace.journal")
    return journal.WRITTEN_ROOTS if journal is not None else set()


def _program_name() -> str:
    """Return `orbit`, or the longer name for shell completion."""
    return "orbit-registry" if "_ORBIT_REGISTRY_COMPLETE" in os.environ else "orbit"


def _discard_output() -> None:
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open to the end


def _refuse_bytes(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise UsageError(f"{argument!a} is not valid UTF-8", hint="give it in UTF-8")


def _wants_json(arguments: list[str]) -> bool:
    return "--format=json" in arguments or any(pair == ("--format", "json") for pair in itertools.pairwise(arguments))


def _print_json_error(message: str, hint: str | None) -> None:
    click.echo(json_text(envelope(None, ok=False, error=message, hint=hint)))


if __name__ == "__main__":
    main()
