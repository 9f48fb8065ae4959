"""A hook of MkDocs: the theme's templates are compiled once, not at each run.

MkDocs reads this file alone, so it imports no other module of the package.
"""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache


def on_env(env: Environment, *, config: Mapping[str, Any], files: object) -> None:
    """Let the templates of a run be read from where earlier runs have left them compiled."""
    folder, names = config["extra"]["orbit_compiled"]
    env.bytecode_cache = FileSystemBytecodeCache(folder, names)
