"""Files: size limits, paths that stay in the project, atomic replacement, walking folders,
built sites.
"""

import contextlib
import errno
import json
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from orbit_registry.errors import OrbitError, UnreadableFileError, UnsafePathError, WriteError
from orbit_registry.formats.encodings import wide_encoding

RECORD_LIMIT = 1_000_000
DOCUMENT_LIMIT = 5_000_000
TEMPORARY = ".tmp-"
_TRY_AGAIN = "see that the disk is sound and has room, then run the command again"


def read_text(path: Path, *, limit: int = RECORD_LIMIT) -> str:
    """Return a file's text with its line endings;
    no links, special files or more than `limit` bytes.
    """
    return decode(read_bytes(path, limit=limit), path)


def read_object(path: Path, *, limit: int) -> dict[str, Any]:
    """Return the object of a JSON file; empty where the file is missing, damaged or another one."""
    try:
        value = json.loads(read_bytes(path, limit=limit))
    except (OrbitError, ValueError, RecursionError):
        return {}

    if isinstance(value, dict):
        return value

    return {}


def read_bytes(path: Path | str, *, limit: int) -> bytes:
    """Return a file's bytes; refuses the same as `read_text`."""
    return read_with_status(path, limit=limit)[0]


def read_with_status(path: Path | str, *, limit: int) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and its `stat` from before they were read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFileError(
                    f"{path} is not a regular file", hint="put a file with its text there"
                )

            if status.st_size > limit:
                message = f"{path} has {status.st_size:,} bytes; at most {limit:,} are read"
                raise UnreadableFileError(message, hint="move long text elsewhere")

            content = os.read(handle, status.st_size + 1)
            if len(content) != status.st_size:  # interrupted by a signal, or growing
                with os.fdopen(handle, "rb", closefd=False) as file:
                    content += file.read(max(status.st_size + 1 - len(content), 0))

            return content, status
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableFileError(
                f"{path} is a symbolic link", hint="put the file itself there"
            ) from None
        raise _read_error(path, error) from None


