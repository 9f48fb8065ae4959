"""Keeps what a call of the hook runs in one file of code, so that it opens one file in place of thirteen.

The file says nothing that the modules do not: where it is missing, or was made of other sources than are there, they
are imported like any others. `orbit sync` and `orbit hook install` write it; a hook only reads it, by `load`, whose own
code stands first in it. Built-in modules only.
"""

import posix
import sys
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Kept = tuple[str, str, int, int, CodeType | bytes]

MODULES = ("", "push", "push.context", "push.call", "push.dialects", "push.folders", "push.reader", "push.select",
           "push.json_text", "push.events", "push.ledger", "push.render", "push.client", "push.caps")  # fmt: skip
"""What a call loads that shows something, each after those that it imports; the agent's dialect comes last."""
DIALECTS = ("claude", "codex", "copilot", "cursor", "gemini", "generic")
FOLDERS = ("", "push", "push.dialects")
"""Those of the modules that are packages."""
LARGEST = 1 << 20


def load(package: str, modules: "list[Kept]", dialects: "dict[str, Kept]", agent: str) -> None:
    """Make modules of kept code, if it was made of the sources that are there; its own code knows no other name.

    Raises:
        KeyError: an agent without a dialect of its own; nothing was made.
        OSError: a source is missing; nothing was made.
    """
    import sys
    from marshal import loads
    from posix import stat

    chosen = [*modules, dialects[agent]]
    for _, file, time, size, _ in chosen:
        found = stat(package + file)
        if found.st_mtime_ns != time or found.st_size != size:
            return
    for name, file, _, _, code in chosen:
        module = sys.modules[name] = type(sys)(name)
        module.__file__ = package + file
        module.__package__, _, own = name.rpartition(".")
        if module.__package__:
            setattr(sys.modules[module.__package__], own, module)
        if file.endswith("/__init__.py"):
            module.__package__, module.__path__ = name, [module.__file__.rpartition("/")[0]]
        exec(loads(code) if isinstance(code, bytes) else code, module.__dict__)


def renew() -> bool:
    """Write the file anew if it was made of other sources; say whether that was done.

    A package that can't be written to goes without it, and so does one whose code nobody is to keep (`python -B`).
    """
    if sys.dont_write_bytecode:
        return False
    package = __file__.rpartition("/push/")[0]
    file = f"{package}/push/__pycache__/calls.{sys.implementation.cache_tag}.pyc"
    try:
        stamps = {name: _stamp(package, name) for name in (*MODULES, *(f"push.dialects.{one}" for one in DIALECTS))}
        if _stamps(file) == list(stamps.values()):
            return False
        code = {name: _code(package, stamp[1]) for name, stamp in stamps.items()}
        modules = [(*stamps[name], code[name]) for name in MODULES]
        dialects = {one: (*stamps[name], dumps(code[name])) for one in DIALECTS if (name := f"push.dialects.{one}")}
        content = dumps((_bare(load.__code__), modules, dialects))
        own = f"{file}.{posix.getpid()}"
        handle = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o644)
        try:
            whole = posix.write(handle, content) == len(content)
        finally:
            posix.close(handle)
        if whole:
            posix.replace(own, file)
        else:
            posix.unlink(own)
        return whole
    except OSError:
        return False


def _stamp(package: str, name: str) -> tuple[str, str, int, int]:
    """Return a module's whole name, its file below the package, and what tells the file from its other selves."""
    file = f"/{name.replace('.', '/')}".rstrip("/") + ("/__init__.py" if name in FOLDERS else ".py")
    found = posix.stat(package + file)
    return f"orbit_registry.{name}".rstrip("."), file, found.st_mtime_ns, found.st_size


def _stamps(file: str) -> list[tuple[str, str, int, int]]:
    """Return of which sources a file was made; empty where there is none that can be read."""
    try:
        handle = posix.open(file, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            _, modules, dialects = loads(posix.read(handle, LARGEST))
        finally:
            posix.close(handle)
        return [tuple(one[:4]) for one in (*modules, *dialects.values())]
    except (OSError, EOFError, ValueError, TypeError):
        return []


def _code(package: str, file: str) -> "CodeType":
    """Return a module's code without docstrings."""
    handle = posix.open(package + file, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        content = posix.read(handle, LARGEST)
    finally:
        posix.close(handle)
    return _bare(compile(content, f"orbit_registry{file}", "exec", dont_inherit=True, optimize=2))


def _bare(code: "CodeType") -> "CodeType":
    """Return code that does not know its lines, a third of it: nobody is shown where a hook failed."""
    inner = (_bare(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(inner))
