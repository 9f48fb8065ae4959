"""Clones that know nothing of each other's work, for the merges of this folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit

from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry

PULL = ("pull", "-q", "--no-rebase", "--no-edit")


class Clone:
    """A repository with a workspace, and what people do in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def orbit(self, *arguments: str, code: int = 0) -> str:
        return orbit(self.path, *arguments, code=code)

    @property
    def registry(self) -> Registry:
        return Registry.open(self.path)

    def add(self, title: str, style: str = "file") -> str:
        level = "##" if style == "file" else "###"
        parts = {"Context": f"{title}?", "Decision": f"{title}.", "Consequences": "- Cost: work."}
        body = "\n\n".join(f"{level} {name}\n\n{output}" for name, output in parts.items()) + "\n"
        feature = "registry" if style == "log" else None
        return self.registry.add_adr(
            NewAdr(title, feature=feature, style=style, status="accepted", body=body)
        ).record.id

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def conflict(self, *arguments: str) -> None:
        """Run git (a pull, if nothing is said) and see it stop at a conflict."""
        command = ["git", *(arguments or PULL)]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=False)
        assert done.returncode != 0, done.stdout
        assert "CONFLICT" in done.stdout + done.stderr

    def take(self, work: Callable[[], object]) -> str:
        """Do some work on a branch that nobody sees, forget the numbers it took,
        and return its commit.
        """
        claims = Path(
            self.git("rev-parse", "--path-format=absolute", "--git-path", "orbit/adr.json").strip()
        )
        before = claims.read_bytes()
        self.git("switch", "-q", "-c", "hidden")
        work()
        self.commit("Hidden work")
        tip = self.git("rev-parse", "HEAD").strip()
        self.git("switch", "-q", "main")
        self.git("branch", "-q", "-D", "hidden")
        claims.write_bytes(before)
        return tip

    def ids(self) -> dict[str, str]:
        return {record.id: record.title for record in self.registry.records}

    def read(self, path: str) -> str:
        return (self.path / path).read_text("utf-8")

    @property
    def log(self) -> Path:
        """The log that decisions of style `log` go to."""
        return self.path / "docs" / "design" / "registry" / "4_decisions.md"

    def headings(self) -> list[str]:
        return [
            line.split(" ")[1]
            for line in self.log.read_text("utf-8").splitlines()
            if line.startswith("## ")
        ]


@pytest.fixture
def at() -> type[Clone]:
    """Return what makes a folder a `Clone`."""
    return Clone


@pytest.fixture
def origin(git_repo: Path) -> Clone:
    Registry.init(git_repo)
    clone = Clone(git_repo)
    clone.add("Keep prose in one place")
    clone.add("Store records as YAML", "log")
    clone.git("add", "-A")
    Registry.init(git_repo)  # a log that git has brings the line of its merge driver
    (git_repo / "src").mkdir()
    (git_repo / "src" / "app.py").write_text(
        "# keeps ADR-0001\nvalue = 1\n\n\n\n\n\nother = 2\n", "utf-8"
    )
    clone.commit("Set up")
    return clone


@pytest.fixture
def clones(origin: Clone, tmp_path: Path) -> tuple[Clone, Clone]:
    """Return two clones of it that know nothing of each other's work,
    the merge driver set up in both.
    """
    origin.git("config", "receive.denyCurrentBranch", "updateInstead")
    result = []
    for name in ("ours", "theirs"):
        origin.git("clone", "-q", str(origin.path), str(tmp_path / name))
        Registry.init(tmp_path / name)
        result.append(Clone(tmp_path / name))
    return result[0], result[1]
