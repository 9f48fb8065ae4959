"""Prints what a replay of a history of commits says of records before and after globs were proposed for them.

`replay.py FOLDER [SHARE]`: FOLDER holds `dot_orbit/` as another tool wrote it, `docs/` and `commits.jsonl`. Asked are
records as they were imported; with globs proposed from the first SHARE of the commits (0.75), which is what somebody
could have had then; with globs proposed from all of them, which knows the future. Each is replayed on the commits after
that share alone, the first and the last on all commits too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orbit_registry.analytics.replay_report import replay
from orbit_registry.importers.importer import import_from
from orbit_registry.registry import Registry

Commit = Mapping[str, Any]
COLUMNS = (
    "silent_share",
    "per_commit",
    "tokens",
    "citing",
    "precision",
    "by_chance",
    "recall",
    "reached",
    "shown",
    "of",
)


def repository(root: Path, source: Path, commits: Sequence[Commit]) -> None:
    """Make a repository with these commits, whose files are empty, and the collection taken over in its work tree."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    lines = []
    for number, commit in enumerate(commits):
        said = commit["subject"].encode()
        lines += [b"commit refs/heads/main", b"committer A <a@example.org> %d +0000" % (1_700_000_000 + number)]
        lines += [b"data %d" % len(said), said]
        lines += [
            b"M 644 inline %s\ndata 0\n" % json.dumps(file, ensure_ascii=False).encode() for file in commit["files"]
        ]
    git(root, "fast-import", "--quiet", content=b"\n".join(lines) + b"\n")
    git(root, "reset", "-q", "--hard", "main")
    shutil.rmtree(root / ".orbit", ignore_errors=True)
    shutil.copytree(source / "dot_orbit", root / ".orbit", copy_function=shutil.copyfile)
    shutil.copytree(source / "docs", root / "docs", copy_function=shutil.copyfile, dirs_exist_ok=True)
    for folder in (path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts):
        folder.chmod(0o755)
    git(root, "add", "-A", "-f")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "As it was")
    import_from(root, start=root)


def git(root: Path, *arguments: str, content: bytes | None = None) -> None:
    """Run git in a folder."""
    subprocess.run(["git", *arguments], cwd=root, check=True, input=content, capture_output=True)


def proposed(root: Path) -> int:
    """Give records without globs those that are proposed for them; returns how many records got some."""
    registry = Registry.open(root)
    found = registry.suggest_scopes()
    registry.add_globs(found, write=True)
    return sum(bool(one) for one in found.values())


def row(root: Path, file: Path, since: str | None) -> list[object]:
    """Return the figures of one replay."""
    data: Any = replay(Registry.open(root).workspace, since, file).as_data()
    cited = data["citations"]
    return [
        data["silent_share"], data["shown"]["mean"], data["tokens"]["mean"], cited["shown"], cited["shown_in_citing"],
        cited["precision_by_chance"], cited["scoped"], cited["reached"], data["records"]["shown"],
        data["records"]["could_be_shown"],
    ]  # fmt: skip


def main() -> None:
    """Build, propose, replay and print."""
    source, share = Path(sys.argv[1]).resolve(), float(sys.argv[2]) if len(sys.argv) > 2 else 0.75
    file = source / "commits.jsonl"
    commits = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    first = commits[: int(len(commits) * share)]
    since = first[-1]["commit"]
    print(f"{len(commits)} commits; the later ones are the {len(commits) - len(first)} since {first[-1]['date']}")
    print("records", "commits", *COLUMNS, sep="\t")
    with tempfile.TemporaryDirectory() as folder:
        late, whole = Path(folder) / "late", Path(folder) / "whole"
        repository(whole, source, commits)
        print("as imported", "all", *row(whole, file, None), sep="\t")
        print("as imported", "later", *row(whole, file, since), sep="\t")
        repository(late, source, first)
        count = proposed(late)
        print(f"{count} with globs from the first", "later", *row(late, file, since), sep="\t")
        count = proposed(whole)
        print(f"{count} with globs from all", "later", *row(whole, file, since), sep="\t")
        print(f"{count} with globs from all", "all", *row(whole, file, None), sep="\t")


if __name__ == "__main__":
    main()
