"""Nested values, as JSON and YAML have them: every text in one replaced, names of keys too."""

from collections.abc import Callable, Mapping

Change = Callable[[str], str]


def with_texts(value: object, change: Change, change_key: Change | None = None) -> object:
    """Return a value with each of its texts changed, and each name of a key."""
    if isinstance(value, str):
        return change(value)

    if isinstance(value, Mapping):
        of_key = change_key or change
        return {
            of_key(str(key)): with_texts(part, change, change_key) for key, part in value.items()
        }

    if isinstance(value, list | tuple):
        return [with_texts(part, change, change_key) for part in value]

    return value
