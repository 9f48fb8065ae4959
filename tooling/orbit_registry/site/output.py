"""Owns what is written to a folder of output: only what changed, and nothing removed that we did not write."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import RefusedError, UnsafePathError
from orbit_registry.store.files import inside, write_error
from orbit_registry.store.git import Git
from orbit_registry.store.workspace import SITE_MANIFEST

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
MANIFEST = SITE_MANIFEST
BEGUN = ".orbit-site.begun"
"""What a build that runs writes that was not there before, a name a line; it goes with the build's end."""
FORMAT = "orbit-site 1"
_TURNS = re.compile(b"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")
"""The characters that turn the direction of what follows them, in UTF-8: an unclosed one reaches beyond its text."""
_TEMPORARY = re.compile(r"\.tmp-(.+)-\d+", re.DOTALL)
_LONGEST = 80
"""How much of a file's name its temporary one holds, so that a long one is not too long."""
LINK_HINT = "the site writes to and removes files in real folders alone: remove the link, or give another folder"


def digest_of(content: bytes) -> str:
    """Return the short digest by which a file's content is known."""
    return hashlib.sha256(content).hexdigest()[:24]  # processors have it built in: a third of what BLAKE2 takes


@dataclass
class Output:
    """A folder of files that one build writes; `finish` removes what earlier builds left behind."""

    folder: Path
    before: dict[str, str]
    """Path from the folder → digest of what was last written there, "" where a build was cut short."""
    after: dict[str, str] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    """The files that were written."""
    unchanged: int = 0
    real: set[str] = field(default_factory=set)
    """Folders, by their path in this one, that were seen to be no symbolic links."""
    new: set[str] = field(default_factory=set)
    """Those of them that this build made, in which nothing stands but what it wrote."""
    standing: Set[str] = frozenset()
    """Files that are known to be as the last build left them."""
    begun: int | None = None
    """The open file that names what is new, where something is."""
    seal: str = ""
    """What tells the last finished build from any other: a digest of its manifest; "" where there is none of ours."""

    @property
    def written(self) -> int:
        """How many files were written."""
        return len(self.made)

    def keep(self, path: str) -> bool:
        """Take a file over from the last build; False where it is not there any more.

        Raises:
            RefusedError: a symbolic link stands on the way.
        """
        digest = self.before.get(path)
        if not digest or not (path in self.standing or self._stands(path)):
            return False
        self.unchanged += path not in self.after
        self.after[path] = digest
        return True

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file unless it has that content already; a text without the characters that turn its direction.

        Raises:
            WriteError: the disk refused.
            UnsafePathError: the path leads out of the folder.
            RefusedError: a symbolic link stands on the way.
        """
        if path.startswith("/") or ".." in path.split("/"):
            said = f"{path!r} does not stay inside the output folder"
            raise UnsafePathError(said, hint="rename the document or record whose page that would be")
        data = _TURNS.sub(b"", content.encode("utf-8", "surrogatepass")) if isinstance(content, str) else content
        digest = digest_of(data)
        if path not in self.before and path not in self.after:
            self._name(path)
        if self._is_new(path.rpartition("/")[0]) and path not in self.after:
            self._create(path, data)
        elif self._stands(path) and self.before.get(path) == digest:
            self.unchanged += 1
        else:
            replace_file(self.folder / path, data)
            self.made.add(path)
        self.after[path] = digest

    def _name(self, path: str) -> None:
        """Name a new file before it is written, so that it is known to be ours should this build be cut short."""
        try:
            if self.begun is None:
                self.folder.mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                self.begun = os.open(self.folder / BEGUN, flags, 0o666)
            os.write(self.begun, f"{json.dumps(path)}\n".encode())
        except OSError as error:
            raise write_error(self.folder / BEGUN, error) from None

    def _is_new(self, folder: str) -> bool:
        """Make a folder where there is none; say whether this build made it.

        Raises:
            WriteError: the disk refused.
            RefusedError: a symbolic link stands on the way.
        """
        if folder in self.real:
            return folder in self.new
        above = folder.rpartition("/")[0]
        if folder:
            self._is_new(above)
        at = f"{self.folder}/{folder}"
        try:
            if folder:
                os.mkdir(at)  # noqa: PTH102  a path object costs half of what making the folder does
            else:
                self.folder.mkdir(parents=True)
        except FileExistsError:
            if Path(at).is_symlink():
                raise _link(Path(at)) from None
        except OSError as error:
            raise write_error(Path(at), error) from None
        else:
            self.new.add(folder)
        self.real.add(folder)
        return folder in self.new

    def _create(self, path: str, data: bytes) -> None:
        """Write a file where nothing stands; what a killed build leaves of it, the next one replaces."""
        try:
            _create(f"{self.folder}/{path}", data)
        except OSError as error:
            raise write_error(self.folder / path, error) from None
        self.made.add(path)

    def read(self, path: str) -> str:
        """Return a text as the last build left it; "" where it is gone, or another by now."""
        try:
            data = (self.folder / path).read_bytes() if self._stands(path) else b""
        except OSError:
            return ""
        return data.decode("utf-8", "surrogatepass") if digest_of(data) == self.before.get(path) else ""

    def finish(self) -> int:
        """Remove files of earlier builds that this one did not make, save the manifest; return how many went.

        Raises:
            RefusedError: a symbolic link stands on the way to one of them; none is removed then.
        """
        stale = sorted(set(self.before) - set(self.after))
        seen = frozenset(self.real)
        self.real.clear()
        for path in stale:
            self._stands(path)
        self._sweep(seen | self.real)
        for path in stale:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                (self.folder / path).unlink()
        folders = {parent for path in stale for parent in _parents(path)}
        for parent in sorted(folders, key=lambda name: -name.count("/")):
            with contextlib.suppress(OSError):
                (self.folder / parent).rmdir()
        self.seal = self._save(self.after)
        if self.begun is not None:
            os.close(self.begun)
            self.begun = None
        (self.folder / BEGUN).unlink(missing_ok=True)
        return len(stale)

    def _sweep(self, real: Set[str]) -> None:
        """Remove what a build that was cut short left half written, in folders that are no links."""
        known = {("", MANIFEST)}
        if "" in self.before.values():
            split = (path.rpartition("/") for path in (*self.before, *self.after))
            known |= {(folder, name[:_LONGEST]) for folder, _, name in split}
        for folder in {folder for folder, _ in known if not folder or folder in real}:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                for name in os.listdir(self.folder / folder):
                    found = _TEMPORARY.fullmatch(name)
                    if found and (folder, found[1]) in known:
                        (self.folder / folder / name).unlink(missing_ok=True)

    def begin(self) -> None:
        """Write the manifest of a build that is not finished: it names what is ours, and knows no file's content.

        Should this build be cut short, the next one makes each file anew and removes those that it does not make.
        """
        self._save(dict.fromkeys(self.before, ""))

    def _save(self, files: Mapping[str, str]) -> str:
        """Write the manifest, and return its digest."""
        said = {"format": FORMAT, "files": dict(sorted(files.items()))}
        text = json.dumps(said, separators=(",\n", ": "), ensure_ascii=False)
        path = self.folder / MANIFEST
        data = text.encode("utf-8", "surrogatepass")
        if not self._stands(MANIFEST) or path.read_bytes() != data:
            replace_file(path, data)
        return digest_of(data)

    def _stands(self, path: str) -> bool:
        """Say whether a file is there; no symbolic link leads to it."""
        folder = path.rpartition("/")[0]
        if folder not in self.real:
            folders = ["", *_parents(path)]
            for one in folders:
                if one not in self.real and _is_link(_look(f"{self.folder}/{one}".rstrip("/"))):
                    raise _link(self.folder / one)
            self.real.update(folders)
        found = _look(f"{self.folder}/{path}")
        if _is_link(found):
            raise _link(self.folder / path)
        return found is not None and stat.S_ISREG(found.st_mode)


def _look(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_link(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISLNK(found.st_mode)


def refuse_links(root: Path, path: Path, *, below: bool = False) -> None:
    """Refuse a path inside `root` that passes through a symbolic link; a path elsewhere is its giver's matter.

    `below` looks at everything that stands in the folder too.

    Raises:
        RefusedError: there is a symbolic link.
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
            if (one := Path(parent, name)).is_symlink():
                raise _link(one)


