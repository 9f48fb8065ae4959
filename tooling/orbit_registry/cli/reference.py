"""Reference pages of all commands in Markdown, made from their help."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from orbit_registry.cli.main import COMMANDS, HIDDEN, JOBS, KINDS, orbit

WIDTH = 100
HELP = ["-h", "--help"]
HEAD = """\
# Commands

`orbit` and `orbit-registry` are the same program. Where a command has `--format json`, it prints one envelope: `ok`,
`data`, `diagnostics`, `next` (commands that make sense now), and `error` with `hint` where it failed. Exit codes:
0 clean, 1 findings or a refused change, 2 usage, 3 our failure, 130 stopped: by Ctrl-C, or by a no where it asked yes
or no. `orbit run` and `orbit mcp wrap` end with the code of what they ran.
"""


def reference() -> dict[str, str]:
    """Return the pages in `docs/reference/commands/` by file name, without kinds of a workspace.

    A group has its own page; the other commands are on the page of their job.
    """
    context = click.Context(orbit, info_name="orbit")
    index, pages = [HEAD], {}
    for title, names in _jobs().items():
        index.append(f"## {title}\n")
        job_page, sections = f"{title.lower().replace(' ', '-')}.md", []
        for name in names:
            command = orbit.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group) and name != "new":
                link = f"{name}.md"
                pages[link] = "\n".join(_sections(command, ["orbit", name], "#"))
            else:
                link = f"{job_page}#orbit-{name}"
                sections.append(_section(command, ["orbit", name], "##"))
            index.append(f"- [`orbit {name}`]({link}): {command.get_short_help_str(WIDTH)}")
        if sections:
            pages[job_page] = "\n".join([f"# {title}\n", *sections])
        index.append("")
    return {"index.md": "\n".join(index), **pages}


def _jobs() -> Mapping[str, list[str]]:
    kinds = sorted({file.parent.name for file in KINDS.glob("*/kind.yaml")} - {*COMMANDS})
    jobs = {title: list(rows) for title, rows in JOBS.items()}
    return {**jobs, "Other kinds of records": kinds, "Help": ["new", "help"]}


def _section(command: click.Command, path: list[str], level: str) -> str:
    context = click.Context(
        command, info_name=" ".join(path), max_content_width=WIDTH, terminal_width=WIDTH, help_option_names=HELP
    )
    return f"{level} `{' '.join(path)}`\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


def _sections(command: click.Command, path: list[str], level: str) -> Iterator[str]:
    yield _section(command, path, level)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and name not in HIDDEN and not inner.hidden:
                yield from _sections(inner, [*path, name], f"{level}#")


def write(folder: Path) -> None:
    """Write the pages into a folder, and remove those of commands that are gone."""
    for file in folder.glob("*.md"):
        file.unlink()
    for name, text in reference().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
