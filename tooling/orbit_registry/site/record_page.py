"""HTML of a record's page, sanitised: the template of its kind, its prose, its votes as a drawing;
and its JSON-LD.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.arcs import sketch
from orbit_registry.site.filling import FOLDER, filled, macros, prepare_html
from orbit_registry.site.language import things_of, word
from orbit_registry.site.prose import Heading
from orbit_registry.site.sanitize import clean, headline
from orbit_registry.site.words import date_of, tags_of

TEMPLATE = "page.html"
LOG_FILE = "log.json"
"""All decisions of a kind, which a page reads when its log is scrolled."""
BAR, BAR_GAP, TALL = (
    3,
    1,
    16,
)  # of a sparkline, in CSS pixels; a baseline of one more is drawn below the bars
_SECTION = 2  # level of the headings that contents begin with
_SPARKLINE = '<span class="orbit-sparkline"></span>'  # marker for the drawing of votes
_SKETCH = '<span class="orbit-sketch"></span>'  # marker for the drawing of relations

_INERT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end the element, or a line of a script, as JSON writes them."""


def templates_digest(kinds: Sequence[Kind]) -> str:
    """Return a digest of every template that makes a record's page,
    and of the words that its kind puts there.
    """
    digest = hashlib.blake2b(digest_size=12)
    files = sorted(FOLDER.iterdir())
    for kind in kinds:
        files += [kind.folder / name for name in (TEMPLATE, "page.md", "kind.yaml")]

    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"-")

    return digest.hexdigest()


def article(kind: Kind, view: Mapping[str, Any], prose_html: str) -> str:
    """Return a record's article as safe HTML: every text is escaped by the template,
    all of it sanitised after.
    """
    heading = Markup(headline(str(view["title"])))
    html = filled(
        kind, TEMPLATE, prepare_html, record=view, body=Markup(prose_html), heading=heading
    )
    html = clean(html)
    # The sanitiser lets no drawing through. Ours are made of numbers; prose, which is above, may
    # have a marker too.
    for marker, drawing in (
        (_SPARKLINE, _votes_drawn(view)),
        (_SKETCH, sketch(view.get("related", ()))),
    ):
        before, present, after = html.rpartition(marker)
        if present:
            html = f"{before}{drawing}{after}"

    return html


def about(
    cited: Mapping[str, Any],
    neighbours: Sequence[Mapping[str, Any] | None],
    applying: Sequence[Any],
) -> str:
    """Return the part below a document as safe HTML:
    records that apply, citations, previous and next page.
    """
    return clean(str(macros("parts.html").about(cited, neighbours, applying)))


def log_html(kind: Kind, view: Mapping[str, Any]) -> str:
    """Return the log around a decision, for the column of the navigation; "" for other records."""
    if not view["log"]:
        return ""

    index, things = view["index_url"], things_of(kind)
    return str(macros("around.html").log(view["log"], things, index, LOG_FILE))


def _votes_drawn(view: Mapping[str, Any]) -> str:
    if not (votes := view["votes"]):
        return ""

    months: list[int] = votes["months"]
    year, month = (int(part) for part in votes["until"].split("-"))
    numbered = enumerate(months, year * 12 + month - len(months))
    counts = [
        word("votes.month", n=count, month=f"{month // 12}-{month % 12 + 1:02d}")
        for month, count in numbered
        if count
    ]
    words = ", ".join(counts) or word("votes.none")
    return sparkline(months, word("votes.drawn", n=len(months), words=words))


def contents_html(headings: Iterable[Heading]) -> str:
    """Return a page's contents as the theme marks them up;
    nothing where there are fewer than two headings.
    """
    sections: list[list[Heading]] = []
    for heading in headings:
        if heading.level == _SECTION or (heading.level == _SECTION + 1 and not sections):
            sections.append([heading])
        elif heading.level == _SECTION + 1:
            sections[-1].append(heading)

    if len(sections) < 2:
        return ""

    return str(macros("around.html").contents(sections))


def sparkline(numbers: Sequence[int], label: str) -> str:
    """Return numbers from 0 up as bars over a faint baseline, the highest one as high as the line;
    `label` says it.

    Nothing in it is a script, a style or an address, and every colour is the text's own.
    """
    most = max((*numbers, 1))
    width = len(numbers) * (BAR + BAR_GAP)
    bars = "".join(
        f"M{index * (BAR + BAR_GAP)} {TALL}v-{max(1, round(number / most * TALL))}h{BAR}V{TALL}z"
        for index, number in enumerate(numbers)
        if number > 0
    )

    return (
        f'<svg class="orbit-sparkline" role="img" aria-label="{escape(label)}" width="{width}" '
        f'height="{TALL + 1}" '
        f'viewBox="0 0 {width} {TALL + 1}"><path fill="currentColor" d="{bars}"/>'
        f'<path fill="currentColor" fill-opacity=".35" d="M0 {TALL}h{width}v1H0z"/></svg>'
    )


def article_data(
    headline: str, description: str, site: Mapping[str, str], address: str | None, **more: object
) -> str:
    """Return the element that describes a page as a `TechArticle`;
    `site` and `address` say where it is.
    """
    data = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": headline,
        "description": description,
        "url": address,
        "isPartOf": {"@type": "WebSite", **site},
        **more,
    }
    text = json.dumps({name: value for name, value in data.items() if value}, ensure_ascii=False)
    return f'<script type="application/ld+json">{text.translate(_INERT)}</script>'


def record_data(record: Record) -> dict[str, object]:
    """Return what JSON-LD says of a record: its id, days, status and subjects."""
    return {
        "identifier": record.id,
        "dateCreated": date_of(record),
        "dateModified": record.text("updated_at"),
        "creativeWorkStatus": record.status.word,
        "about": [*_things(tags_of(record))],
    }


def _things(names: Iterable[str]) -> Iterable[dict[str, str]]:
    return ({"@type": "Thing", "name": name} for name in names)
