"""Builds the site: stage, generate, expand, check; each step is its own module, this one only joins them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.site.documents import mirrored_documents
from orbit_registry.site.expand import Expansion
from orbit_registry.site.forge import forge_of
from orbit_registry.site.generate import generate
from orbit_registry.site.memo import all_diagnostics, key_of, open_memo
from orbit_registry.site.output import open_output
from orbit_registry.site.own import read_own
from orbit_registry.site.pages import SHELL
from orbit_registry.site.shelf import Shelf
from orbit_registry.site.sitemap import SiteMap, site_map
from orbit_registry.site.stage import Sources, own_pages, stage
from orbit_registry.site.urls import document_url
from orbit_registry.store.reader import Collection
from orbit_registry.store.workspace import Workspace

CACHE = "site"
Progress = Callable[[str, int, int], None]
"""Called with the step's name, how much of it is done, and how much there is."""


class Readable(Protocol):
    """What the site asks of a registry."""

    workspace: Workspace

    @property
    def collection(self) -> Collection:
        """The records, and the files that hold none."""
        ...


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What a build did. `failed` says whether a strict build counts as failed."""

    out: Path
    pages: int
    written: int
    unchanged: int
    removed: int
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    config: str | None
    """The repository's own configuration file that was used, or None."""
    failed: bool = False


def shown_records(workspace: Workspace, records: Sequence[Record]) -> list[Record]:
    """Return the records that the site shows: those whose status is shown, never one that waits in the inbox."""
    inbox = workspace.relative(workspace.inbox) + "/"
    return [record for record in records if record.status.shown and not record.path.startswith(inbox)]


def build_site(
    registry: Readable,
    out: Path,
    base_url: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> SiteResult:
    """Write the site of a registry's records and documents into `out`.

    Raises:
        RefusedError: `out` holds files that no build of ours wrote.
        ConfigError: the repository's mkdocs.yml or a kind's template can't be used.
        GeneratorError: the generator is missing or failed.
        WriteError: the disk refused.
    """
    started = time.perf_counter()
    workspace = registry.workspace
    address = base_url or workspace.config.site.get("base_url") or None
    target = open_output(out)
    target.save()
    report = progress or (lambda step, done, of: None)
    report("read", 0, 1)
    collection = registry.collection
    records = shown_records(workspace, list(collection.records))
    sources, site = _sources(workspace, records, address)
    cache = workspace.cache / CACHE
    code = key_of(_package_version(), _code_digest())
    report("stage", 0, 1)
    stage_memo = open_memo(cache / "staged.json", code)
    staged = stage(sources, cache / "source", stage_memo)
    stage_memo.save()
    report("generate", 0, 1)
    complaints = generate(staged, cache / "generated")
    memo = open_memo(
        cache / f"pages-{hashlib.blake2b(str(out.resolve()).encode(), digest_size=6).hexdigest()}.json", code
    )
    expansion = Expansion(
        records=records,
        kinds=sources.kinds,
        documents=sources.documents,
        titles=staged.titles,
        problems=collection.problems,
        site=site,
        shelf=Shelf(workspace),
        generated=cache / "generated",
        base_url=address,
        out=target,
        memo=memo,
        progress=lambda done, of: report("expand", done, of),
    )
    found = expansion.run()
    removed = target.finish()
    memo.save()
    everything = [*staged.diagnostics, *all_diagnostics([stage_memo, memo]), *complaints, *found]
    diagnostics = tuple(sorted(set(everything), key=lambda one: one.sort_key))
    return SiteResult(
        out=out,
        pages=sum(path.endswith(".html") for path in target.after),
        written=target.written,
        unchanged=target.unchanged,
        removed=removed,
        diagnostics=diagnostics,
        seconds=time.perf_counter() - started,
        config=sources.own.file.name if sources.own else None,
        failed=strict and any(one.severity is not Severity.NOTE for one in diagnostics),
    )


def _sources(workspace: Workspace, records: list[Record], base_url: str | None) -> tuple[Sources, SiteMap]:
    own = read_own(workspace.root)
    kinds = tuple(kind for kind in workspace.kinds if any(status.shown for status in kind.statuses.values()))
    docs = own.docs if own else "docs"
    taken = [*(f"{kind.plural}/" for kind in kinds), "health/", "documents/", f"{SHELL}/", "legacy/", "files/"]
    documents = tuple(mirrored_documents(workspace, docs, taken))
    mirrored = {document.path: document.url for document in documents}
    curated = {}
    if own:
        pages = [f"{docs}/{name}" for name in own_pages(workspace.root, own) if name.lower().endswith(".md")]
        curated = {path: document_url(path, docs) for path in pages if path not in mirrored}
    config = workspace.config.site
    forge = forge_of(config.get("repository"), config.get("branch"))
    site = site_map(workspace.root, forge, records, mirrored, curated)
    title = str(config.get("title") or workspace.name)
    return Sources(workspace, kinds, documents, own, title, base_url, site), site


def _package_version() -> str:
    try:
        return version("orbit-registry")
    except PackageNotFoundError:
        return "unknown"


def _code_digest() -> str:
    """Return a text that changes when the code that makes pages does: what was made by other code is made again."""
    package = Path(__file__).parents[1]
    stamps = []
    for folder in ("site", "text", "records"):
        for file in sorted((package / folder).rglob("*.py")):
            info = file.stat()
            stamps.append(f"{file.name}-{info.st_mtime_ns}-{info.st_size}")
    return key_of(stamps)
