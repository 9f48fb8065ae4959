"""Style of new decisions: file names and templates like those of the neighbours."""

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.formats.adr import writer
from orbit_registry.formats.adr.file_names import (
    FileName,
    is_decision_name,
    read_name,
    read_series_name,
)
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.templates import new_document, template_from
from orbit_registry.formats.adr.vocabulary import COST_PROMPT, language_of_status
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.wording import MARKS
from orbit_registry.model.kind import Kind
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.workspace import Workspace

_TEMPLATES_TRIED = 12
"""Neighbours that are tried as a template, newest first:
one of them may state its status as none other does.
"""
_FEW = 4  # a form that not even one neighbour in four has is no model
_README_NAMES = (
    "README.md",
    "readme.md",
    "index.md",
)  # name of a decision's file in the decision's own folder
_LONGEST = 60
_PLAIN_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"}
)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_OF_THE_DAY = re.compile(r"(?P<number>\d{1,3})(?P<dash>[-_])")
# Placeholder of the title until the heading is known: no name of a section or of a form.
ANY_TITLE = "Placeholder of a title"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The decision files of a folder (or its folders with a README), the newest first,
    as (path, text).
    """

    folder: str
    names: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]


def neighbours_in(workspace: Workspace, folder: str) -> Neighbours:
    """Return the decision files directly in a folder:
    by number, or by date where names begin with one.
    """
    try:
        entries = [
            name for entry in (workspace.root / folder).iterdir() if (name := _decision_in(entry))
        ]
    except OSError:
        entries = []

    names = _newest_first([name for name in entries if is_markdown(name)])
    paths = [posixpath.normpath(f"{folder}/{name}") for name in names[:_TEMPLATES_TRIED]]
    texts = [
        (path, text) for path in paths if (text := document_text(workspace.root, path)) is not None
    ]
    return Neighbours(folder, tuple(names), tuple(texts))


def _decision_in(entry: Path) -> str | None:
    if entry.is_dir():
        return next(
            (f"{entry.name}/{name}" for name in _README_NAMES if (entry / name).is_file()), None
        )
    if entry.is_file():
        return entry.name

    return None


def _newest_first(names: Sequence[str]) -> list[str]:
    """A style that only one file has comes after styles that several share, however new it is."""
    numbered = [
        name
        for name in names
        if (read := read_name(_stem(name))) is not None and _is_numbered(read)
    ]
    sure = [
        name for name in numbered if is_decision_name(_stem(name))
    ]  # `01-use-x` where all are named so
    series = Counter(_naming(name) for name in names if read_series_name(_stem(name)) is not None)
    decisions = [*(sure or numbered), *(name for name in names if series[_naming(name)] > 1)]
    shared = Counter(map(_naming, decisions))
    ordered = sorted(
        decisions, key=lambda name: (shared[_naming(name)] > 1, _order(name), name), reverse=True
    )
    first = _naming(ordered[0]) if ordered else ""

    return sorted(ordered, key=lambda name: _naming(name) != first)


def _stem(name: str) -> str:
    first = name.partition("/")[0]
    if "/" in name:
        return first

    return posixpath.splitext(first)[0]


def _file_name(name: str) -> FileName | None:
    return read_name(_stem(name)) or read_series_name(_stem(name))


def _is_numbered(read: FileName) -> bool:
    return read.dash in ("-", "_", " ") or read.title[:1] in (
        "",
        " ",
    )  # `1.2-release` is not a decision


def _naming(name: str) -> str:
    read = _file_name(name)
    if read is None:
        return ""

    if read.dated:
        return "date"

    return f"number {read.lead.casefold()}"


def _order(name: str) -> int:
    read = _file_name(name)
    if read is None:
        return 0

    return int(read.number or re.sub(r"\D", "", read.dated).ljust(8, "0"))


def new_path(neighbours: Neighbours, record_id: str, title: str, date: str) -> str:
    """Return where a new decision file goes: in the form of the newest name, or its dates."""
    newest = neighbours.names[0] if neighbours.names else ""
    name = _file_name(newest) if newest else None
    ending = newest[len(_stem(newest)) :] or ".md"
    if name is not None and name.dated:
        day = f"{date}-01"[: 10 if name.date else 7]
        mark = re.sub(r"\d", "", name.dated)[:1]
        prefix = day.replace("-", mark) + name.dash
        counter = _OF_THE_DAY.match(name.title)

        if counter is not None:  # `20260401-02-title.md`: the second one of its day
            same_day = (
                other[len(prefix) :] for other in neighbours.names if other.startswith(prefix)
            )
            number = (
                max(
                    (int(match["number"]) for match in map(_OF_THE_DAY.match, same_day) if match),
                    default=0,
                )
                + 1
            )
            prefix += f"{number:0{len(counter['number'])}d}{counter['dash']}"

        return posixpath.normpath(
            f"{neighbours.folder}/{prefix}{_title_like(title, name.title, name.dash)}{ending}"
        )

    lead, dash, width = (
        (name.lead, name.dash, len(name.number or "")) if name is not None else ("", "-", 4)
    )
    number = int(record_id.rpartition("-")[2])
    alike = [other for other in neighbours.names if _naming(other) == _naming(newest)]
    if name is not None and read_name(_stem(newest)) is None:
        # The numbers of a series may be no ids: none is given twice.
        number = max(number, *(_order(other) + 1 for other in alike))

    titles = [read.title for other in alike if (read := _file_name(other))]
    styles = [(_separator(title), _capitals(title)) for title in titles]
    often = Counter(styles).most_common(1)
    like = titles[styles.index(often[0][0])] if often else ""
    gap = dash + like[: len(like) - len(like.lstrip("-_. "))]
    words = (
        f"{gap}{_title_like(title, like, dash)}" if dash else ""
    )  # `adr-42.md` says only its number

    return posixpath.normpath(f"{neighbours.folder}/{lead}{number:0{width}d}{words}{ending}")


def _separator(title: str) -> str | None:
    between = re.search(r"(?<=[^\W_])[-_ ]", title)
    if between:
        return between.group()

    return None


def _capitals(title: str) -> str:
    words = [word for word in re.findall(r"[^\W\d_]+", title) if word.lower() != word.upper()]
    if len(words) < 2 or not all(word[0].isupper() for word in words):
        return ""
    if all(word.isupper() for word in words):
        return "all"

    return "each"


def _title_like(title: str, like: str, dash: str) -> str:
    """Return a title as part of a file name with the separator and the capitals of another's:
    `Use-X`, `use_x`.
    """
    words, capitals = slug(title, _separator(like) or dash), _capitals(like)
    if capitals == "all":
        return words.upper()

    if capitals:
        return re.sub(r"[^\W_]+", lambda word: word[0][:1].upper() + word[0][1:], words)

    return words


def new_text(
    kind: Kind, neighbours: Neighbours, path: str, fields: Mapping[str, str], status: str
) -> str:
    """Return the text of a new decision file, in the dress of the newest neighbour that can state
    its facts.
    """
    texts = _fullest_first(neighbours.texts)
    for like, text in texts:
        text_like = _from_neighbour(text, like, path, fields, status, add_status=False)
        if text_like is not None:
            return text_like

    for like, text in texts[:1]:
        text_like = _from_neighbour(text, like, path, fields, status, add_status=True)
        if text_like is not None:
            return text_like

    return new_document(kind.template(), fields)


def _fullest_first(texts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the neighbours; in a folder of mixed forms, the form that has a context and a date
    comes first, unless hardly any has it.
    """
    parts = {path: _parts_of(path, text) for path, text in texts}
    often = Counter(parts.values())
    shared = [form for form, count in often.items() if count * _FEW >= len(texts)]
    fullest = max(shared, key=len, default=frozenset())
    return sorted(texts, key=lambda each: not parts[each[0]] >= fullest)


