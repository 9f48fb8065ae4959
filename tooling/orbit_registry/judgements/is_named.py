"""Whether a name says who a person is."""

from orbit_registry.formats.wording import normalised

_NO_NAMES = frozenset(("unknown", "none", "null", "anonymous", "n a", "todo", "tbd"))


def is_named(name: str) -> bool:
    """Say whether a name is that of the person who decides."""
    plain = normalised(name)
    return bool(plain) and plain not in _NO_NAMES
