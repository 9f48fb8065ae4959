"""Records of another repository that `extends` names:
where their copies are, under which ids, what overrides them.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.repository.codec import list_in
from orbit_registry.workspace.workspace import INHERITED

ID_LISTS = ("supersedes", "superseded_by", "distinct_from")


def is_inheritable(kind: Kind) -> bool:
    """Say whether records of a kind are inherited:
    those that another record can take the place of.
    """
    return SUPERSEDED in kind.statuses and not kind.in_file


def source_of(path: str) -> str:
    """Return the name of the source whose copy a path is in; empty for other paths."""
    folder = f"{INHERITED}/"
    if not path.startswith(folder):
        return ""

    return path.removeprefix(folder).partition("/")[0]


def namespaced(data: Mapping[str, object], source: str) -> dict[str, object]:
    """Return the data of a copied record with ids as they are called here.

    A record that its source inherits itself has its name already: `org:ADR-0007`.
    """
    result = {**data, "id": f"{source}:{data['id']}"}
    for name in ID_LISTS:
        if name in data:
            result[name] = [_id_here(source, each) for each in list_in(data, name)]

    if "links" in data:
        links = (link for link in list_in(data, "links") if isinstance(link, Mapping))
        result["links"] = [{**link, "to": _id_here(source, link["to"])} for link in links]

    return result


def _id_here(source: str, record_id: object) -> str:
    if ":" in str(record_id):
        return str(record_id)

    return f"{source}:{record_id}"


def with_overrides(records: Sequence[Record]) -> list[Record]:
    """Return the records; where a live record overrides an inherited one, that is superseded by
    it: by one of this repository, else by those of its sources.
    """
    by_target = overriding(records)
    for target, ids in by_target.items():
        ours = [record_id for record_id in ids if ":" not in record_id]
        by_target[target] = ours or ids

    def overridden(record: Record) -> Record:
        if not record.origin or record.id not in by_target:
            return record

        data = {**record.data, "status": SUPERSEDED, "superseded_by": by_target[record.id]}
        return replace(record, data=data)

    return [*map(overridden, records)]


def overriding(records: Iterable[Record]) -> dict[str, list[str]]:
    """Return the ids of the live records that override each inherited one, by its id."""
    by_target: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.phase == "live":
            for link in record.links:
                if link.rel == OVERRIDES:
                    by_target[link.to].append(record.id)

    return dict(by_target)


def copy_digest(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a copy, from the paths of its files and the SHA-256 of each."""
    lines = "".join(f"{sha256} {path}\n" for path, sha256 in sorted(hashes))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"