def _parts_of(path: str, text: str) -> frozenset[str]:
    entry = only_entry(text, path)
    if entry is None:
        return frozenset()

    keys = {section.key for section in entry.sections} & {"context"}
    if entry.date_span is not None:
        keys.add("date")

    return frozenset(keys)


def _from_neighbour(
    text: str, like: str, path: str, fields: Mapping[str, str], status: str, *, add_status: bool
) -> str | None:
    template = template_from(text, like)
    entries = read_document(text, like).entries
    if template is None or not entries:
        return None

    raw = entries[-1].status_raw.strip("*_` ")
    language = language_of_status(raw, "", [section.heading for section in entries[-1].sections])
    status_text = language.status(status, raw) if language is not None and raw else status
    status_text = status_text if raw[:1].islower() else status_text[:1].upper() + status_text[1:]
    width = len(entries[-1].number or "") if (entries[-1].number or "").isdigit() else 4
    number = f"{int(fields['number']):0{width}d}"
    result = new_document(
        template, {**fields, "number": number, "status": status_text, "title": ANY_TITLE}
    )
    entry = only_entry(result, path)

    if (
        entry is not None
    ):  # now that it is known which number the heading states, none is read out of the title
        result = writer.set_title(result, entry, fields["title"])
        entry = only_entry(result, path)

    if entry is not None and add_status and entry.status == "unknown":
        result = writer.set_status(result, entry, status_text)
        entry = only_entry(result, path)

    if (
        entry is None
        or entry.status != status
        or entry.title != fields["title"]
        or not entry.sections
    ):
        return None

    if entry.has_cost:
        return result

    newline = "\r\n" if "\r\n" in result else "\n"
    return newline.join((result.rstrip(), "", "## Consequences", "", f"- {COST_PROMPT}", ""))


def only_entry(text: str, path: str) -> AdrDocument | None:
    """Return the decision of a document that has exactly one."""
    entries = read_document(text, path).entries
    if len(entries) == 1:
        return entries[0]

    return None


def slug(title: str, dash: str = "-") -> str:
    """Return a title as part of a file name: lower case, letters and digits of any script, those of
    Latin without accents, at most 60 characters.
    """
    lower = title.lower().translate(_PLAIN_LETTERS)
    parted = _ACCENTS.sub("", unicodedata.normalize("NFKD", lower))
    words = _WORD.findall(unicodedata.normalize("NFC", parted))
    return dash.join(words)[:_LONGEST].strip(dash) or "decision"
