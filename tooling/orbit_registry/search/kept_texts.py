"""Keeps the index of all records' texts from run to run, made anew only where they changed; it ranks nothing.

Two files hold it in the workspace's cache: the base, which is mapped, and beside it what came since and the digest of
each record's text. A secret reaches neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from orbit_registry.kinds.schema import shared_fields
from orbit_registry.records.record import Record
from orbit_registry.search.text_index import Fields, TextIndex, Weights, base_of, pack, unpack, weigh
from orbit_registry.store.kept import KeptBytes, KeptValue
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.secrets import without_secrets

if TYPE_CHECKING:
    from orbit_registry.resources.chunk import Chunk

_STATE = "source date tasks feature status_raw confidence basis versions path file source_ref content_hash chunking"
NO_TEXT = shared_fields() | frozenset(_STATE.split()) | {"type"}
"""Fields that are not read as text: identity, state and what has a weight of its own."""
_PART = "\t"
"""Between a record's path and the number of its chunk; no path has one."""
Parts = Callable[[Record], Sequence[Fields]]


def kept_index(workspace: Workspace, records: Mapping[str, Record], parts: Parts) -> TextIndex:
    """Return the index of the records, made from the one that was kept where that saves work.

    `parts` returns the texts of one record: its own, then those of its chunks.
    """
    kept = KeptValue(workspace, "search", code_version())
    blob = KeptBytes(workspace, "search.index")
    base = unpack(content) if (content := blob.content(kept.value.get("base"))) is not None else None
    index = TextIndex() if base is None else TextIndex(base)
    seen = kept.value.get("texts")
    digests = {path: _digest(record) for path, record in records.items()}
    if base is None or not isinstance(seen, dict):
        seen = {}
    else:
        for key, weights in _mapping(kept.value.get("beside")).items():
            index.put(key, _mapping(weights))
    if seen == digests:
        return index
    for path in seen.keys() - digests.keys():
        _remove(index, path)
    changed = [path for path, digest in digests.items() if seen.get(path) != digest]
    for path in changed:
        _remove(index, path)
        for number, fields in enumerate(parts(records[path])):
            index.put(key_of(path, number), weights_of(fields))
    stamp = kept.value.get("base")
    if base is None or index.is_worn:
        fresh = base_of({key: index.weights_of(key) for key in sorted(filter(None, index.keys))})
        stamp, index = blob.keep(pack(fresh)), TextIndex(fresh)
    kept.keep({"base": stamp, "texts": digests, "beside": index.beside()})
    return index


def key_of(path: str, number: int) -> str:
    """Return the key of a record's own text (0) or of one of its chunks."""
    return f"{path}{_PART}{number}" if number else path


def record_of(key: str) -> tuple[str, int]:
    """Return the path of the record that a text is of, and the number of the chunk; 0 for its own text."""
    path, _, number = key.partition(_PART)
    return path, int(number or 0)


def chunks(record: Record) -> Sequence[Chunk]:
    """Return the chunks of a record whose prose is a whole file; there is none of another."""
    if not record.kind.in_file:
        return ()
    from orbit_registry.resources.chunk import chunks_of  # Markdown's parser, which most searches do without

    return chunks_of(record)


def texts_of(record: Record) -> list[Fields]:
    """Return the texts that a record is found by, each as title, tags and body: its own, then those of its chunks."""
    return [parts_of(record), *((chunk.breadcrumb, "", chunk.body) for chunk in chunks(record))]


def parts_of(record: Record) -> Fields:
    """Return a record's title, its tags (labels and symbols among them) and its text, but not a file's own."""
    scope = record.data.get("scope")
    named: list[str] = []
    seed = ""
    if isinstance(scope, Mapping):
        named = [str(one) for axis in ("tags", "symbols") for one in scope.get(axis, ())]
        seed = str(scope.get("semantic_seed") or "")
    prose = "" if record.kind.in_file else record.prose
    return record.title, "\n".join((*named, *record.words("labels"))), f"{prose}\n{_body(record)}\n{seed}"


def _remove(index: TextIndex, path: str) -> None:
    number = 0
    while (key := key_of(path, number)) in index:
        index.remove(key)
        number += 1


def _body(record: Record) -> str:
    """Return the texts of a record's own fields beside title and prose."""
    apart = (record.kind.headline, record.kind.prose)
    own = (value for name, value in record.data.items() if name not in NO_TEXT and name not in apart)
    return "\n".join(text for value in own for text in _texts(value))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def weights_of(fields: Fields) -> Weights:
    """Return twice what each term of a text counts; a secret has none."""
    title, tags, body = map(without_secrets, fields)
    return weigh((title, tags, body))


def _digest(record: Record) -> str:
    whole = "\0".join((*parts_of(record), record.prose, str(record.data.get("chunking", ""))))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _mapping(value: object) -> Mapping[str, int]:
    return value if isinstance(value, dict) else {}
