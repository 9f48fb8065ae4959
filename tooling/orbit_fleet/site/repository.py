"""Pages of one repository: its records by the templates of their kinds, and its lists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from orbit_fleet.checkout import DOCUMENTS
from orbit_fleet.engines import query
from orbit_fleet.lake import Lake, Repository
from orbit_fleet.site.places import KINDS, RepositoryMap, forge, repository_map, repository_url
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import Record
from orbit_registry.model.votes import Vote
from orbit_registry.site.groups import Groups
from orbit_registry.site.language import labels_of
from orbit_registry.site.markdown_words import escaped, link
from orbit_registry.site.page import SitePage
from orbit_registry.site.prose import TextOrigin, part_of, render
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.published import cards_html
from orbit_registry.site.record_markdown import record_markdown
from orbit_registry.site.record_page import article, article_data, log_html, record_data
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import linked, relative
from orbit_registry.site.views import card_html, record_view
from orbit_registry.site.words import day_of, items_html, title_of, without_restated

_ROWS = f"""
SELECT record_id AS id, kind, status, sentence, body, path, data, votes FROM lake_records
WHERE kind IN {KINDS} AND json_valid(data)
ORDER BY kind, phase <> 'live', date DESC, record_id
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A repository with what its pages are made from; its URLs begin at its own top."""

    state: Repository
    records: Sequence[Record]
    relations: Relations
    site: RepositoryMap
    title: str
    """Of the whole site."""
    base_url: str | None

    @property
    def url(self) -> str:
        """Where its pages are on the site."""
        return repository_url(self.state.repository)


def member_of(
    lake: Lake, kinds: KindTable, state: Repository, title: str, base_url: str | None
) -> Member:
    """Return a repository as its file in the lake has it."""
    answer = query(lake, _ROWS, state.repository)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    records = [_record(kinds[str(row["kind"])], row) for row in rows]
    sentences = {str(row["path"]): str(row["sentence"] or "") for row in rows}
    site = repository_map(kinds, state, records)
    by_url = {url_of(record): record for record in records}
    site.preview = partial(_card, by_url, sentences)
    return Member(state, records, Relations(records, sentences=sentences), site, title, base_url)


def _record(kind: Kind, row: Mapping[str, Any]) -> Record:
    data = json.loads(row["data"])
    # What other records say of it counts, too.
    data |= {"status": row["status"], kind.prose: row["body"]}
    votes = tuple(
        Vote(row["id"], each["voter_model"], each["voted_at"], each["task_id"])
        for each in row["votes"] or ()
    )
    return Record(kind, data, row["path"], row["body"] or "", votes)


def _card(by_url: Mapping[str, Record], sentences: Mapping[str, str], url: str) -> str:
    record = by_url.get(url)
    if record:
        return card_html(record, url, sentences.get(record.path, ""))

    return ""


def pages_of(member: Member) -> Iterator[SitePage]:
    """Yield the pages of a repository: its first page, a list a kind, its records."""
    yield _home(member)
    for kind in _kinds(member):
        yield _list(member, kind)

    groups = Groups()
    for record in member.records:
        yield _record_page(member, record, groups)


def _kinds(member: Member) -> list[Kind]:
    kinds = {record.kind.name: record.kind for record in member.records}
    return [kinds[name] for name in KINDS if name in kinds]


def _home(member: Member) -> SitePage:
    state = member.state
    address = forge(state).repository
    source = f'<a href="{escape(address)}">{escape(address)}</a>' if address else ""
    facts = [source, f"<code>{escape(state.commit[:7])}</code>", escape(state.committed_at[:10])]
    if state.extends:
        facts.append(f"inherits {escape(state.extends)}")

    html = f"<h1>{escape(state.repository)}</h1><p>{' · '.join(filter(None, facts))}</p>"
    for kind in _kinds(member):
        html += f"<h2>{escape(labels_of(kind))}</h2>{items_html(_items(member, kind), '')}"

    return _page(member, "", state.repository, html, member.records)


def _list(member: Member, kind: Kind) -> SitePage:
    url = f"{kind.plural}/"
    records = [record for record in member.records if record.kind.name == kind.name]
    html = f"{_crumbs(member, url)}<h1>{escape(labels_of(kind))}</h1>"
    html += items_html(_items(member, kind), url)
    return _page(member, url, f"{labels_of(kind)} of {member.state.repository}", html, records)


def _items(member: Member, kind: Kind) -> Iterator[tuple[Record, str]]:
    for record in member.records:
        if record.kind.name == kind.name:
            yield record, f" <small>{escape(day_of(record))}</small>"


def _crumbs(member: Member, url: str) -> str:
    name = escape(member.state.repository)
    return f'<p class="orbit-crumbs"><a href="{escape(relative(url, ""))}">{name}</a></p>'


def _page(member: Member, url: str, title: str, html: str, records: Sequence[Record]) -> SitePage:
    links = TwinLinks(member.url + url, member.base_url)
    lines = []
    for record in records:
        name = link(
            escaped(f"{record.id} {title_of(record)}"), links.address(relative(url, url_of(record)))
        )
        lines.append(f"- {name} ({record.status.word})")

    text = links.page(f"# {escaped(title)}", "\n".join(lines))
    return SitePage(member.url + url, title, html, markdown=text, listed=("repositories/",))


def _record_page(member: Member, record: Record, groups: Groups) -> SitePage:
    url, relations, site = url_of(record), member.relations, member.site
    view = record_view(record, url, relations, site, groups)
    _leave_out_lists(view, member)

    part = part_of(without_restated(record.prose, record))
    path = record.source.path if record.source else record.path
    prose = render(part, TextOrigin(path, 1, url, record.id), site, top=2)
    html = article(record.kind, view, prose.html)
    html += cards_html(site, html, url)

    full = member.url + url
    links = TwinLinks(full, member.base_url)
    own_words = markdown_of(part, prose, links.address)
    title = title_of(record)
    sentence = relations.sentences.get(record.path) or title
    about = {"name": member.title}
    if member.base_url:
        about["url"] = member.base_url

    address = linked(member.base_url, full, full) if member.base_url else None
    structured = article_data(title, sentence, about, address, **record_data(record))
    markdown = record_markdown(record.kind, view, own_words, links.address)
    return SitePage(
        full,
        f"{record.id} {title} ({member.state.repository})",
        html,
        sentence,
        contents=tuple(prose.headings),
        rail=log_html(record.kind, view),
        data=structured,
        markdown=links.page(markdown),
        listed=("repositories/",),
    )


def _leave_out_lists(view: dict[str, Any], member: Member) -> None:
    """Take links out of a record's view that lead to lists which this site has not, and lead to
    files at the commit that was read.
    """
    at_forge = member.site.forge.built
    for glob in view["scope"]["paths"]:
        folder = glob["glob"].partition("*")[0].rpartition("/")[0]
        glob["url"] = at_forge(folder, folder=True) or "../../"

    tasks = [entry for entry in view["evidence"] if entry["kind"] == "task"]
    for entry in (*view["scope"]["tasks"], *view["tasks"], *tasks):
        entry["url"] = None

    document = view["source"] or view["file"]
    for file in (view["file"], document):
        file |= {"url": at_forge(file["path"]), "edit": None}

    view |= {"edit": None, "read": document["url"]}
    view["kind_labels"] = f"{member.state.repository}: {view['kind_labels']}"
    if member.state.reader == DOCUMENTS and document is not view["file"]:
        view["file"]["url"] = None  # the importer made it
