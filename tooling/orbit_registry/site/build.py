"""Builds the site of a registry: stage, generate, expand, check; returns at once where nothing has changed.

What makes pages is imported when there is something to make: to find that nothing changed takes a third of the time
without it.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.records.diagnostic import diagnostic_of, row_of
from orbit_registry.site import stamps
from orbit_registry.site.memo import key_of
from orbit_registry.site.output import BEGUN, MANIFEST, Output, open_output, refuse_links
from orbit_registry.site.result import Progress, Readable, SiteResult, heavier_than_notes
from orbit_registry.site.urls import site_address
from orbit_registry.store.cache import is_few
from orbit_registry.store.lock import locked
from orbit_registry.store.trusted_commands import allowed, switched, why_not
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.site.stage import Prepared

CACHE = "site"
LOCK = "build.lock"
BUILD_WAIT_SECONDS = 600.0


def build_site(
    registry: Readable,
    out: Path,
    base_url: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    *,
    snapshot: bool = True,
    is_last: bool = False,
) -> SiteResult:
    """Write the site of a registry's records and documents into `out`.

    `progress` is told the step's name, how much is done and how much there is. `snapshot` says whether the database
    for download is written too, `is_last` that the process ends after it and needs no memory back.

    Raises:
        RefusedError: `out` holds files that no build of ours wrote or is in a folder that the site is made from, a
            symbolic link stands where the build writes, or the repository's mkdocs.yml asks for what we do not run.
        ConfigError: the repository's mkdocs.yml or a kind's template can't be used.
        GeneratorError: the generator is missing or failed.
        WriteError: the disk refused.
    """
    started, started_ns = time.perf_counter(), time.time_ns()
    workspace = registry.workspace
    stated = base_url or workspace.config.site.get("base_url")
    address = site_address(str(stated)) if stated else None
    cache = workspace.cache / CACHE
    code = code_version()
    today = datetime.now(UTC).date().isoformat()  # records age by the day
    may_run = (switched(), allowed(workspace))
    wanted = key_of(code, str(out.resolve()), address, snapshot, today, repr(may_run), half_life_days())
    state = _state_file(workspace, out)
    for path in (out, cache, cache / LOCK, state):
        refuse_links(workspace.root, path)
    begun = _begun(out, state)
    target, kept, seen = open_output(out), *_kept(state)
    result = _as_before(workspace, kept, seen, wanted, out)
    if result is None:
        # One build at a time: the staged tree and the generator's pages are shared.
        with locked(cache / LOCK, wait=BUILD_WAIT_SECONDS):
            if _begun(out, state) != begun:  # another build wrote meanwhile: what stands there is its work
                target, kept, seen = open_output(out), *_kept(state)
            target.standing = _standing(target, kept, seen)
            changed = _changed(kept, seen, wanted, (workspace.root, out))
            few = changed is not None and is_few(len(changed), len(seen))
            with _uncollected() if is_last and few else contextlib.nullcontext():
                prepared, result = _build(registry, target, address, code, progress, changed, snapshot=snapshot)
            stamps.save(state, _stamps(prepared, target, result, started_ns, seen), _row(wanted, result, prepared))
    ok = not (strict and heavier_than_notes(result.diagnostics))
    return replace(result, seconds=time.perf_counter() - started, ok=ok)


def _stamps(
    prepared: Prepared, target: Output, result: SiteResult, started_ns: int, seen: Mapping[str, str]
) -> stamps.Stamps | None:
    """Return the stamps of all that a build rested on and wrote; None where the next one is not to trust them."""
    from orbit_registry.site.console import MISSING
    from orbit_registry.site.inputs import inputs_of

    if any(one.code == MISSING for one in result.diagnostics):
        return None  # what could not be fetched is tried again, though no file has changed
    held = stamps.stamps_of(inputs_of(prepared, target.folder), started_ns, seen)
    if held is None:
        return None
    stands = target.standing - target.made
    known = {f"{target.folder}{os.sep}{name}": name in stands for name in target.after}
    known[f"{target.folder}{os.sep}{MANIFEST}"] = False
    outputs = {at: seen[at] if same else stamps.stamp_of(at) for at, same in known.items()}
    return stamps.Stamps({**held.held, **outputs})


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no cycles, neither meanwhile nor ever in what is held at the end: that takes a sixth of a build."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _begun(out: Path, state: Path) -> list[str]:
    """Return what is another text once a build has begun or ended."""
    return [stamps.stamp_of(str(file)) for file in (out / MANIFEST, out / BEGUN, state)]


def _kept(state: Path) -> tuple[tuple[stamps.Stamps, object] | None, dict[str, str]]:
    """Return what the last build kept, and the stamps of now of all that it rested on."""
    kept = stamps.load(state)
    return kept, kept[0].now() if kept is not None else {}


def stamps_of_last_build(registry: Readable, out: Path) -> stamps.Stamps | None:
    """Return what the last build into `out` rested on, for those who watch; None where it is not known."""
    kept = stamps.load(_state_file(registry.workspace, out))
    return kept[0] if kept else None


def _state_file(workspace: Workspace, out: Path) -> Path:
    name = hashlib.blake2b(str(out.resolve()).encode(), digest_size=6).hexdigest()
    return workspace.cache / CACHE / f"state-{name}.json"


def _build(
    registry: Readable, target: Output, address: str | None, code: str, progress: Progress | None,
    changed: Set[str] | None, *, snapshot: bool,
) -> tuple[Prepared, SiteResult]:  # fmt: skip
    from orbit_registry.site.generate import MKDOCS, generate
    from orbit_registry.site.own import FILE, read_own
    from orbit_registry.site.steps import prepare, publish

    cache = registry.workspace.cache / CACHE
    report: Progress = progress or (lambda step, done, of: None)
    report("read", 0, 1)
    own = read_own(registry.workspace.root)
    if own is not None and own.running:
        why = why_not(registry.workspace, FILE, own.running, FILE)
        own = own.without_code(why) if why else own
    prepared = prepare(registry, own, cache, address, code, target.folder)
    report("generate", 0, 1)
    complaints = generate(prepared.staged, cache / "generated", registry.workspace.config.site.get("generator", MKDOCS))
    done = publish(prepared, cache / "generated", target, complaints, progress, snapshot=snapshot, changed=changed)
    return prepared, done


def _standing(target: Output, kept: tuple[stamps.Stamps, object] | None, seen: Mapping[str, str]) -> frozenset[str]:
    """Return the files of the output that are there with the stamps that the last build left."""
    held = kept[0].held if kept is not None else {}
    places = {path: f"{target.folder}{os.sep}{path}" for path in target.before}
    return frozenset(
        path for path, at in places.items() if held.get(at, stamps.ABSENT) == seen.get(at) != stamps.ABSENT
    )


def _changed(
    kept: tuple[stamps.Stamps, object] | None, seen: Mapping[str, str], wanted: str, places: tuple[Path, Path]
) -> Set[str] | None:
    """Return what is not as the last build found it, from the root, its own output aside; None where nobody knows."""
    if kept is None or not isinstance(kept[1], dict) or kept[1].get("wanted") != wanted:
        return None
    root, out = (f"{place}{os.sep}" for place in places)
    moved = (path for path, stamp in kept[0].held.items() if seen.get(path) != stamp)
    return frozenset(path.removeprefix(root) for path in moved if not path.startswith(out))


def _as_before(
    workspace: Workspace, kept: tuple[stamps.Stamps, object] | None, seen: Mapping[str, str], wanted: str, out: Path
) -> SiteResult | None:
    """Return what the last build said, if it would do the same again; `seen` are the stamps of now."""
    if kept is None or not isinstance(kept[1], dict) or kept[1].get("wanted") != wanted or kept[0].held != seen:
        return None
    data = kept[1]
    if data["strays"] is not None and data["strays"] != stamps.strays_of(workspace, out):
        return None
    diagnostics = tuple(diagnostic_of(row) for row in data["diagnostics"])
    return SiteResult(out, data["pages"], 0, data["files"], 0, diagnostics, 0.0, data["config"])


def _row(wanted: str, result: SiteResult, prepared: Prepared) -> dict[str, object]:
    strays = prepared.strays
    return {
        "wanted": wanted,
        "strays": None if strays is None else stamps.digest_of_strays(prepared.registry.workspace, strays),
        "pages": result.pages,
        "files": result.written + result.unchanged,
        "config": result.config,
        "diagnostics": [row_of(one) for one in result.diagnostics],
    }
