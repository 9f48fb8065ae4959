"""Where a record applies: paths or tags, narrowed by agents and tasks; matching is not done here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a record; an empty axis does not narrow."""

    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    semantic_seed: str | None = None

    @property
    def is_empty(self) -> bool:
        """Say whether nothing can match the scope by path or tag."""
        return not (self.paths or self.tags or self.symbols)


def symbol_problem(symbol: str) -> str | None:
    """Return why a text names no symbol, `path::name` with a path from the root; None where it does."""
    path, separator, name = symbol.partition("::")
    if not separator or not path.strip() or not name.strip() or symbol != " ".join(symbol.split()):
        return "it is not of the form path::name"
    parts = path.split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in parts[0] or ".." in parts or "." in parts or "" in parts:
        return "its path is not one from the root, with `/`"
    return None


def scope_from(data: Mapping[str, object]) -> Scope:
    """Return the scope in a record's `scope` mapping, which its schema has found valid."""

    def words(name: str) -> tuple[str, ...]:
        value = data.get(name)
        return tuple(map(str, value)) if isinstance(value, list) else ()

    seed = data.get("semantic_seed")
    return Scope(
        paths=words("paths"),
        tags=words("tags"),
        agents=words("agents"),
        tasks=words("tasks"),
        symbols=words("symbols"),
        semantic_seed=str(seed) if seed is not None else None,
    )
