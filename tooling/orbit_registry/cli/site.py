"""`orbit site`: build the site, or serve it while you write."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.cli.check import say_diagnostics
from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import as_json, envelope, plural


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
    result = open_registry().build_site(out.resolve(), base_url=base_url, strict=strict)
    if output == "json":
        rows = [diagnostic.as_dict() for diagnostic in result.diagnostics]
        click.echo(as_json(envelope(result.as_data(), ok=result.ok, diagnostics=rows)))
    else:
        say_diagnostics(result.diagnostics)
        done = f"{plural(result.written, 'page')} written, {result.unchanged} unchanged, {result.removed} removed"
        click.echo(f"{done}\n{result.out}\nread it: python3 -m http.server --bind 127.0.0.1 --directory {result.out}")
    if not result.ok:
        context.exit(1)


@group.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to build; a cache if not given.")
def serve(port: int, out: Path | None) -> None:
    """Serve the site on this machine and rebuild it when a file changes; Ctrl-C ends it."""
    open_registry().serve_site(port=port, out=out.resolve() if out else None, say=click.echo)
