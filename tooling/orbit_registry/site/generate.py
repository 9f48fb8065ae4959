"""Runs the generator over a staged tree, in a process of its own; what it complains about becomes diagnostics."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.output import replace_file
from orbit_registry.site.stage import CONFIG, DOCS, Staged

COMPLAINT = "ORB393"
STAMP = "generated.txt"
TIMEOUT_SECONDS = 1800
MKDOCS, ZENSICAL = "mkdocs", "zensical"
PACKAGES = {MKDOCS: "orbit-registry[site]", ZENSICAL: "zensical"}
_WARNING = re.compile(r"WARNING -\s+(.*)")


class GeneratorError(OrbitError):
    """The site generator failed."""

    exit_code = 3


def generate(staged: Staged, folder: Path, generator: str = MKDOCS) -> list[Diagnostic]:
    """Turn a staged tree into pages in `folder`, unless the same generator made them from this very tree.

    Raises:
        GeneratorError: the generator is missing, or failed; its last words are the message.
    """
    digest = f"{staged.digest} {generator}"
    stamp = folder.with_name(f"{folder.name}.{STAMP}")
    if stamp.is_file() and folder.is_dir():
        held = stamp.read_text("utf-8").split("\n")
        if held[:2] == [digest, _seal(folder)]:
            return [_diagnostic(line) for line in held[2:] if line]
    stamp.unlink(missing_ok=True)
    said = _run(generator, staged.folder / CONFIG, folder)
    warnings = [match[1].strip() for match in map(_WARNING.match, said.splitlines()) if match]
    replace_file(stamp, "\n".join([digest, _seal(folder), *warnings]).encode())
    return [_diagnostic(line) for line in warnings]


def _seal(folder: Path) -> str:
    """Return what tells the pages that were made here from others: a repository may bring pages of its own making.

    Inodes and change times are set by the kernel: who wrote the repository can't know what they will be here.
    """
    found = hashlib.blake2b(digest_size=16)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = f"{place}/{name}"
            info = os.lstat(file)
            said = f"{file}\0{info.st_mode} {info.st_ino} {info.st_ctime_ns} {info.st_size}\0"
            found.update(said.encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _run(generator: str, config: Path, folder: Path) -> str:
    # -P: a module of the folder we stand in is a stranger's, not the generator's.
    command = [sys.executable, "-P", "-m", generator, "build", "--config-file", str(config)]
    # Zensical writes where the configuration says, and keeps a cache of its own beside it.
    made = config.with_name("site")
    command += ["--site-dir", str(folder)] if generator == MKDOCS else ["--clean"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "0", "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        said = f"{generator} took more than {TIMEOUT_SECONDS} s"
        raise GeneratorError(
            said, hint="leave plugins that are slow out of mkdocs.yml, or mirror fewer documents"
        ) from None
    if done.returncode:
        last = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()][-3:]
        raise GeneratorError(
            f"{generator} failed: {' / '.join(last) or f'exit {done.returncode}'}",
            hint=f"install `{PACKAGES[generator]}`, which brings the generator"
            if "No module named" in done.stderr
            else f"`{generator} build --config-file {config}` says more",
        )
    if generator != MKDOCS:
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    return done.stderr + done.stdout


def _diagnostic(line: str) -> Diagnostic:
    named = re.search(r"'([^']+\.md)'", line)
    path = named[1] if named else f"{DOCS}/"
    return Diagnostic(COMPLAINT, Severity.WARNING, f"mkdocs: {line}", Location(path))
