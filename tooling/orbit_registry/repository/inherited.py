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
    return (
        path.removeprefix(f"{INHERITED}/").partition("/")[0]
        if path.startswith(f"{INHERITED}/")
        else ""
    )


def namespaced(data: Mapping[str, object], source: str) -> dict[str, object]:
    """Return the data of a copied record with its own id and those that it names as they are called
    here.
    """
    result = {**data, "id": f"{source}:{data['id']}"}
    for name in ID_LISTS:
        if name in data:
            result[name] = [f"{source}:{record_id}" for record_id in list_in(data, name)]

    if "links" in data:
        links = (link for link in list_in(data, "links") if isinstance(link, Mapping))
        result["links"] = [{**link, "to": f"{source}:{link['to']}"} for link in links]

    return result


def with_overrides(records: Sequence[Record]) -> list[Record]:
    """Return the records; an inherited one that a live record here overrides is superseded by that
    one.
    """
    by_target: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        if not record.origin and record.phase == "live":
            for link in record.links:
                if link.rel == OVERRIDES:
                    by_target[link.to].append(record.id)

    def overridden(record: Record) -> Record:
        data = {**record.data, "status": SUPERSEDED, "superseded_by": by_target[record.id]}
        return replace(record, data=data)

    return [
        overridden(record) if record.origin and record.id in by_target else record
        for record in records
    ]


def copy_digest(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a copy, from the paths of its files and the SHA-256 of each."""
    lines = "".join(f"{sha256} {path}\n" for path, sha256 in sorted(hashes))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"
