"""`orbit site`: build the site, or serve it while you write."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.check import say_diagnostics
from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import as_json, envelope, plural
from orbit_registry.errors import UsageError

if TYPE_CHECKING:
    from orbit_registry.site.build import Progress


@click.group()
def group() -> None:
    """Build or serve the site."""


@group.command("build")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("site"), show_default=True)
@click.option("--base-url", help="Where it will stand: https://example.org/decisions/")
@click.option("--strict", is_flag=True, help="Fail on a broken link.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def build(context: click.Context, out: Path, base_url: str | None, strict: bool, output: str) -> None:
    """Write the site to a folder; only pages that changed are written.

    \b
    orbit site build --out site
    """
    _need_extra()
    from orbit_registry.site.build import build_site  # only where its libraries are known to be there

    result = build_site(open_registry(), out.resolve(), base_url=base_url, strict=strict, progress=_progress())
    if output == "json":
        rows = [diagnostic.as_dict() for diagnostic in result.diagnostics]
        counts = {name: getattr(result, name) for name in ("pages", "written", "unchanged", "removed", "seconds")}
        data = {"out": str(result.out), "config": result.config, **counts}
        click.echo(as_json(envelope(data, ok=not result.failed, diagnostics=rows)))
    else:
        say_diagnostics(result.diagnostics)
        done = f"{plural(result.written, 'file')} written, {result.unchanged} unchanged, {result.removed} removed"
        click.echo(f"{plural(result.pages, 'page')}: {done}\n{result.out}")
        click.echo(f"read it: python3 -m http.server --bind 127.0.0.1 --directory {result.out}")
    if result.failed:
        context.exit(1)


def _need_extra() -> None:
    """Raise a usage error where the site's libraries are not installed."""
    missing = [name for name in ("mkdocs", "material", "nh3") if importlib.util.find_spec(name) is None]
    if missing:
        hint = 'pip install "orbit-registry[site]"'
        raise UsageError(f"the site needs {', '.join(missing)}, which is not installed", hint=hint)


def _progress() -> Progress | None:
    """Return something that shows the steps of a build on a terminal, or None where nobody watches."""
    if not sys.stderr.isatty():
        return None

    def show(step: str, done: int, of: int) -> None:
        counted = f" {done}/{of}" if of > 1 else ""
        click.echo(f"\r\033[K{step}{counted}", nl=False, err=True)

    return show
