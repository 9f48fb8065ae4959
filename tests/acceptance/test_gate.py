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
from tests.acceptance.conftest import orbit
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
        for name, files in step.get("submodule", {}).items():
            self._add_submodule(name, files)
        if step.get("commit", True):
            self._commit(step)
        if "tag" in step:
            self.git(self.root, "tag", step["tag"])
        if "sparse" in step:
            self.git(self.root, "sparse-checkout", "set", "--no-cone", *step["sparse"])

    def _add_submodule(self, name: str, files: dict[str, str]) -> None:
        """Put another repository, with some files in one commit, into a folder."""
        folder = self.root / name
        self.git(self.root, "rm", "-rq", "--cached", "--ignore-unmatch", "--", name)
        if not (folder / ".git").exists():
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            folder.mkdir(parents=True, exist_ok=True)
            self.git(folder, "init", "-q")

        for path, text in files.items():
            write(folder, path, text)
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-qm", "Change")

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


@pytest.fixture
def nested(git_repo: Path, keys: Path, git: Git) -> Path:
    """Return a repository whose records are in `svc/`, on a branch of its own."""
    data = yaml.safe_load((CASES / "disarm.yaml").read_text("utf-8"))
    base = {f"svc/{name}": text for name, text in data["base"].items()}
    Change(git_repo, keys, git).make({"write": base})
    git(git_repo, "checkout", "-q", "-b", "work")
    return git_repo


@pytest.mark.parametrize("how", ["moved", "deleted", "nearer"])
def test_a_change_does_not_choose_where_its_records_are(
    nested: Path, keys: Path, git: Git, how: str
) -> None:
    write(nested, "svc/src/new.py", "import mysqldb\n")
    folder = nested / "svc"
    if how == "moved":
        (nested / "svc/.orbit").rename(nested / ".orbit")
    elif how == "deleted":
        shutil.rmtree(nested / "svc/.orbit")
        write(nested, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\n")
    else:
        folder = nested / "svc/src"
        write(folder, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\n")

    Change(nested, keys, git).make({})
    assert "at its base they are in svc/.orbit" in orbit(
        folder, "check", "--against", "main", code=1
    )


def test_records_in_a_folder_are_judged_where_they_are(nested: Path, keys: Path, git: Git) -> None:
    write(nested, "svc/src/new.py", "import psycopg\n")
    Change(nested, keys, git).make({})
    orbit(nested / "svc/src", "check", "--against", "main")


ABOVE: dict[str, tuple[dict[str, str], list[str]]] = {
    "a workflow": (
        {".github/workflows/gate.yml": "jobs: {a: {steps: [{run: make}]}}\n"},
        ["this change takes Orbit out of .github/workflows/gate.yml"],
    ),
    "requirements": (
        {"requirements-dev.txt": "-i https://forge.example\norbit-registry==0.1.0\n"},
        ["this change alters how requirements-dev.txt installs Orbit"],
    ),
    "attributes of the records": (
        {".gitattributes": "svc/.orbit/** -diff\n"},
        ["this change hides records from reviewers or merges them otherwise: .gitattributes"],
    ),
    "attributes of another folder": ({".gitattributes": "lib/** -diff\n"}, []),
    "another project": ({"lib/Makefile": "check:\n\ttrue\n"}, []),
}


@pytest.mark.parametrize("require", ["none", "signed"])
@pytest.mark.parametrize("name", ABOVE)
def test_files_above_the_records_start_orbit_too(
    nested: Path, keys: Path, git: Git, name: str, require: str
) -> None:
    written, expected = ABOVE[name]
    change = Change(nested, keys, git)
    git(nested, "checkout", "-q", "main")
    before = {
        ".github/workflows/gate.yml": "jobs: {a: {steps: [{run: orbit check}]}}\n",
        "requirements-dev.txt": "orbit-registry==0.1.0\n",
        "lib/Makefile": "check:\n\torbit check\n",
        "svc/.orbit/allowed_signers": "KEY-OF ada@example.org\n",
    }
    config = {"schema_version: 1\n": f"schema_version: 1\napproval: {{require: {require}}}\n"}
    change.make({"write": before, "edit": {"svc/.orbit/config.yaml": config}})

    for signer in ("", "ada@example.org"):
        git(nested, "checkout", "-qB", "work", "main")
        change.make({"write": written, "sign": signer})
        outcome = Registry.open(nested / "svc").check(against="main")
        found = [f"{row.severity.value} {row.message}" for row in outcome.diagnostics]
        level = "note" if signer or require == "none" else "error"
        messages = [f"{level} {words}" for words in expected]
        assert len(found) == len(messages)
        assert all(map(str.startswith, found, messages)), found


def test_the_base_of_two_branches_that_merged_each_other_is_the_target(
    git_repo: Path, keys: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = yaml.safe_load((CASES / "disarm.yaml").read_text("utf-8"))
    record = ".orbit/adrs/ADR-0001/adr.yaml"
    change = Change(git_repo, keys, git)
    change.make({"write": data["base"]})
    change.make({"edit": {record: {"level: error": "level: advice"}}})

    git(git_repo, "checkout", "-q", "-b", "work")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2038-01-01T00:00:00Z")
    change.make({"write": {"harmless.txt": "x\n"}})
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    git(git_repo, "tag", "w1")

    git(git_repo, "checkout", "-q", "main")
    change.make({"edit": {record: {"level: advice": "level: error"}}})
    git(git_repo, "tag", "m1")
    git(git_repo, "merge", "-q", "--no-edit", "w1")
    git(git_repo, "checkout", "-q", "work")
    git(git_repo, "merge", "-q", "--no-edit", "m1")

    weakened = {record: {"level: error": "level: advice"}}
    change.make({"edit": weakened, "write": {"src/new.py": "import mysqldb\n"}})
    assert "error ORB1008" in orbit(git_repo, "check", "--against", "main", code=1)
