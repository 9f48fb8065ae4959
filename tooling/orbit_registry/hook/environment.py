"""Environment variables of the hook, which imports no `os`."""

import posix


def variable(name: bytes, default: bytes = b"") -> str:
    """Return an environment variable."""
    return posix.environ.get(name, default).decode("utf-8", "surrogateescape")
