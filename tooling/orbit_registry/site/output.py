"""Owns what is written to a folder of output: only what changed, and nothing removed that we did not write."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import RefusedError, UnsafePathError
from orbit_registry.store.files import write_error

MANIFEST = ".orbit-site.json"
FORMAT = "orbit-site 1"


def digest_of(content: bytes) -> str:
    """Return the short digest by which a file's content is known."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


@dataclass
class Output:
    """A folder of files that one build writes; `finish` removes what earlier builds left behind."""

    folder: Path
    before: dict[str, str]
    """Path from the folder → digest of what was last written there."""
    after: dict[str, str] = field(default_factory=dict)
    written: int = 0
    unchanged: int = 0

    def keep(self, path: str) -> bool:
        """Take a file over from the last build; False where it is not there any more."""
        digest = self.before.get(path)
        if digest is None or not (self.folder / path).is_file():
            return False
        self.after[path] = digest
        self.unchanged += 1
        return True

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file unless it has that content already.

        Raises:
            WriteError: the disk refused.
            UnsafePathError: the path leads out of the folder.
        """
        if path.startswith("/") or ".." in path.split("/"):
            raise UnsafePathError(f"{path!r} does not stay inside the output folder")
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        digest = digest_of(data)
        target = self.folder / path
        if self.before.get(path) == digest and target.is_file():
            self.unchanged += 1
        else:
            replace_file(target, data)
            self.written += 1
        self.after[path] = digest

    def finish(self) -> int:
        """Remove files of earlier builds that this one did not make, save the manifest; return how many went."""
        stale = sorted(set(self.before) - set(self.after))
        for path in stale:
            with contextlib.suppress(FileNotFoundError):
                (self.folder / path).unlink()
        folders = {parent for path in stale for parent in _parents(path)}
        for parent in sorted(folders, key=lambda name: -name.count("/")):
            with contextlib.suppress(OSError):
                (self.folder / parent).rmdir()
        self.save()
        return len(stale)

    def save(self) -> None:
        """Write the manifest, of what stands there now and what an unfinished build has yet to remove."""
        text = json.dumps({"format": FORMAT, "files": dict(sorted(self.after.items()))}, indent=0, ensure_ascii=False)
        path = self.folder / MANIFEST
        data = text.encode("utf-8", "surrogatepass")
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data)


def open_output(folder: Path) -> Output:
    """Return a folder to write to, with what the last build wrote there.

    Raises:
        RefusedError: the folder holds files that are not ours.
    """
    manifest = folder / MANIFEST
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RefusedError(f"{folder} is not a folder", hint="give another one with --out")
    if not manifest.is_file():
        if folder.is_dir() and any(folder.iterdir()):
            raise RefusedError(
                f"{folder} holds files that no site build wrote",
                hint="give an empty or new folder with --out, or empty this one yourself",
            )
        return Output(folder, {})
    try:
        held = json.loads(manifest.read_text("utf-8", "surrogatepass"))
        files = {str(path): str(digest) for path, digest in held["files"].items()}
    except (ValueError, KeyError, AttributeError, TypeError):
        raise RefusedError(f"{manifest} can't be read", hint="empty the folder, then build again") from None
    if any(path.startswith("/") or ".." in path.split("/") for path in files):
        raise RefusedError(f"{manifest} names files outside its folder", hint="empty the folder, then build again")
    return Output(folder, files)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; unlike a record it can be made again, so nothing waits for the disk.

    Raises:
        WriteError: the disk refused.
    """
    temporary = path.with_name(f".tmp-{path.name[:80]}-{os.getpid()}")
    try:
        try:
            temporary.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise write_error(path, error) from None


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