def _link(path: Path) -> RefusedError:
    return RefusedError(f"{path} is a symbolic link; nothing was removed", hint=LINK_HINT)


def open_output(folder: Path) -> Output:
    """Return a folder to write to, with what the last build wrote there.

    Raises:
        RefusedError: the folder holds files that are not ours, or its manifest is a symbolic link.
    """
    manifest = folder / MANIFEST
    if manifest.is_symlink():
        raise _link(manifest)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RefusedError(f"{folder} is not a folder", hint="give another one with --out")
    if not manifest.is_file():
        names = os.listdir(folder) if folder.is_dir() else []
        if not all((made := _TEMPORARY.fullmatch(name)) and made[1] == MANIFEST for name in names):
            raise RefusedError(
                f"{folder} holds files that no site build wrote",
                hint="give an empty or new folder with --out, or empty this one yourself",
            )
        return Output(folder, {})
    try:
        said = manifest.read_bytes()
        held = json.loads(said.decode("utf-8", "surrogatepass"))
        begun = folder / BEGUN
        lines = begun.read_bytes().splitlines() if begun.is_file() and not begun.is_symlink() else []
        new = [str(json.loads(line)) for line in lines if line.endswith(b'"')]  # the last one may be torn
        files = {**dict.fromkeys(new, ""), **{str(path): str(digest) for path, digest in held["files"].items()}}
    except (ValueError, KeyError, AttributeError, TypeError):
        raise RefusedError(f"{manifest} can't be read", hint="empty the folder, then build again") from None
    if any({"", ".", ".."} & set(path.split("/")) or "\x00" in path for path in files):
        raise RefusedError(f"{manifest} names files outside its folder", hint="empty the folder, then build again")
    # A manifest that came with the repository was written by whoever wrote the repository.
    tracked = bool(Git(folder).ask("ls-files", "--", MANIFEST, BEGUN))
    return Output(folder, {}) if tracked else Output(folder, files, seal=digest_of(said))


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; unlike a record it can be made again, so nothing waits for the disk.

    Raises:
        WriteError: the disk refused.
    """
    temporary = path.with_name(f".tmp-{path.name[:_LONGEST]}-{os.getpid()}")
    try:
        try:
            _create(temporary, data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            _create(temporary, data)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise write_error(path, error) from None


def _create(path: Path | str, data: bytes) -> None:
    """Write a new file; one that a killed build left under that name goes first, and a link is not followed."""
    try:
        opened = os.open(path, _NEW, 0o666)
    except FileExistsError:
        Path(path).unlink()
        opened = os.open(path, _NEW, 0o666)
    try:
        while data:
            data = data[os.write(opened, data) :]
    finally:
        os.close(opened)


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
