"""Path explorer: data and page by which a browser finds the records that apply to a path.

Globs are parsed here, so that `explorer.js` only compares segments.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote

from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.sources import is_source
from orbit_registry.hook.matcher import program
from orbit_registry.matching.visibility import Visibility, overlooked
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.rank import rank_order
from orbit_registry.model.record import Record
from orbit_registry.model.scope import named_globs
from orbit_registry.model.votes import format_time
from orbit_registry.site.filling import macros
from orbit_registry.site.language import (
    counted,
    digits,
    status_word,
    thing_of,
    things_of,
    word,
)
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import is_made, status_css, title_of
from orbit_registry.snapshot.rows import RouteRows

PAGE, DATA = "paths/", "paths.json"
HEALTH = "health/"
"""The page that lists the records which no edit shows."""
SCRIPT = "assets/orbit/explorer.js"
MUST, CONSIDER, UNKNOWN, WAITING, HISTORY = "must", "consider", "unknown", "waiting", "history"
MOST_FOLDERS, DEEPEST = (
    150,
    3,
)  # the tree of folders is a way in, not a listing: so many folders, so deep
MOST_EXAMPLES = 3
_WILD = re.compile(r"[*?\[{!]")


def group_of(record: Record) -> str:
    """Return under which heading the explorer lists a record."""
    if record.phase == "pending":
        if record.status.waits:
            return WAITING

        return UNKNOWN
    if record.phase == "closed":
        return HISTORY
    if record.kind.in_document or record.kind.gate == "relevant_and_linked":
        return MUST

    return CONSIDER


def data(records: Iterable[Record], half_life_days: float, routes: RouteRows) -> str:
    """Return what the browser needs as JSON: the records that a file can lead to, in push rank,
    each glob's form once, and what files import and cite, as `routes` say.
    """
    imports: dict[str, list[object]] = defaultdict(list)
    for row in routes["imports"]:
        imports[str(row["path"])].append(row["package"])

    cites: dict[str, list[object]] = defaultdict(list)
    for row in routes["code_citations"]:
        cites[str(row["path"])].append([row["record_id"], row["cited_id"] or row["record_id"]])

    cited = {row["record_id"] for row in routes["code_citations"]}
    forms: dict[str, list[Any]] = {}
    lines = []
    for record in sorted(records, key=lambda candidate: rank_order(candidate, half_life_days)):
        own_forms = _forms(record)
        forms |= own_forms
        if own_forms or record.uses or record.id in cited:
            lines.append(_json(_row(record, list(own_forms))))

    rows = ",\n".join(lines)
    others = f'"globs": {_json(forms)},\n"imports": {_json(imports)},\n"cites": {_json(cites)}'
    return f'{{{others},\n"records": [\n{rows}\n]}}\n'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _forms(record: Record) -> dict[str, list[Any]]:
    """Return the forms of the globs of a record's scope and of the files of its symbols, by what
    the scope names.
    """
    globs = named_globs(record.globs, record.symbols)
    parsed = {text: parse_glob(glob) for text, glob in globs.items()}
    return {text: form_of(glob) for text, glob in parsed.items() if isinstance(glob, Glob)}


def _row(record: Record, globs: Sequence[str]) -> dict[str, object]:
    expires = expires_at(record)
    row = {
        "id": record.id,
        "title": title_of(record),
        "url": url_of(record),
        "word": status_word(record.status),
        "css": status_css(record.status),
        "group": group_of(record),
        "votes": len(record.votes),
        "priority": record.data.get("priority", 0),
    }
    row["updated"] = (record.text("updated_at") or "")[:10]
    row["expires"] = format_time(expires) if expires else None
    row["globs"] = globs
    row["uses"] = record.uses
    return row


def form_of(glob: Glob) -> list[Any]:
    """Return a glob as nested arrays: whether it excludes, then each alternative as groups of
    segments.

    Between two groups lie any number of segments. A segment is a list of chunks with any characters
    between two of them; a chunk is a string, or a list of single characters, 0 for any, and
    [negated, low, high, …] for a class.
    """
    programs = (program(alternative.text) for alternative in glob.alternatives)
    return [int(glob.exclude), *map(_groups, programs)]


def _groups(groups: Iterable[Iterable[Iterable[str | tuple[Any, ...]]]]) -> list[Any]:
    return [list(map(_segment, group)) for group in groups]


def _segment(segment: Iterable[str | tuple[Any, ...]]) -> list[Any]:
    return list(map(_chunk, segment))


def _chunk(chunk: str | tuple[Any, ...]) -> Any:
    if isinstance(chunk, str):
        return chunk

    return [_character(unit) for unit in chunk]


def _character(unit: object) -> Any:
    if isinstance(unit, tuple):
        negated, ranges = unit
        return [int(negated), *chain.from_iterable(ranges)]
    if isinstance(unit, str):
        return unit

    return 0


def unscoped(records: Iterable[Record]) -> str:
    """Return how many decisions name no files, in a sentence; "" where each names some.

    No path leads to such a decision, so the answer for a path has to say it.
    """
    made = [record for record in records if record.kind.in_document and is_made(record)]
    bare = [record for record in made if not (record.globs or record.uses or record.symbols)]
    if not bare:
        return ""

    if len(made) == 1:
        return word("path.unscoped.only")

    total = digits(len(made))
    if len(bare) == len(made):
        return word("path.unscoped.all", n=total)

    return counted("path.unscoped", len(bare), total=total)


def unshown(records: Sequence[Record], judged: Mapping[str, Visibility]) -> list[str]:
    """Return for each kind how many live records no edit shows, where there are any."""
    by_kind: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.phase == "live":
            by_kind[record.kind.name].append(record)

    missing = {name: len(overlooked(live, judged)) for name, live in by_kind.items()}
    return [_unshown(live, missing[name]) for name, live in by_kind.items() if missing[name]]


def _unshown(live: Sequence[Record], missing: int) -> str:
    kind = live[0].kind
    is_one = len(live) == 1
    things = thing_of(kind) if is_one else things_of(kind)
    if kind.in_document:
        things = word("path.accepted", things=things)

    if is_one:
        return word("path.unshown.only", thing=things)

    return counted("path.unshown", missing, total=digits(len(live)), things=things)


def example_of(files: Iterable[str]) -> str:
    """Return a file of a project that could be asked for: the first one of code in a folder."""
    in_folders = (name for name in files if "/" in name and not name.startswith("."))
    return next((name for name in in_folders if is_source(name)), "src/app.py")


def box(
    page: str,
    records: Sequence[Record],
    overlooked: str = "",
    most: int | None = None,
    files: Iterable[str] = (),
) -> str:
    """Return the form that asks for a path, an id or words.

    `most` limits the records in its answer; without it only paths are asked for. `overlooked` says
    how many records no edit shows. Where no scope gives an example of a path, one of `files` is it.
    """
    if not records:
        return ""

    names = _examples(records)
    example = names[0] if names else example_of(files)
    if most:
        example = f"{example}, {records[0].id}, {word('path.words')}"

    data = {
        "paths": relative(page, DATA),
        "records": relative(page, "records.json"),
        "words": relative(page, "search/"),
        "root": relative(page, ""),
        "explorer": relative(page, PAGE),
        "most": str(most or ""),
        "overlooked": overlooked,
        "unscoped": unscoped(records),
    }
    question = word("path.question.any" if most else "path.question")
    script = relative(page, SCRIPT)
    return str(
        macros("explorer.html").box(question, data["explorer"], data, example, names, script)
    )


def _examples(records: Iterable[Record]) -> list[str]:
    """Return a few paths that scopes begin with."""
    names: dict[str, None] = {}
    for record in records:
        for glob in record.globs:
            name = _WILD.split(glob, maxsplit=1)[0]
            if name and len(names) < MOST_EXAMPLES:
                names[name] = None

    return list(names)


def page_html(records: Sequence[Record], overlooked: str = "", files: Iterable[str] = ()) -> str:
    """Return the explorer's page: the form, how many decisions name no files or are shown at no
    edit, and the folders that records name as a second way in.
    """
    health = f"{relative(PAGE, HEALTH)}#unscoped"
    names_paths = any(record.globs for record in records)
    note = macros("explorer.html").notes(unscoped(records), overlooked, health, names_paths)
    return f"{box(PAGE, records, overlooked, files=files)}{note}{_tree(records)}"


def _tree(records: Sequence[Record]) -> str:
    by_folder: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if record.phase != "live":
            continue

        for text in record.globs:
            glob = parse_glob(text)
            if isinstance(glob, Glob) and not glob.exclude:
                names = glob.literal_prefix.split("/") if glob.literal_prefix else []
                for depth in range(min(len(names), DEEPEST) + 1):
                    by_folder["/".join(names[:depth])].add(record.id)

    if not by_folder:
        return ""

    largest = sorted(by_folder, key=lambda name: (name.count("/"), -len(by_folder[name]), name))[
        :MOST_FOLDERS
    ]
    folders = sorted(largest, key=lambda name: name.split("/"))  # subfolders follow their folder
    counts = [(name, len(by_folder[name])) for name in folders]
    return str(macros("explorer.html").tree(counts, len(by_folder) - len(folders)))


def glob_link(page: str, glob: str) -> str:
    """Return where a scope's glob leads: to the explorer, asked for the records that name it."""
    return f"{relative(page, PAGE)}?glob={quote(glob)}"
