"""`orbit site`: build the site, or serve it while you write."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import as_json, format_option, keep_out, plural, say_diagnostics
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.model.diagnostic import envelope

if TYPE_CHECKING:
    from orbit_registry.site.result import Progress


@click.group()
def group() -> None:
    """Build or serve the site.

    \b
    orbit site build --out site
    orbit site serve
    """


@group.command("build")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    show_default=True,
    help="The folder it is written to.",
)
@click.option("--base-url", help="Where it will stand: https://example.org/decisions/")
@click.option("--strict", is_flag=True, help="Fail on a broken link.")
@format_option
@click.pass_context
def build(context: click.Context, out: Path, base_url: str | None, strict: bool, output: str) -> None:
    """Write the site to a folder; only pages that changed are written.

    \b
    orbit site build --out site
    """
    _need_extra()
    from orbit_registry.site.build import build_site  # only where its libraries are known to be there

    with _shown() as progress:
        registry = open_registry()
        result = build_site(registry, out.resolve(), base_url=base_url, strict=strict, progress=progress)
    if output == "json":
        rows = [diagnostic.as_dict() for diagnostic in result.diagnostics]
        click.echo(as_json(envelope(result.as_data(), ok=result.ok, diagnostics=rows)))
    else:
        say_diagnostics(result.diagnostics)
        done = f"{plural(result.written, 'file')} written, {result.unchanged} unchanged, {result.removed} removed"
        click.echo(f"{plural(result.pages, 'page')}: {done}\n{result.out}")
        for line in keep_out(registry.workspace.git, result.out):
            click.echo(visible(line))
        click.echo(f"read it: python3 -m http.server --bind 127.0.0.1 --directory {shlex.quote(str(result.out))}")
    if not result.ok:
        context.exit(1)


@group.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to build; a cache if not given.")
def serve(port: int, out: Path | None) -> None:
    """Serve the site on this machine and rebuild it when a file changes; Ctrl-C ends it.

    \b
    orbit site serve --port 8001
    """
    _need_extra()
    from orbit_registry.site.serve import serve_site  # only where its libraries are known to be there

    with contextlib.ExitStack() as drawn:
        progress = drawn.enter_context(_shown())

        def say(line: str) -> None:
            drawn.close()  # the first build is done
            click.echo(visible(line))

        serve_site(open_registry(), port=port, out=out.resolve() if out else None, say=say, progress=progress)


def _need_extra() -> None:
    """Raise a usage error where the site's libraries are not installed."""
    missing = [name for name in ("mkdocs", "material", "nh3") if importlib.util.find_spec(name) is None]
    if missing:
        hint = "install the extra `orbit-registry[site]`"
        raise UsageError(f"the site needs {', '.join(missing)}, which is not installed", hint=hint)


@contextlib.contextmanager
def _shown() -> Iterator[Progress | None]:
    """Yield something that draws the steps of a build on a terminal, or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        step = bars.add_task("read", total=None)

        def show(name: str, done: int, of: int) -> None:
            # A step that can't say how far it is has a bar that moves.
            bars.update(step, description=name, completed=done, total=of if of > 1 else None)

        yield show
