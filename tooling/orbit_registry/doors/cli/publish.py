"""`orbit site`: the site, built or served on this machine."""

import contextlib
from pathlib import Path

import click

from orbit_registry.doors.answers.exports import need_site
from orbit_registry.doors.cli.operations import TableGroup
from orbit_registry.doors.cli.output import open_registry, progress_display
from orbit_registry.doors.cli.writer import say
from orbit_registry.workspace.files import resolved

WORDS = """Build or serve the site.

orbit site build --out site
orbit site serve
"""


site_group = TableGroup("site", WORDS)


@site_group.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port; 0 takes any free one.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to build in; a cache if not given.",
)
def serve(port: int, out: Path | None) -> None:
    """Serve the site on this machine, and rebuild on changes.

    Ctrl-C ends it.

    orbit site serve --port 8001
    """
    need_site()
    from orbit_registry.site.serve import (
        serve_site,
    )  # only where its libraries are known to be there

    with contextlib.ExitStack() as display:
        progress = display.enter_context(progress_display())

        def tell(line: str) -> None:
            display.close()  # the first build is done
            say(line)

        serve_site(
            open_registry(),
            port=port,
            out=resolved(out) if out else None,
            say=tell,
            progress=progress,
        )
