"""Keeps templates compiled between builds, as Python keeps modules, and where it keeps them; it renders none.

To compile the theme's forty templates is a quarter of what the generator takes. MkDocs loads this file as hooks of the
configuration that is ours; it imports nothing of the package.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig


MOST = 200
"""So many templates are kept: those of several versions of a theme."""


class Compiled(BytecodeCache):
    """The compiled templates of one kind of environment, `name`: a file beside this module's own compiled form.

    Whoever can write there can write any module of ours; what can't be read or written is let be.
    """

    def __init__(self, name: str, version: str = "") -> None:
        self._file = Path(cache_from_source(__file__)).with_name(f"templates-{name}.pyc")
        self._made_by = f"{sys.version} {jinja2.__version__} {version}"
        self._held: dict[str, CodeType] = {}
        self._known = 0
        with contextlib.suppress(OSError, ValueError, TypeError, EOFError):
            made_by, held = marshal.loads(self._file.read_bytes())
            if made_by == self._made_by:
                self._held, self._known = held, len(held)

    def get_bucket(self, environment: jinja2.Environment, name: str, filename: str | None, source: str) -> Bucket:
        """Return the place for a template's code, which its name and its text decide, and not where it stands."""
        key = f"{name} {hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()}"
        bucket = Bucket(environment, key, "")
        self.load_bytecode(bucket)
        return bucket

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code, where there is some."""
        bucket.code = self._held.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Remember the code of a template."""
        if bucket.code is not None:
            self._held[bucket.key] = bucket.code

    def save(self) -> None:
        """Write what was compiled, if anything was."""
        if len(self._held) == self._known or sys.dont_write_bytecode:
            return
        held = dict(list(self._held.items())[-MOST:])
        temporary = self._file.with_name(f".tmp-{self._file.name}-{os.getpid()}")
        with contextlib.suppress(OSError, ValueError):
            try:
                temporary.write_bytes(marshal.dumps((self._made_by, held)))
                temporary.replace(self._file)
            finally:
                temporary.unlink(missing_ok=True)
        self._known = len(self._held)


class Shallow(jinja2.FileSystemLoader):
    """Finds templates anywhere, and lists none below folders whose names begin with a dot.

    The generator asks for all names to leave those out: fourteen thousand icons.
    """

    def list_templates(self) -> list[str]:
        """Return the names of the templates."""
        found: set[str] = set()
        for top in self.searchpath:
            for parent, folders, names in os.walk(top):
                folders[:] = [name for name in folders if not name.startswith(".")]
                below = Path(parent).relative_to(top)
                found.update((below / name).as_posix() for name in names)
        return sorted(found)


@cache
def _of_theme() -> Compiled:
    import mkdocs  # the package that this module belongs to does without it

    return Compiled("theme", mkdocs.__version__)


def on_config(config: MkDocsConfig) -> None:
    """Have the theme's templates found where they stand compiled; MkDocs calls this."""
    theme: Any = config.theme
    make = theme.get_env

    def env() -> jinja2.Environment:
        made: jinja2.Environment = make()
        made.loader, made.bytecode_cache = Shallow(theme.dirs), _of_theme()
        return made

    theme.get_env = env


def on_post_build(config: MkDocsConfig) -> None:
    """Keep what was compiled; MkDocs calls this."""
    _of_theme().save()