def bounded_lines(file: BinaryIO, longest: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield each line and its bytes; None for one of more than `longest`,
    which is never whole in memory.
    """
    while line := file.readline(longest + 1):
        size = len(line)
        rest = line
        while size > longest and rest and not rest.endswith(b"\n"):
            rest = file.readline(longest)
            size += len(rest)
        yield (line if size <= longest else None), size


def _read_error(path: Path | str, error: OSError) -> UnreadableFileError:
    hints = {
        errno.ENOENT: "correct the path, or bring the file back",
        errno.EACCES: "check the owner and the permissions of the file",
        errno.EPERM: "check the owner and the permissions of the file",
        errno.ENOTDIR: "a file is where a folder is needed",
        errno.ENAMETOOLONG: "give it a shorter name",
    }

    hint = hints.get(error.errno or 0, "see what the system says of the file with `ls -l`")
    return UnreadableFileError(f"{path}: {_reason(error)}", hint=hint)


def is_there(path: Path) -> bool:
    """Return whether a path is that of a file or folder; no file has a name that is too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def decode(content: bytes, path: Path | str) -> str:
    """Return UTF-8 bytes as text; the error names line and column."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = wide_encoding(content)
        if wide is not None:
            raise UnreadableFileError(
                f"{path}: it is {wide}, not UTF-8",
                hint=f"save the file as UTF-8: `iconv -f {wide} -t UTF-8` converts it",
            ) from None

        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise UnreadableFileError(
            f"{path}:{line}:{column}: not valid UTF-8 (byte 0x{content[error.start]:02x})",
            hint="save the file as UTF-8",
        ) from None


def inside(root: Path, relative: str) -> Path:
    """Return the path of a file named from the root;
    refuses absolute names, `..`, `.git` and symbolic links.
    """
    pure = PurePosixPath(relative)
    if (
        not relative
        or "\x00" in relative
        or "\\" in relative
        or pure.is_absolute()
        or ".." in pure.parts
    ):
        raise UnsafePathError(
            f"{relative!r} does not stay inside the project", hint="name it from the project's root"
        )

    try:
        os.fsencode(relative)
    except UnicodeEncodeError:  # a lone surrogate, which JSON and YAML can spell
        message = f"{relative[:60]!r} can't be the name of a file"
        raise UnsafePathError(message, hint="name a file of the project") from None

    if any(part.casefold() == ".git" for part in pure.parts):
        raise UnsafePathError(f"{relative!r} is git's own", hint="name a file of the project")

    try:
        link = _first_link(str(root), pure.parts)
    except OSError as error:
        message = f"{relative[:60]!r} can't be the name of a file: {_reason(error)}"
        raise UnsafePathError(message, hint="name a file of the project") from None

    if link:
        raise UnsafePathError(
            f"{relative!r} passes through a symbolic link at {link}",
            hint="put the files themselves there, or name where they really are",
        )

    return root / pure


def _first_link(root: str, parts: Sequence[str]) -> str:
    """Return the first of some nested names that is a symbolic link, from the root; "" for none.

    It is asked of each document again and again, and joins texts: paths take three times as long.
    """
    path = root
    for part in parts:
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return ""

        if stat.S_ISLNK(mode):
            return path[len(root) + 1 :]

    return ""


def is_inside(root: Path, relative: str) -> bool:
    """Say whether `inside` accepts a name."""
    try:
        inside(root, relative)
    except UnsafePathError:
        return False
    return True


def resolved(path: Path) -> Path:
    """Return where a path leads; one through links in a circle leads to no file, so it stays."""
    try:
        return path.resolve()
    except RuntimeError:  # before Python 3.13
        return path.absolute()


def from_home(path: Path) -> Path:
    """Return a path whose `~` is the folder of its user; as it was, if there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def document_text(root: Path, relative: str) -> str | None:
    """Return the text of a document named from the root; None where it can't be read."""
    try:
        return read_text(inside(root, relative), limit=DOCUMENT_LIMIT)
    except (UnreadableFileError, UnsafePathError):
        return None


def write_atomic(path: Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Replace a file through a temporary file, fsync and rename; a new file gets `mode`."""
    if isinstance(content, str):
        content = content.encode("utf-8")

    temporary = stage(path, content, mode=mode)
    sync_file(temporary, path)
    replace_file(path, temporary)
    sync_folder(path.parent)


def stage(path: Path, content: bytes, *, mode: int = 0o666) -> Path:
    """Write a file's new content under a temporary name in its folder, and return that;
    folders are made on the way.
    """
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    with _removed_on_error(temporary, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        existing_mode = _mode_of(path)
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb"
        ) as file:
            if existing_mode is not None:
                os.fchmod(file.fileno(), existing_mode)
            file.write(content)

    return temporary


def sync_file(temporary: Path, path: Path) -> None:
    """Flush what `stage` wrote for a path to disk."""
    with _removed_on_error(temporary, path):
        _flush(temporary, os.O_RDONLY | os.O_NOFOLLOW)


def replace_file(path: Path, temporary: Path) -> None:
    """Put what `stage` wrote in place."""
    with _removed_on_error(temporary, path):
        temporary.replace(path)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary name in a file's folder for another program to write; what is there at the
    end takes the file's place, and a block that fails leaves nothing.
    """
    temporary = path.with_name(f"{TEMPORARY}{os.urandom(4).hex()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))

        existing_mode = _mode_of(path)
        temporary.touch()  # the program may not say which error of the system it met
        temporary.unlink()

        yield temporary

        if existing_mode is not None:
            temporary.chmod(existing_mode)
        sync_file(temporary, path)
        replace_file(path, temporary)
        sync_folder(path.parent)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def _removed_on_error(temporary: Path, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise write_error(path, error) from None


def write_error(path: Path, error: OSError) -> WriteError:
    """Return the error, with a hint, for a file that can't be written."""
    hints = {
        errno.ENOSPC: "free some space, then run the command again",
        errno.EDQUOT: "free some space, then run the command again",
        errno.EROFS: "the file system is read-only; work in a writable checkout",
        errno.EACCES: "check the owner and the permissions of the folder",
        errno.EPERM: "check the owner and the permissions of the folder",
        errno.ENOTDIR: "a file is where a folder is needed",
        errno.EEXIST: "a file is where a folder is needed",
        errno.ELOOP: "links on the way lead in a circle; name another folder",
        errno.EINVAL: "name a plain file",
    }

    hint = hints.get(error.errno or 0, _TRY_AGAIN)
    return WriteError(f"can't write {path}: {_reason(error)}; nothing was changed", hint=hint)


def sync_folder(folder: Path) -> None:
    """Flush a folder's renames to disk, where the system can."""
    with contextlib.suppress(OSError):
        _flush(folder, os.O_RDONLY)


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode_of(path: Path) -> int | None:
    """Return the permissions of a regular file that is to be replaced; None where there is none."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None

    # The whole machine uses a device; a pipe in the place of our own file is in the way.
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "a device is no file", str(path))

    if stat.S_ISREG(mode):
        return stat.S_IMODE(mode)

    return None


SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".nox", ".tox", ".venv", "venv", "node_modules", "__pycache__"}
)
"""Names of folders without files of the project."""


def walk(
    root: Path,
    below: str | Path = "",
    *,
    without: frozenset[str] = frozenset(),
    hidden: bool = True,
) -> Iterator[str]:
    """Yield the files below a folder as paths from the root, links to folders not followed."""
    left_out = SKIPPED_FOLDERS | without
    for parent, folders, names in os.walk(root / below):
        folders[:] = sorted(
            name for name in folders if name not in left_out and (hidden or name[0] != ".")
        )
        folder = os.path.relpath(parent, root).replace(os.sep, "/")
        prefix = "" if folder == "." else f"{folder}/"
        yield from (f"{prefix}{name}" for name in sorted(names))


SITE_MANIFEST = ".orbit-site.json"  # the file that marks a folder as a built site
_SITE_MARK = f"/{SITE_MANIFEST}"
_MKDOCS_MARK = "/search/search_index.json"
_MKDOCS_PAGES = ("404.html", "sitemap.xml")  # one of them is in each site that MkDocs built
_SITE_DIR = re.compile(
    r"^site_dir:[ \t]*(['\"]?)([^'\"#\s][^'\"#\n]*?)\1[ \t]*(?:#.*)?\r?$", re.MULTILINE
)


def without_sites(paths: Iterable[str], root: Path) -> list[str]:
    """Return paths, from `root`, that are not in a built site, of Orbit or of MkDocs."""
    paths = list(paths)
    sites = built_sites(paths, root)
    if not sites:
        return paths
    return [path for path in paths if not path.startswith(sites)]


def built_sites(paths: Sequence[str], root: Path) -> tuple[str, ...]:
    """Return the folders of built sites among the paths, each with a slash at its end."""
    sites = {path.removesuffix(SITE_MANIFEST) for path in paths if path.endswith(_SITE_MARK)}
    folders = {path.removesuffix(_MKDOCS_MARK) for path in paths if path.endswith(_MKDOCS_MARK)}
    if folders:
        pages = {path for path in paths if path.endswith(_MKDOCS_PAGES)}
        for folder in folders:
            if not pages.isdisjoint(f"{folder}/{page}" for page in _MKDOCS_PAGES):
                sites.add(f"{folder}/")

    # A site without its search has no mark, but `mkdocs.yml` may name it.
    with contextlib.suppress(OrbitError):
        configured = _SITE_DIR.search(read_text(root / "mkdocs.yml"))
        if configured is not None:
            folder = posixpath.normpath(configured[2])
            if f"{folder}/index.html" in paths:
                sites.add(f"{folder}/")

    return tuple(sorted(sites))


def missing_files(root: Path, documents: Iterable[str]) -> Iterator[str]:
    """Yield the documents that don't exist or are outside the project."""
    for path in set(documents):
        try:
            there = is_inside(root, path) and stat.S_ISREG(os.lstat(f"{root}/{path}").st_mode)
        except OSError:
            there = False

        if not there:
            yield path
