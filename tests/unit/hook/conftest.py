"""Makes push indexes of bare scopes, without files; it holds no expectations."""

from collections.abc import Callable, Iterable

import pytest

from orbit_registry.hook.index import Index, read_index
from orbit_registry.matching.pack import Part, conditions_of, pack
from orbit_registry.model import fields

Make = Callable[[Iterable[Iterable[str]]], Index]


def packed(
    scopes: Iterable[Iterable[str]], pushed: Callable[[int], bool] = lambda number: True
) -> bytes:
    """Return the bytes of an index whose records have these globs, ranked as they are listed."""
    parts = []
    for number, scope in enumerate(scopes):
        globs = [glob for glob in scope if conditions_of(glob)]
        row = [""] * fields.FIELDS
        row[fields.ID], row[fields.GLOBS] = f"L-{number:05d}", fields.LIST.join(globs)
        flags = fields.EXCLUDES if any(glob.startswith("!") for glob in globs) else 0
        parts.append(Part(tuple(row), flags, pushed(number)))
    return pack(parts)


def opened(content: bytes) -> Index:
    index = read_index(content, "/")
    assert isinstance(index, Index), index.reason
    return index


@pytest.fixture(scope="session")
def make_bytes() -> Callable[..., bytes]:
    return packed


@pytest.fixture(scope="session")
def make_index() -> Make:
    return lambda scopes: opened(packed(scopes))
