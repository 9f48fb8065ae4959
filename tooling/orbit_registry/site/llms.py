"""Lists of the pages for agents: `llms.txt` (llmstxt.org), and the whole text in one file."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from orbit_registry.errors import plural
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.config import files_in
from orbit_registry.site.output import Output
from orbit_registry.site.published import Published
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.twins import INDEX, Twin
from orbit_registry.site.urls import linked, safe_segment
from orbit_registry.site.words import date_of, day_of, tags_of, title_of

FULL, FOLDER = "llms-full.txt", "llms/"
OPTIONAL = "Optional"  # the section that llmstxt.org lets readers skip: pages that list other pages
# bytes of a list at most: tools that fetch pages for agents cut what is longer
LARGEST = 48_000
_HEADINGS = 3000  # bytes of these that the headings of a list may have
_LONGEST_LINE, _LONGEST_ABOUT = 200, 1200
_MOST_NAMES = 6  # tags that a list is named after


@dataclass(frozen=True, slots=True)
class Section:
    """A part of `llms.txt`, and the folder of its lists on a site with many pages."""

    title: str
    folder: str
    twins: Sequence[Twin]


def sections_of(
    groups: Mapping[str, Sequence[str]],
    kinds: Iterable[Kind],
    records: Sequence[Record],
    documents: Sequence[str],
    twins: Mapping[str, Twin],
) -> list[Section]:
    """Return the parts of `llms.txt`: the repository's own pages in `groups`, records by kind,
    documents, other pages.

    Pages are named by their URLs.
    """
    remaining = dict(twins)
    sections = []

    def take(title: str, folder: str, urls: Iterable[str]) -> None:
        sections.append(
            Section(title, folder, [remaining.pop(url) for url in urls if url in remaining])
        )

    for title, urls in groups.items():
        take(title, f"{FOLDER}{safe_segment(title.lower())}/", urls)

    for kind in kinds:
        same = [record for record in records if record.kind.name == kind.name]
        same.sort(key=lambda record: record.phase != "live")
        groups_by_path = _groups(same)
        for record in same:
            url = url_of(record)
            if url in remaining:
                entry = record_entry(record, remaining[url])
                remaining[url] = replace(entry, group=groups_by_path[record.path])

        take(kind.labels, f"{kind.plural}/", map(url_of, same))

    take("Design documents", "documents/", documents)
    take(OPTIONAL, f"{FOLDER}optional/", list(remaining))
    return sections


def lists(
    title: str, summary: str, sections: Iterable[Section], base_url: str | None
) -> Iterator[tuple[str, str]]:
    """Yield `llms.txt` and its parts by their path:
    if it is too long, the longest sections have their own lists.
    """
    sections = [section for section in sections if section.twins]
    lines = [_lines(INDEX, section.twins, base_url) for section in sections]
    for number in sorted(range(len(sections)), key=lambda number: -len("".join(lines[number]))):
        size = sum(len(line.encode()) + 1 for line in chain.from_iterable(lines))
        if size + _HEADINGS < LARGEST:
            break

        section, lines[number] = sections[number], []
        for path, name, twins in _parts(section, base_url):
            yield (
                path,
                _list(
                    f"{title}: {section.title}",
                    summary,
                    [(section.title, _lines(path, twins, base_url))],
                ),
            )

            part = Twin(path, f"{section.title}: {name}", _about(twins))
            lines[number] += _lines(INDEX, [part], base_url, _LONGEST_ABOUT)

    yield (
        INDEX,
        _list(
            title,
            summary,
            [(section.title, part) for section, part in zip(sections, lines, strict=True)],
        ),
    )


def _list(title: str, summary: str, parts: Iterable[tuple[str, Sequence[str]]]) -> str:
    texts = ["\n".join([f"## {_plain(name)}", "", *lines]) for name, lines in parts]
    return "\n\n".join([f"# {_plain(title)}", f"> {_plain(summary)}", *texts]) + "\n"


def _lines(
    origin: str, twins: Iterable[Twin], base_url: str | None, longest: int = _LONGEST_LINE
) -> list[str]:
    lines = []
    for twin in twins:
        description = "" if twin.description == twin.title else twin.description
        if len(description) > longest:
            description = description[:longest].rpartition(" ")[0] + " …"
        after = f": {_plain(description)}" if description else ""
        lines.append(f"- [{_plain(twin.title)}]({linked(base_url, origin, twin.path)}){after}")
    return lines


def _plain(text: str) -> str:
    """Return a text that no reader of Markdown takes for a link or a tag."""
    return " ".join(text.split()).translate({ord("["): "\\[", ord("]"): "\\]", ord("<"): "\\<"})


def _about(twins: Sequence[Twin]) -> str:
    """Return what is in a part: how many pages, and what some of them decide."""
    sentences = [twin.sentence for twin in twins if twin.sentence]
    count = plural(len(twins), "page")
    if sentences:
        return f"{count}. {' '.join(sentences)}"

    return count


def _groups(records: Sequence[Record]) -> dict[str, str]:
    """Return the year of each record, by its path; its first tag, where all are of one year."""
    years = {record.path: date_of(record)[:4] for record in records}
    if len(set(years.values())) > 1:
        return years

    return {record.path: next(iter(tags_of(record)), "") for record in records}


def _parts(section: Section, base_url: str | None) -> Iterator[tuple[str, str, list[Twin]]]:
    """Yield the lists that a section is divided into, each small enough: its file, its name, and
    its pages.
    """
    by_group: dict[str, list[Twin]] = defaultdict(list)
    for twin in section.twins:
        by_group[twin.group].append(twin)

    previous = ""
    for number, (names, twins) in enumerate(_chunks(section.folder, by_group, base_url), 1):
        file = INDEX if number == 1 else f"llms-{number}.txt"
        name = _name(names, twins)
        yield f"{section.folder}{file}", name + ", continued" * (name == previous), twins
        previous = name


def _chunks(
    folder: str, by_group: Mapping[str, Sequence[Twin]], base_url: str | None
) -> Sequence[tuple[list[str], list[Twin]]]:
    """Return the groups in parts that are small enough; only a large group is divided."""
    chunks: list[tuple[list[str], list[Twin]]] = []
    room, whole = 0, LARGEST - _HEADINGS
    for group in sorted(by_group, reverse=True):
        lines = _lines(f"{folder}{INDEX}", by_group[group], base_url)
        sizes = [len(line.encode()) + 1 for line in lines]
        if room < sum(sizes) <= whole:
            room = 0

        for twin, size in zip(by_group[group], sizes, strict=True):
            if size > room:
                chunks.append(([], []))
                room = whole

            names, twins = chunks[-1]
            names += [] if group in names else [group]
            twins.append(twin)
            room -= size

    return chunks


def _name(groups: Sequence[str], twins: Sequence[Twin]) -> str:
    """Return what a part is called: by its years or tags, else by its first and last page."""
    names = [group for group in groups if group]
    if not names:
        return f"{twins[0].title} to {twins[-1].title}"
    if all(name.isdecimal() for name in names):
        if len(names) == 1:
            return names[0]

        return f"{names[-1]} to {names[0]}"

    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def record_entry(record: Record, twin: Twin) -> Twin:
    """Return a record's page as a list names it:
    its id, title, status and day before the description.
    """
    status = ", ".join(filter(None, [record.status.word, day_of(record)]))
    text = "" if twin.description == title_of(record) else f". {twin.description}"
    sentence = twin.description if text and record.kind.in_document else ""
    return Twin(twin.path, f"{record.id} {record.title}", f"{status}{text}", sentence=sentence)


def full_text(
    title: str, summary: str, sections: Iterable[Section], out: Path, base_url: str | None
) -> str:
    """Return the text of every page but those that list others."""
    links = "" if base_url else " Links lead from the page that each part names."
    head = f"# {_plain(title)}\n\n> {_plain(summary)}{links}\n"
    texts = (section.twins for section in sections if section.title != OPTIONAL)
    files = [out / twin.path for twin in chain.from_iterable(texts)]
    pages = [file.read_text("utf-8", "surrogatepass") for file in files]
    return "\n---\n\n".join([head, *pages])


def write_for_agents(data: Published, out: Output, twins: Mapping[str, Twin]) -> None:
    """Write these files of pages, whose Markdown is written: `twins` by the page's URL."""
    sources, base_url = data.context.sources, data.context.base_url
    documents = [document.url for document in sources.documents]
    groups = _page_groups(data)
    sections = sections_of(groups, sources.kinds, data.records, documents, twins)

    summary = twins[""].description if "" in twins else sources.title
    out.write(FULL, full_text(sources.title, summary, sections, out.folder, base_url))
    for path, text in lists(sources.title, summary, sections, base_url):
        if path not in out.after:  # the repository's own is kept
            out.write(path, text)


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
