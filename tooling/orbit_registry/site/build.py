"""Entry of a site build: lock, result of the last build if nothing changed, else the steps."""

import contextlib
import gc
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orbit_registry.formats.markdown import Document, read_with
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.registry import Registry
from orbit_registry.repository.votes import half_life_days
from orbit_registry.site.inputs import inputs_of
from orbit_registry.site.output import (
    MANIFEST,
    Output,
    Progress,
    SiteResult,
    heavier_than_notes,
    open_output,
    refuse_links,
    silent,
)
from orbit_registry.site.stamps import (
    stamp_of,
    stamps_of,
    untracked_files,
    without_records,
)
from orbit_registry.site.urls import site_address
from orbit_registry.workspace.cache import row_reader, to_row
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.trusted_commands import allowed, forced_by_environment, refusal_reason

CACHE = "site"
LOCK = "build.lock"
BUILD_WAIT_SECONDS = 600.0


def build_site(
    registry: Registry,
    out: Path,
    base_url: str | None = None,
    strict: bool = False,
    progress: Progress = silent,
    *,
    snapshot: bool | None = None,
) -> SiteResult:
    """Write the site of a registry's records and documents into `out`, with the database if
    `snapshot`.

    By default only a site with the SQL console has the database: making it costs a third of a build
    after one edit.
    """
    started, started_ns = time.perf_counter(), time.time_ns()
    workspace = registry.workspace
    snapshot = bool(workspace.config.site.get("console")) if snapshot is None else snapshot
    configured = base_url or workspace.config.site.get("base_url")
    address = site_address(str(configured)) if configured else None

    cache = workspace.cache_folder / CACHE
    for path in (out, cache, cache / LOCK):
        refuse_links(workspace.root, path)

    today = datetime.now(UTC).date().isoformat()  # records age by the day
    may_run = (forced_by_environment(), allowed(workspace))
    namespace, key = (
        f"site stamps {out}",
        repr((address, snapshot, today, may_run, half_life_days())),
    )
    # One build at a time: the staged tree and the generator's pages are shared.
    with (
        locked(cache / LOCK, wait=BUILD_WAIT_SECONDS),
        without_collector(),
        read_with(structure_in),
    ):
        result = _previous_result(registry, out, workspace.cache.recall(namespace, key))
        if result is None:
            target = open_output(out)
            with read_with(structure_in):
                result, row = _build(
                    registry, target, address, progress, started_ns, snapshot=snapshot
                )
            workspace.cache.remember(namespace, key, row, is_clean=True)

    ok = not (strict and heavier_than_notes(result.diagnostics))
    return replace(result, seconds=time.perf_counter() - started, ok=ok)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Leave Python's garbage collector off, as it was before: what a build makes it needs to its
    end, and to look through it again and again takes an eighth of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def structure_in(text: str) -> Document:
    """Return the structure of a text that a page may show: its HTML is made in the same parse."""
    from orbit_registry.site.prose import parsed  # a build in which nothing changed parses nothing

    return parsed(text).structure


def _previous_result(
    registry: Registry, out: Path, row: Mapping[str, Any] | None
) -> SiteResult | None:
    if (
        not row
        or not row["stamps"]
        or any(stamp_of(path) != stamp for path, stamp in row["stamps"].items())
    ):
        return None

    if row["strays"] is not None and row["strays"] != untracked_files(registry.workspace, out):
        return None

    diagnostics = tuple(map(row_reader(Diagnostic), row["diagnostics"]))
    return SiteResult(
        out, row["pages"], 0, row["files"], 0, diagnostics, 0.0, row["config"], stamps=row["stamps"]
    )


def _build(
    registry: Registry,
    target: Output,
    address: str | None,
    progress: Progress,
    started_ns: int,
    *,
    snapshot: bool,
) -> tuple[SiteResult, dict[str, object]]:
    """Build, and return the result and the row that `_previous_result` reads."""
    from orbit_registry.site.build_steps import prepare, publish
    from orbit_registry.site.compiled import MKDOCS
    from orbit_registry.site.config import FILE, read_user_config
    from orbit_registry.site.console import MISSING
    from orbit_registry.site.generate import generate

    workspace = registry.workspace
    cache = workspace.cache_folder / CACHE
    progress("read", 0, 1)
    user_config = read_user_config(workspace.root)

    if user_config is not None and user_config.code_settings:
        reason = refusal_reason(workspace, FILE, user_config.code_settings, FILE)
        user_config = user_config.without_code(reason) if reason else user_config

    if address is None and user_config is not None:
        address = user_config.address

    context = prepare(registry, user_config, cache, address, target.folder, snapshot=snapshot)
    progress("generate", 0, 1)
    generator = workspace.config.site.get("generator", MKDOCS)
    complaints = generate(workspace.cache, context.staged, cache / "generated", generator)
    result = publish(context, cache / "generated", target, complaints, progress, snapshot=snapshot)

    outputs = (f"{target.folder}{os.sep}{name}" for name in (*target.after, MANIFEST))
    stamps = stamps_of(inputs_of(context, target.folder), outputs, started_ns)
    if any(problem.code == MISSING for problem in result.diagnostics):
        stamps = None  # what could not be fetched is tried again, though no file has changed

    strays = None if context.strays is None else without_records(workspace, context.strays)
    return replace(result, stamps=stamps), {
        "stamps": stamps,
        "strays": strays,
        "pages": result.pages,
        "files": result.written + result.unchanged,
        "config": result.config,
        "diagnostics": [to_row(diagnostic) for diagnostic in result.diagnostics],
    }
