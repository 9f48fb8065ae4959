"""Output folder of a build, and its result:
only changed files are written, only files of earlier builds removed.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path

from orbit_registry.errors import RefusedError, UnsafePathError
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.workspace.files import SITE_MANIFEST, inside, write_error
from orbit_registry.workspace.git import Git

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
MANIFEST = SITE_MANIFEST
# names of new files of a running build, one a line; removed at the end of the build
JOURNAL = ".orbit-site.begun"
FORMAT = "orbit-site 1"
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
"""Control characters, which a terminal obeys and which are in no text that people write."""
_STEERING = (
    re.compile(b"\xc2[\x80-\x84\x86-\x9f]"),  # control characters of eight bits
    re.compile(b"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])"),  # direction: of the text after it too
    re.compile(b"\xf3\xa0[\x80\x81][\x80-\xbf]"),  # tags, which spell words for a model
)
"""Characters in UTF-8 that people don't see and programs act on; each begins with a rare byte."""
TEMPORARY = ".orbit-site.tmp-"  # prefix of temporary files
LINK_HINT = (
    "the site writes to and removes files in real folders alone: remove the link, or "
    "give another folder"
)


def digest_of(content: bytes) -> str:
    """Return the short digest by which a file's content is known."""
    return hashlib.sha256(content).hexdigest()[
        :24
    ]  # processors have it built in: a third of what BLAKE2 takes


def _steering_nothing(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass").translate(None, _CONTROLS)
    for hidden in _STEERING:
        content = hidden.sub(b"", content)

    return content


@dataclass
class Output:
    """A folder of files that one build writes; `finish` removes what earlier builds left behind.

    Each method refuses a path with a symbolic link (RefusedError).
    """

    folder: Path
    before: dict[str, str]
    """Path from the folder → digest of what was last written there,
    "" where a build was cut short.
    """
    after: dict[str, str] = field(default_factory=dict)
    written: int = 0
    seal: str = ""  # digest of the manifest of the last finished build; "" without one
    folders: set[str] = field(default_factory=set)
    """Folders that exist and are no links, as this build saw: most pages share theirs."""

    @property
    def unchanged(self) -> int:
        """The number of files that this build did not have to write."""
        return len(self.after) - self.written

    def keep(self, path: str) -> bool:
        """Take a file over from the last build; False where it is not there any more."""
        digest = self.before.get(path)
        if not digest or not self._exists(path):
            return False
        self.after[path] = digest
        return True

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file unless it has that content already;
        a text without the characters that people don't see and programs act on.
        """
        if path.startswith("/") or ".." in path.split("/"):
            message = f"{path!r} does not stay inside the output folder"
            raise UnsafePathError(
                message, hint="rename the document or record whose page that would be"
            )

        data = _steering_nothing(content) if isinstance(content, str) else content
        digest = digest_of(data)
        if not self._exists(path) or self.before.get(path) != digest:
            if path not in self.before and path not in self.after:
                self._announce(path)
            self._replace(path, data)
            self.written += path not in self.after

        self.after[path] = digest

    def _announce(self, path: str) -> None:
        """Note a new file before it is written, so that the build after a killed one can
        remove it.
        """
        try:
            os.write(self._journal, f"{json.dumps(path)}\n".encode())
        except OSError as error:
            raise write_error(self.folder / JOURNAL, error) from None

    @cached_property
    def _journal(self) -> int:
        """The journal, open until this object goes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self.folder / JOURNAL, _APPEND, 0o666)
        weakref.finalize(self, os.close, file)
        return file

    def _replace(self, path: str, data: bytes) -> None:
        """Write a file in one step; unlike a record it can be made again,
        so nothing waits for the disk.
        """
        file, temporary = self.folder / path, self.folder / f"{TEMPORARY}{os.getpid()}"
        try:
            if path.rpartition("/")[0] not in self.folders:
                file.parent.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)
            with temporary.open("xb") as opened:
                opened.write(data)
            temporary.replace(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise write_error(file, error) from None

    def finish(self) -> int:
        """Remove files of earlier builds that this one did not make, save the manifest;
        return how many went.
        """
        stale = sorted(set(self.before) - set(self.after))
        for path in stale:
            self._exists(path)

        for path in stale:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                (self.folder / path).unlink()

        folders = set(chain.from_iterable(map(_parents, stale)))
        for parent in sorted(folders, key=lambda name: -name.count("/")):
            with contextlib.suppress(OSError):
                (self.folder / parent).rmdir()

        self._save(self.after)

        for leftover in self.folder.glob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)

        (self.folder / JOURNAL).unlink(missing_ok=True)
        return len(stale)

    def begin(self) -> None:
        """Write the manifest of a build that is not finished: it names what is ours, and knows no
        file's content.

        Should this build be cut short, the next one makes each file anew and removes those that it
        does not make.
        """
        self._save(dict.fromkeys(self.before, ""))

    def _save(self, files: Mapping[str, str]) -> None:
        manifest = {"format": FORMAT, "files": dict(sorted(files.items()))}
        text = json.dumps(manifest, separators=(",\n", ": "), ensure_ascii=False)
        data = text.encode("utf-8", "surrogatepass")
        if not self._exists(MANIFEST) or (self.folder / MANIFEST).read_bytes() != data:
            self._replace(MANIFEST, data)
        self.seal = digest_of(data)

    def _exists(self, path: str) -> bool:
        """Say whether a file is there; no symbolic link leads to it."""
        mode = 0
        for name in [name for name in ("", *_parents(path)) if name not in self.folders] + [path]:
            try:
                mode = os.lstat(f"{self.folder}/{name}").st_mode
            except (FileNotFoundError, NotADirectoryError):
                return False

            if stat.S_ISLNK(mode):
                raise _link(self.folder / name)
            if stat.S_ISDIR(mode):
                self.folders.add(name)

        return stat.S_ISREG(mode)


