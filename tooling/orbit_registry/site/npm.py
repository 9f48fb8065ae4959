"""Packages of npm that a site serves: fetched once into the user's cache, known by the hash of
their archive.

Mermaid, which draws diagrams in the browser, is one. Without it, and without scripts, a diagram
stays a block of code.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.stamps import stamp_of
from orbit_registry.workspace.workspace import user_cache

SECONDS = 300


@dataclass(frozen=True, slots=True)
class Archive:
    """An npm package: what it is called, the SHA-512 of its archive,
    and which of its files go where in the site.
    """

    name: str
    version: str
    sha512: str
    files: Mapping[str, str]

    @property
    def file(self) -> str:
        """The name that npm gives the archive."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"

    @property
    def path(self) -> Path:
        """The place of the archive in the user's cache."""
        return user_cache() / self.file

    @property
    def hint(self) -> str:
        """How to put the archive there by hand."""
        return (
            f"`npm pack {self.name}@{self.version}` makes {self.file}: put it into {user_cache()}"
        )

    def fetched(self) -> str:
        """Have npm fetch the archive if it is missing;
        return what went wrong, empty for nothing.
        """
        if _is_whole(self.path, self):
            return ""

        return _packed(self)

    def unpacked(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files for the site, by their path there."""
        import tarfile  # brings three compressions with it

        with tarfile.open(self.path) as tar:
            for member in tar:
                target = self.files.get(member.name)
                file = tar.extractfile(member) if target is not None else None
                if target is not None and file is not None:
                    yield target, file.read()


def _is_whole(file: Path, archive: Archive) -> bool:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha512").hexdigest() == archive.sha512
    except OSError:
        return False


def _packed(archive: Archive) -> str:
    """Have npm fetch an archive; return what went wrong, empty for nothing.

    npm runs in an empty folder, so that no repository's settings say from where; the hash says
    whether it is the one.
    """
    folder = user_cache()

    with contextlib.suppress(OSError):
        archive.path.unlink(missing_ok=True)  # a damaged one

    npm = shutil.which("npm")
    if npm is None:
        return f"npm, which fetches {archive.name}, is not installed"

    options = ("--ignore-scripts", "--fetch-retries=0", "--loglevel=error")
    command = [npm, "pack", f"{archive.name}@{archive.version}", *options]
    with tempfile.TemporaryDirectory(prefix="orbit-") as work_folder:
        try:
            done = subprocess.run(
                command,
                cwd=work_folder,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"npm did not run: {error}"

        packed = Path(work_folder) / archive.file
        if done.returncode or not packed.is_file():
            words = [
                line.removeprefix("npm error ") for line in done.stderr.splitlines() if line.strip()
            ]
            reason = next((line for line in words if " " in line), f"exit {done.returncode}")
            return f"npm could not fetch {archive.name} {archive.version}: {reason[:300]}"

        if not _is_whole(packed, archive):
            return f"what npm fetched is not {archive.name} {archive.version}: its hash is another"

        try:
            folder.mkdir(parents=True, exist_ok=True)
            temporary = folder / f".tmp-{os.getpid()}-{archive.file}"
            shutil.copyfile(packed, temporary)
            temporary.replace(folder / archive.file)
        except OSError as error:
            return f"{folder} can't be written: {error.strerror}"

    return ""


MISSING = "SITE399"
_FOLDER = "assets/orbit/mermaid/"
_ENTRY = "mermaid.tiny.js"
_NONE = b""  # what the page loads in place of Mermaid
MERMAID = Archive(
    "@mermaid-js/tiny",
    "12.0.0",
    "656f585f2fb7b522cfb1c053f8d9d03b42b4a981fb046112e6713197a4a7a328"
    "1ecbbc5dd8dd1c3bb36adf437993fbbb808798a02ae5772572f954c2316acd0d",
    {f"package/dist/{_ENTRY}": _ENTRY, "package/LICENSE": "LICENSE.txt"},
)
"""One file of 0.8 MB, which draws all but mind maps and architecture diagrams;
all of Mermaid is 26 MB.
"""
FETCHING = "fetch Mermaid, 0.8 MB"


def mermaid_key() -> list[object]:
    """Return what tells the archive in the user's cache from others;
    without one, it is tried again each time.
    """
    return [
        MERMAID.sha512,
        stamp_of(str(MERMAID.path)) if MERMAID.path.is_file() else time.time_ns(),
    ]


def mermaid_files(*, allowed: bool) -> tuple[dict[str, bytes], Diagnostic | None]:
    """Return what draws diagrams, by its path in the site,
    and why it is missing although it is `allowed`.
    """
    problem = MERMAID.fetched() if allowed else ""
    if not allowed or problem:
        message = f"diagrams are shown as source: {problem}"
        where = Location(".orbit/config.yaml")
        note = Diagnostic(MISSING, Severity.NOTE, message, where, MERMAID.hint) if problem else None
        return {f"{_FOLDER}{_ENTRY}": _NONE}, note

    return {f"{_FOLDER}{name}": content for name, content in MERMAID.unpacked()}, None
