"""Run of the generator over a staged tree, in another process; its warnings become diagnostics."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.compiled import MKDOCS
from orbit_registry.site.config import digest_of_tree
from orbit_registry.site.stage import StagedSite
from orbit_registry.site.stage_config import CONFIG, DOCS
from orbit_registry.workspace.cache import Cache

COMPLAINT = "SITE393"
TIMEOUT_SECONDS = 1800
PROPERDOCS, ZENSICAL = "properdocs", "zensical"
PACKAGES = {
    MKDOCS: "orbit-registry[site]",
    PROPERDOCS: "properdocs mkdocs-materialx",
    ZENSICAL: "zensical",
}
_WARNING = re.compile(r"WARNING -\s+(.*)")


class GeneratorError(OrbitError):
    """The site generator failed."""

    exit_code = 3


def generate(
    values: Cache, staged: StagedSite, folder: Path, generator: str = MKDOCS
) -> list[Diagnostic]:
    """Turn a staged tree into pages in `folder`,
    unless the same generator made them from this very tree.
    """
    namespace, key = f"site generated {folder}", f"{staged.digest} {generator}"
    stored = values.recall(namespace, key)
    # A repository may bring such pages: ours are recognised by their content.
    if stored is None or stored["pages"] != digest_of_tree(folder):
        output = _run(generator, staged.folder / CONFIG, folder)
        warnings = [match[1].strip() for match in map(_WARNING.match, output.splitlines()) if match]
        stored = {"pages": digest_of_tree(folder), "warnings": warnings}
        values.remember(namespace, key, stored)

    return [_diagnostic(line) for line in stored["warnings"]]


def _run(generator: str, config: Path, folder: Path) -> str:
    # -P: no module of the current folder may replace one of the generator's.
    command = [sys.executable, "-P", "-m", generator, "build", "--config-file", str(config)]
    # Zensical writes to the `site_dir` of the configuration, and its cache next to that.
    built = config.with_name("site")
    command += ["--clean"] if generator == ZENSICAL else ["--site-dir", str(folder)]
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "SOURCE_DATE_EPOCH": "0",
        "PYTHONUTF8": "1",
    }

    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        hint = "leave plugins that are slow out of mkdocs.yml, or mirror fewer documents"
        raise GeneratorError(f"{generator} took more than {TIMEOUT_SECONDS} s", hint=hint) from None

    if done.returncode:
        last = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()][-3:]
        hint = f"`{generator} build --config-file {config}` says more"
        if "No module named" in done.stderr:
            hint = f"install `{PACKAGES[generator]}`, which brings the generator"

        raise GeneratorError(
            f"{generator} failed: {' / '.join(last) or f'exit {done.returncode}'}", hint=hint
        )

    if generator == ZENSICAL:
        shutil.rmtree(folder, ignore_errors=True)
        built.rename(folder)

    return done.stderr + done.stdout


def _diagnostic(line: str) -> Diagnostic:
    match = re.search(r"'([^']+\.md)'", line)
    path = match[1] if match else f"{DOCS}/"
    return Diagnostic(COMPLAINT, Severity.WARNING, f"mkdocs: {line}", Location(path))
