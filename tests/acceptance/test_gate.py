"""The gate on changes that try to get past it, and on harmless ones: each case is data, and runs in
a real repository with the commit of the base and the commits of the change.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import write

from orbit_registry.registry import Registry

Git = Callable[..., str]
CASES = Path(__file__).resolve().parents[1] / "cases" / "gate"
SIGNERS = ("ada@example.org", "claude@agents.example.org", "eve@example.org")


def _cases() -> Iterator[Any]:
    for file in sorted(CASES.glob("*.yaml")):
        data = yaml.safe_load(file.read_text("utf-8"))
        for name, case in data["cases"].items():
            yield pytest.param(data["base"], case, id=f"{file.stem}: {name}")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an SSH key for each signer."""
    folder = tmp_path_factory.mktemp("keys")
    for name in SIGNERS:
        words = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            f"{folder}/{name}",
        ]
        subprocess.run(words, check=True)
    return folder


class Change:
    """Makes the steps of a case: each is one commit, unless it says otherwise."""

    def __init__(self, root: Path, keys: Path, git: Git) -> None:
        self.root, self.keys, self.git = root, keys, git

    def _text(self, text: str) -> str:
        for name in SIGNERS:
            if f"KEY-OF {name}" in text:
                key = (self.keys / f"{name}.pub").read_text("utf-8").strip()
                text = text.replace(f"KEY-OF {name}", f"{name} {key}")
        return text

    def make(self, step: dict[str, Any]) -> None:
        for old, new in step.get("move", {}).items():
            target = self.root / new
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(target)
        for name in step.get("remove", ()):
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, text in step.get("write", {}).items():
            write(self.root, name, self._text(text))
        for name, size in step.get("pad", {}).items():
            write(self.root, name, "#" * size + "\nimport mysqldb\n")
        for name, pairs in step.get("edit", {}).items():
            file = self.root / name
            text = file.read_text("utf-8")
            for old, new in pairs.items():
                assert old in text, f"{name} does not have {old!r}"
                text = text.replace(old, self._text(new))
            file.write_text(text, "utf-8")
        for name, form in step.get("encode", {}).items():
            file = self.root / name
            content = file.read_text("utf-8").encode(form["as"])
            file.write_bytes(bytes.fromhex(form.get("before", "")) + content)
        for name, target in step.get("link", {}).items():
            link = self.root / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        if step.get("commit", True):
            self._commit(step)

    def _commit(self, step: dict[str, Any]) -> None:
        signer = step.get("sign")
        words = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={self.keys}/{signer}"]
        sign = ["-S"] if signer else []
        author = step.get("author", "Ada Example <ada@example.org>")
        message = step.get("message", "Change")
        self.git(self.root, "add", "-A")
        commit = ["commit", "-q", "--allow-empty", f"--author={author}", "-m", message, *sign]
        self.git(self.root, *(words if signer else []), *commit)


@pytest.mark.parametrize(("base", "case"), [*_cases()])
def test_the_base_judges_the_change(
    base: dict[str, Any], case: dict[str, Any], git_repo: Path, keys: Path, git: Git
) -> None:
    change = Change(git_repo, keys, git)
    change.make({"write": base})
    if "before" in case:
        change.make(case["before"])
    git(git_repo, "checkout", "-qb", "work")
    steps = case["change"]
    for step in steps if isinstance(steps, list) else [steps]:
        change.make(step)

    against = "main"
    if "merge" in case:
        git(git_repo, "checkout", "-q", "main")
        git(git_repo, "merge", "-q", "--no-ff", "-m", case["merge"], "work")
        against = None
    outcome = Registry.open(git_repo).check(against=against)
    found = [f"{row.severity.value} {row.code} {row.message}" for row in outcome.diagnostics]
    expected = case.get("finds", [])
    missed = [words for words in expected if not any(row.startswith(words) for row in found)]
    more = [row for row in found if not any(row.startswith(words) for words in expected)]
    assert (missed, more) == ([], []), found