def refuse_links(root: Path, path: Path, *, below: bool = False) -> None:
    """Refuse a path inside `root` that passes through a symbolic link; a path elsewhere is its
    giver's matter.

    `below` checks everything in the folder too.
    """
    # Normalised by name alone: resolving would follow the very links that are looked for.
    absolute = Path(os.path.normpath(Path.cwd() / path))
    if absolute.is_relative_to(root) and absolute != root:
        try:
            inside(root, absolute.relative_to(root).as_posix())
        except UnsafePathError as error:
            raise RefusedError(error.message, hint=LINK_HINT) from None

    if not below:
        return

    for parent, folders, files in os.walk(absolute):
        for name in (*folders, *files):
            if (entry := Path(parent, name)).is_symlink():
                raise _link(entry)


def _link(path: Path) -> RefusedError:
    return RefusedError(f"{path} is a symbolic link; nothing was removed", hint=LINK_HINT)


def open_output(folder: Path) -> Output:
    """Return a folder to write to, with what the last build wrote there."""
    manifest = folder / MANIFEST
    if manifest.is_symlink():
        raise _link(manifest)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RefusedError(f"{folder} is not a folder", hint="give another one with --out")

    if not manifest.is_file():
        names = os.listdir(folder) if folder.is_dir() else []
        if not all(name.startswith(TEMPORARY) for name in names):
            raise RefusedError(
                f"{folder} holds files that no site build wrote",
                hint="give an empty or new folder with --out, or empty this one yourself",
            )

        return Output(folder, {})

    try:
        content = manifest.read_bytes()
        stored = json.loads(content.decode("utf-8", "surrogatepass"))
        journal = folder / JOURNAL
        if journal.is_file() and not journal.is_symlink():
            lines = journal.read_bytes().splitlines()
        else:
            lines = []

        new = [
            str(json.loads(line)) for line in lines if line.endswith(b'"')
        ]  # the last one may be torn
        files = {
            **dict.fromkeys(new, ""),
            **{str(path): str(digest) for path, digest in stored["files"].items()},
        }
    except (ValueError, KeyError, AttributeError, TypeError):
        raise RefusedError(
            f"{manifest} can't be read", hint="empty the folder, then build again"
        ) from None

    if any({"", ".", ".."} & set(path.split("/")) or "\x00" in path for path in files):
        raise RefusedError(
            f"{manifest} names files outside its folder", hint="empty the folder, then build again"
        )

    # A tracked manifest was not written by a build, and may name files of the user.
    tracked = bool(Git(folder).ask("ls-files", "--", MANIFEST, JOURNAL))
    if tracked:
        return Output(folder, {})

    return Output(folder, files, seal=digest_of(content))


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


Progress = Callable[
    [str, int, int], None
]  # called with the step's name, how much of it is done, and how much there is


def silent(step: str, done: int, of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class SiteResult:
    """Counts of files, the findings, and whether the build counts as good."""

    out: Path
    pages: int  # HTML files that the site has now
    written: int
    unchanged: int
    removed: int
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    config: str | None  # the repository's own configuration file that was used, or None
    ok: bool = True  # false where the build was strict and a finding is more than a note
    stamps: Mapping[str, str] | None = None
    """Stamps of inputs and outputs by path; None if one may have changed during the build."""

    def as_data(self) -> dict[str, object]:
        """Return the result as the JSON output shows it, without the diagnostics."""
        return {
            "out": str(self.out),
            "pages": self.pages,
            "written": self.written,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "seconds": round(self.seconds, 3),
            "config": self.config,
        }


def heavier_than_notes(diagnostics: Sequence[Diagnostic]) -> bool:
    """Say whether a strict build fails for these findings."""
    return any(diagnostic.severity is not Severity.NOTE for diagnostic in diagnostics)
