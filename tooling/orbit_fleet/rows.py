"""Rows of a lake: what others may read of a repository's records, one row a record."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set

from orbit_fleet.lake import Repository
from orbit_fleet.names import source_repository
from orbit_registry.errors import RefusedError
from orbit_registry.formats.adr.options import chosen_option
from orbit_registry.formats.adr.sentence import sentence_of
from orbit_registry.formats.hosting import Forge, forge_of
from orbit_registry.formats.wording import SMALL_WORDS
from orbit_registry.judgements.contradicts import A_NUMBER, position_of
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.repository.codec import hides_record
from orbit_registry.repository.reader import Reading
from orbit_registry.search.rejected import names_used, option_names
from orbit_registry.search.text import stem, words
from orbit_registry.snapshot.export import shared_rows
from orbit_registry.snapshot.rows import TEXTS, Rows
from orbit_registry.workspace.workspace import Workspace

Row = dict[str, object]

USES, REJECTS = "uses", "rejects"
"""Axes of names that decisions take and that they rejected."""
CITED, IMPORTED = "cited", "imported"
"""Axes of files that cite a record, and that import what it is about."""
PARTS = ("scopes", "links", "votes", "rejected")
"""The lists in the row of a record."""
_TELLING_TERMS = 12
"""Fewest terms of a text that is compared: shorter ones are equal by chance."""
_BEFORE = " | "
"""Between the topic of a title and its side."""
_DECIDING = (
    "about across adopt all allow always any architecture can choose decide decision do does "
    "enable everywhere how instead introduce keep must only over permit pick prefer record select "
    "shall should start switch use via where will "
    "nutze nutzen utiliser usar usare verwende verwenden wir"
)
_COMMON = frozenset(map(stem, SMALL_WORDS.union(_DECIDING.split())))
"""Stems that say little of what a title is about."""


def refuse_unread(reading: Reading, label: str = "") -> None:
    """Raise where records can't be read: those who take the others would lose them in silence.

    Raises:
        RefusedError: a record can't be read.
    """
    unread = [problem for problem in reading.collection.problems if hides_record(problem)]
    if not unread:
        return

    first = f"{unread[0].location}: {unread[0].message}"
    message = f"{label}records can't be read, the first: {first}"
    raise RefusedError(
        message, hint="correct what `orbit check` reports there, then run this again"
    )


def lake_rows(workspace: Workspace, state: Repository) -> list[Row]:
    """Return a row for each record that others may read, in the order of their ids; what is known
    of the repository gives the address of each document.
    """
    reading = Reading(workspace)
    refuse_unread(reading)
    unfiltered = not workspace.config.publish.is_set
    rows = shared_rows(workspace, reading, unfiltered=unfiltered, only_shown=True, is_export=True)
    records = _records(workspace, rows, state)

    _add_scopes(rows, records)
    _add_code(rows, records)
    _add_names(workspace, rows, records)
    _add_votes(rows, records)
    _add_links(workspace, rows, records)
    _add_terms(rows, records)

    for row in records.values():
        row["digest"] = _digest(row)

    return [records[record_id] for record_id in sorted(records)]


def _read(rows: Rows, table: str) -> Iterator[Row]:
    return map(json.loads, rows.of(table))


def forge_in(state: Repository, folder: str) -> Forge:
    """Return the forge of a repository, whose links lead to the commit that was read; paths begin
    at a folder.
    """
    address = f"https://{state.origin}" if state.origin else None
    return forge_of(address, None, state.commit, state.forge or "auto", folder)


def _records(workspace: Workspace, rows: Rows, state: Repository) -> dict[str, Row]:
    """Return the rows of the records by id, with empty lists."""
    forge = forge_in(state, workspace.git.prefix)

    result: dict[str, Row] = {}
    for row in _read(rows, "records"):
        record_id = str(row.pop("id"))
        if row["origin"]:
            continue  # its own repository pushes it

        kind = workspace.kinds[str(row["kind"])]
        body = str(row["body"])
        data = json.loads(str(row["data"]))
        data.pop(kind.prose, None)  # `body` has it

        if row["author_role"] == "import":
            # Who brought a decision into records is not who made it.
            row["author"] = ", ".join(map(str, data.get("deciders") or ())) or None

        row |= title_fields(str(row["title"]))
        row["record_id"] = record_id
        row["data"] = json.dumps(data, ensure_ascii=False)
        row["text_key"] = _text_key(f"{row['summary'] or ''} {body}")
        row["sentence"] = row["summary"] or (sentence_of(body) if kind.in_document else "")
        row["url"] = forge.built(str(row["source_path"] or row["path"]))
        result[record_id] = row | {part: [] for part in PARTS}

    return result


def _text_key(text: str) -> str | None:
    terms = list(map(stem, words(text)))
    if len(terms) < _TELLING_TERMS:
        return None

    return hashlib.sha256(" ".join(terms).encode()).hexdigest()[:32]


def _put(records: Mapping[str, Row], part: str, row: Row) -> None:
    record = records.get(str(row.pop("record_id")))
    if record is not None:
        entries = record[part]
        assert isinstance(entries, list)
        entries.append(row)


def _add_scopes(rows: Rows, records: Mapping[str, Row]) -> None:
    for row in _read(rows, "scope_globs"):
        row |= {"axis": "path", "value": row.pop("pattern")}
        _put(records, "scopes", row)

    for row in _read(rows, "tags"):
        _put(records, "scopes", {**row, "value": row["tag"]})


def _add_code(rows: Rows, records: Mapping[str, Row]) -> None:
    """Add the files that cite a record, and those that import what it is about."""
    for row in _read(rows, "code_citations"):
        cited = row["cited_id"] or row["record_id"]
        entry = {"record_id": row["record_id"], "axis": CITED, "anchor": row["path"]}
        _put(records, "scopes", {**entry, "value": f"cites {cited}"})

    users: dict[str, list[str]] = {}
    for row in _read(rows, "tags"):
        if row["axis"] == USES:
            users.setdefault(str(row["tag"]), []).append(str(row["record_id"]))

    for row in _read(rows, "imports"):
        for record_id in users.get(str(row["package"]), ()):
            entry = {"record_id": record_id, "axis": IMPORTED, "anchor": row["path"]}
            _put(records, "scopes", {**entry, "value": f"uses {row['package']}"})


def _add_names(workspace: Workspace, rows: Rows, records: Mapping[str, Row]) -> None:
    """Add the names that decisions take, and the options that they rejected with their names."""
    taken: set[str] = set()
    for record_id, record in records.items():
        if record["phase"] != "live" or not workspace.kinds[str(record["kind"])].in_document:
            continue

        names = names_used(str(record["title"]), chosen_option(str(record["body"])))
        taken |= names
        for entry in _names(record_id, USES, names):
            _put(records, "scopes", entry)

    for row in _read(rows, "rejected_options"):
        option = str(row["option"])
        names = option_names(option)
        fields = title_fields(option)
        is_taken = not taken.isdisjoint(names)
        # Who rejects "no X" is not against X.
        row["option_key"] = None if fields["negated"] or is_taken else fields["title_key"]
        for entry in _names(str(row["record_id"]), REJECTS, names - taken):
            _put(records, "scopes", {**entry, "position": row["position"]})

        _put(records, "rejected", row)


def _names(record_id: str, axis: str, names: Set[str]) -> list[Row]:
    return [{"record_id": record_id, "axis": axis, "value": name} for name in sorted(names)]


def _add_votes(rows: Rows, records: Mapping[str, Row]) -> None:
    for row in _read(rows, "votes"):
        _put(records, "votes", row)


def _add_links(workspace: Workspace, rows: Rows, records: Mapping[str, Row]) -> None:
    """Add links; one to an inherited record names its repository, and an override is one link."""
    repositories = {entry.name: source_repository(entry) for entry in workspace.config.extends}
    reasons = _reasons(records)
    links = list(_read(rows, "links"))
    overrides = {(row["record_id"], row["target"]) for row in links if row["rel"] == OVERRIDES}

    for row in links:
        source, _, record_id = str(row["target"]).partition(":")
        pair = row["record_id"], row["target"]
        row["reason"] = reasons.get((row["record_id"], row["rel"], row["target"]))
        if source in repositories:
            if row["derived"] and pair in overrides:
                continue

            row |= {"target": f"{repositories[source]}:{record_id}", "target_id": None}

        _put(records, "links", row)


def _add_terms(rows: Rows, records: Mapping[str, Row]) -> None:
    """Add what words count in all texts of a record, by which a search finds it."""
    counts: dict[str, Counter[str]] = {record_id: Counter() for record_id in records}
    forms: dict[str, dict[str, str]] = {record_id: {} for record_id in records}
    for text in map(json.loads, rows.of(TEXTS)):
        record_id = text["record_id"]
        if record_id in records:
            counts[record_id].update(dict(zip(text["terms"], text["counts"], strict=True)))
            forms[record_id].update(zip(text["words"], text["stems"], strict=True))

    for record_id, record in records.items():
        record |= terms_row(counts[record_id], forms[record_id])


def terms_row(counts: Mapping[str, int], forms: Mapping[str, str]) -> Row:
    """Return the columns of what words count: each pair as ` polici:4 `, with blanks around."""
    packed = "".join(f" {term}:{count} " for term, count in counts.items())
    words_of_terms = "".join(f" {word}:{term} " for word, term in forms.items())
    return {"terms": packed, "forms": words_of_terms, "length": sum(counts.values())}


def _reasons(records: Mapping[str, Row]) -> dict[tuple[object, object, object], object]:
    result: dict[tuple[object, object, object], object] = {}
    for record_id, record in records.items():
        for link in json.loads(str(record["data"])).get("links", ()):
            result[record_id, link["rel"], link["to"]] = link.get("reason")

    return result


def _digest(row: Row) -> str:
    """Return the hash of a record's row, without what each commit changes."""
    stable = {name: value for name, value in row.items() if name != "url"}
    return hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()


def title_fields(title: str) -> Row:
    """Return the key of a title, equal for titles that say the same in other words,
    and whether it denies.

    A title that takes one of several sides has its side behind the key: `mysql postgr | mysql`,
    `# python | 3.12`.
    """
    position = position_of(title)
    topic, side = _stems(position.topic), _stems(position.side)
    if topic <= {A_NUMBER}:  # what has no other topic than a name such as `S3`
        topic, side = side, set()

    key = " ".join(sorted(topic))
    if side:
        key += _BEFORE + " ".join(sorted(side))

    return {"title_key": key or None, "negated": position.denies}


def _stems(title_words: Iterable[str]) -> set[str]:
    return {*map(stem, title_words)} - _COMMON
