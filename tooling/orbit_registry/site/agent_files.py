"""Files for agents besides the Markdown of pages: the lists of all pages, and what applies in each
folder.
"""

from collections.abc import Mapping
from itertools import chain

from orbit_registry.model.rank import rank_order
from orbit_registry.repository.votes import half_life_days
from orbit_registry.site import llms
from orbit_registry.site.config import files_in
from orbit_registry.site.memo import PageCache
from orbit_registry.site.published import Published
from orbit_registry.site.twins import Twin


def write_for_agents(data: Published, pages: PageCache, twins: Mapping[str, Twin]) -> None:
    """Write these files of pages, whose Markdown is written: `twins` by the page's URL."""
    sources, base_url, out = data.context.sources, data.context.base_url, pages.out
    documents = [document.url for document in sources.documents]
    groups = _page_groups(data)
    sections = llms.sections_of(groups, sources.kinds, data.records, documents, twins)

    summary = twins[""].description if "" in twins else sources.title
    everything = llms.full_text(sources.title, summary, sections, out.folder, base_url)
    out.write(llms.FULL, everything)

    bundles = _write_bundles(data, pages, twins)
    sections.insert(-1, llms.Section("Records by folder", llms.BUNDLES, bundles))

    for path, text in llms.lists(sources.title, summary, sections, base_url):
        if path not in out.after:  # the repository's own is kept
            out.write(path, text)


def _write_bundles(data: Published, pages: PageCache, twins: Mapping[str, Twin]) -> list[Twin]:
    out, base_url = pages.out, data.context.base_url
    half_life = half_life_days()
    ranked = sorted(data.records, key=lambda record: rank_order(record, half_life))
    bundles = []
    for folder, chosen in llms.by_folder(ranked, data.listed).items():
        path = llms.bundle_path(folder)
        out.write(path, llms.bundle(folder, [twins[url] for url in chosen], out.folder, base_url))
        bundles.append(Twin(path, f"{folder}/", llms.count_of(chosen)))

    return bundles


def _page_groups(data: Published) -> dict[str, list[str]]:
    """Return the URLs of the repository's own pages by the part of the navigation that names
    them.
    """
    user_config, curated = data.context.sources.user_config, data.site.curated
    groups: dict[str, list[str]] = {"Pages": []}
    for entry in data.context.staged.nav:
        title, below = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        group = groups.setdefault(title if isinstance(below, list) else "Pages", [])
        paths = (f"{user_config.docs}/{name}" for name in files_in([entry]) if user_config)
        group += [curated[path] for path in paths if path in curated]

    listed = set(chain.from_iterable(groups.values()))
    groups["Pages"] += [url for url in curated.values() if url not in listed]
    return groups
