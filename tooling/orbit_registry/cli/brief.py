"""`orbit brief`: what an agent should know before it begins, for whoever writes its prompt; it changes no record."""

from __future__ import annotations

from typing import TextIO

import click

from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import from_root
from orbit_registry.errors import UsageError

LONGEST_TEXT = 100_000
"""Characters of a task's text that are searched for; what comes after them is left out."""


@click.command()
@click.option("--for", "purpose", type=click.Choice(["prompt"]), default="prompt", show_default=True, help="What for.")
@click.option("--path", "paths", multiple=True, help="A file that the work is about; it need not exist.")
@click.option("--tag", "tags", multiple=True, help="A tag that the work is about.")
@click.option("--agent", default="", help="The agent's name: records that name others are left out.")
@click.option("--task", default="", help="The task at hand: records that name other tasks are left out.")
@click.option("--code", is_flag=True, help="The task writes code: records about how that is done here count too.")
@click.option("--session", envvar="ORBIT_SESSION_ID", default="", help="What this session was shown is not repeated.")
@click.option("--text", type=click.File("r", encoding="utf-8"), help="A file with the task's words; - is the input.")
@format_option
def brief(
    purpose: str, paths: tuple[str, ...], tags: tuple[str, ...], agent: str, task: str, code: bool, session: str,
    text: TextIO | None, output: str,
) -> None:  # fmt: skip
    """Print what an agent should know before it begins, as a section for its prompt; nothing where nothing applies.

    At most five records and 1,000 tokens. What is left out is counted, and `--format json` says why.

    \b
    orbit brief --path src/app.py --session "$SESSION"
    echo "Move the cache to Redis" | orbit brief --text - --code
    """
    from orbit_registry.loop.brief import Wanted
    from orbit_registry.loop.brief import brief as made

    try:
        words = text.read(LONGEST_TEXT) if text is not None else ""
    except UnicodeDecodeError:
        raise UsageError("the task's text is not valid UTF-8", hint="give it in UTF-8") from None
    if not (paths or tags or words.strip()):
        raise UsageError("nothing is known of the work", hint="name a `--path`, a `--tag` or the `--text`")
    registry = open_registry()
    asked = [from_root(registry, path) for path in paths]
    wanted = Wanted(asked, tags, agent, task, "code" if code else "", words, session)
    found = made(registry.workspace, wanted, lambda about: [hit.record.path for hit in registry.search(about).hits])
    emit(output, found.as_data(), found.text())
