"""What all pages of the site share: their frames, and the files of the theme."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.site import language
from orbit_registry.site.compiled import use_compiled_templates
from orbit_registry.site.config import (
    SCRIPTS,
    default_config,
    digest_of_tree,
    overrides,
    staged_config,
)
from orbit_registry.site.curated import EmptyPage, shell_url, shells, staged_page
from orbit_registry.site.frame import Frames, address_of, empty_pages, frame_of
from orbit_registry.site.generate import generate
from orbit_registry.site.mark import CARD, MARK, card_png, mark_svg
from orbit_registry.site.output import open_output
from orbit_registry.site.sanitize import policy_of
from orbit_registry.site.stage import StagedSite
from orbit_registry.site.stage_config import CONFIG, DOCS, dumped
from orbit_registry.site.urls import file_of
from orbit_registry.workspace.cache import Cache

SCRIPT = "assets/orbit/fleet.js"
_SCRIPT_FILE = Path(__file__).with_name("fleet.js")
_NO_ASSET = re.compile(
    r".*\.(?:html|map)|sitemap\.xml(?:\.gz)?|search/.*|assets/javascripts/(?:workers|lunr)/.*"
)
"""What the generator writes and this site does without."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The frames of pages, and a folder with the theme's files."""

    frames: Frames
    folder: Path

    @property
    def key(self) -> str:
        """A digest of the frames."""
        return " ".join(frame.key for frame in self.frames.by_depth.values())

    def assets(self) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the content of each file of the theme."""
        for file in sorted(filter(Path.is_file, self.folder.rglob("*"))):
            path = file.relative_to(self.folder).as_posix()
            if not _NO_ASSET.fullmatch(path):
                yield path, file.read_bytes()


def ground(
    cache: Path, title: str, pages: Mapping[str, str], depths: Iterable[int], base_url: str | None
) -> Ground:
    """Return the ground of a site whose navigation has some pages: their titles by their URLs.

    `depths` are how deep the other pages are. The theme runs again only if one of these changed.
    """
    levels = sorted(set(depths))
    folder = cache / "generated"
    generate(
        Cache(cache / "values.db", "1"), _staged(cache, title, pages, levels, base_url), folder
    )

    by_shell = empty_pages(folder, map(shell_url, levels))
    policy = policy_of(by_shell.values())
    by_depth = {}
    for url, html in by_shell.items():
        by_depth[url.count("/")] = frame_of(html, policy, address_of(base_url, url))

    listed = empty_pages(folder, pages)
    by_url = {url: frame_of(html, policy) for url, html in listed.items()}
    return Ground(Frames(by_url, by_depth, base_url), folder)


def _staged(
    cache: Path, title: str, pages: Mapping[str, str], depths: list[int], base_url: str | None
) -> StagedSite:
    """Write what the generator reads: empty pages, our templates, a configuration."""
    out = open_output(cache / "source")
    for path, text in shells(depths).items():
        out.write(f"{DOCS}/{path}", text)

    nav: list[object] = []
    for url, name in pages.items():
        file = file_of(url).removesuffix(".html") + ".md"
        out.write(f"{DOCS}/{file}", staged_page(EmptyPage(url, name if url else "", name)))
        nav.append({name: file})

    out.write(f"{DOCS}/{language.SCRIPT}", language.script())
    out.write(f"{DOCS}/{CARD}", card_png(title))
    out.write(f"{DOCS}/{MARK}", mark_svg(title))
    out.write(f"{DOCS}/{SCRIPT}", _SCRIPT_FILE.read_bytes())

    base = default_config(title, nav)
    base["extra_javascript"] = [SCRIPT, *SCRIPTS]
    words = language.words_for_templates()
    base["extra"] = {"orbit_release": None, "orbit_staged": True, "orbit_words": words}
    use_compiled_templates(base)
    folders = {"docs_dir": DOCS, "site_dir": "site", "custom_dir": str(overrides())}
    out.write(CONFIG, dumped(staged_config(base, folders, base_url)))
    out.finish()
    digest = f"{digest_of_tree(out.folder)} {digest_of_tree(overrides())}"
    return StagedSite(out.folder, digest, {}, {}, nav, (), ())
