"""State of a merge in git: the operation, three versions of each file, and the records they hold.

It is read from the index's stages and from commits, never from conflict markers in the work tree.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from orbit_registry.errors import GitError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.operations.citation_rewrite import lines_at
from orbit_registry.workspace.files import DOCUMENT_LIMIT
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

Side = Literal["base", "ours", "theirs"]
SIDES: tuple[Side, ...] = ("base", "ours", "theirs")
"""In the order of the index's stages 1, 2 and 3. During a rebase, `ours` is the branch that is rebased onto."""
_OPERATIONS = (("cherry-pick", "CHERRY_PICK_HEAD"), ("merge", "MERGE_HEAD"), ("revert", "REVERT_HEAD"))


@dataclass(frozen=True)
class MergeState:
    """A merge under way. Paths are from the workspace's root."""

    git: Git
    operation: str | None
    commits: Mapping[Side, str | None]
    """The commit of each side; None where the operation names none (a stash, a squash)."""
    unmerged: Mapping[str, Mapping[Side, str]]
    """Path → side → blob, for each path that git could not merge."""
    _texts: dict[tuple[Side, str], str | None] = field(default_factory=dict, repr=False)

    def text(self, side: Side, path: str) -> str | None:
        """Return a file's text on one side, line ends as the work tree has them; None where it has none."""
        key = (side, path)
        if key not in self._texts:
            self._texts[key] = self._read(side, path)
        return self._texts[key]

    def _read(self, side: Side, path: str) -> str | None:
        stages = self.unmerged.get(path)
        commit = self.commits[side]
        object_name = (
            stages.get(side) if stages is not None else f"{commit}:{self.git.prefix}{path}" if commit else None
        )
        if object_name is None:
            return None
        try:
            data = self.git.run("cat-file", "--filters", f"--path={self.git.prefix}{path}", object_name)
        except GitError:
            return None
        return data.decode("utf-8", "surrogateescape")

    def is_oversized(self, path: str) -> bool:
        """Say whether one side's version of an unmerged file is larger than what is read as a document."""
        return any(len(self.text(side, path) or "") > DOCUMENT_LIMIT for side in self.unmerged.get(path, ()))

    def files_below(self, side: Side, folder: str) -> list[str]:
        """Return the files of a folder on one side, from the root."""
        staged = {path for path, stages in self.unmerged.items() if path.startswith(f"{folder}/") and side in stages}
        commit = self.commits[side]
        if commit:
            names = self.git.run_names("ls-tree", "-r", "-z", "--name-only", commit, "--", f"{folder}/", check=False)
            staged |= {name for name in names if name not in self.unmerged}
        return sorted(staged)

    def path_of_uid(self, side: Side, uid: str, folder: str) -> str | None:
        """Return the record file below a folder that has a uid on one side."""
        for path, stages in self.unmerged.items():
            if path.startswith(f"{folder}/") and side in stages and uid_in(self.text(side, path)) == uid:
                return path
        commit = self.commits[side]
        if not commit:
            return None
        arguments = ("grep", "-l", "-z", "-F", "--no-color", "-e", uid, commit, "--", folder)
        settings = ("-c", "grep.fullName=false")
        matches = self.git.run_names(*arguments, settings=settings, check=False)
        names = [name.removeprefix(f"{commit}:") for name in matches]
        return next((name for name in names if uid_in(self.text(side, name)) == uid), None)

    def lines(self, patterns: Iterable[str]) -> Mapping[Side, Mapping[str, set[str]]]:
        """Return, for each side and file, the lines that match a pattern.

        Where an operation names no commit for `theirs`, its lines are those of the index that `ours` lacks.
        """
        expressions = list(patterns)
        result: dict[Side, dict[str, set[str]]] = {}
        for side in SIDES:
            commit = self.commits[side]
            result[side] = lines_at(self.git, commit, expressions) if commit else {}
        if self.commits["theirs"] is None:
            our_lines = result["ours"]
            index = lines_at(self.git, None, expressions)
            result["theirs"] = {path: lines - our_lines.get(path, set()) for path, lines in index.items()}
        for path, stages in self.unmerged.items():
            for side in stages:
                text = self.text(side, path) or ""
                result[side][path] = {line.rstrip("\r") for line in text.split("\n")}
        return result


def rebased_tip(git: Git) -> str | None:
    """Return the commit that a rebase under way started from: the tip of the branch as it was."""
    for name in ("rebase-merge/orig-head", "rebase-apply/orig-head"):
        where = git.ask("rev-parse", "--path-format=absolute", "--git-path", name)
        if where and Path(where).is_file():
            return git.commit(Path(where).read_text(encoding="ascii", errors="replace").strip())
    return None


def read_merge(workspace: Workspace) -> MergeState:
    """Return the merge under way; one without unmerged paths and operation where there is none."""
    git = workspace.git
    if git.top is None:
        message = "this is no git repository, so there is nothing to resolve"
        raise GitError(message, hint="run it in the clone where the merge stopped")
    operation, theirs, base = _operation(git)
    ours = git.head()
    if theirs and base is None and operation == "merge":
        base = git.ask("merge-base", "HEAD", theirs)
    commits: dict[Side, str | None] = {"base": base, "ours": ours, "theirs": theirs}
    return MergeState(git, operation, commits, _unmerged(git))


def _operation(git: Git) -> tuple[str | None, str | None, str | None]:
    """Return the operation under way, the commit it brings in, and that commit's base where it is known."""
    for folder in ("rebase-merge", "rebase-apply"):
        where = git.ask("rev-parse", "--path-format=absolute", "--git-path", folder)
        if where and Path(where).is_dir():
            picked = git.commit("REBASE_HEAD")
            return "rebase", picked, git.commit(f"{picked}^") if picked else None
    for name, ref in _OPERATIONS:
        commit = git.commit(ref)
        if commit and name == "merge":
            return name, commit, None
        if commit and name == "revert":
            return name, git.commit(f"{commit}^"), commit
        if commit:
            return name, commit, git.commit(f"{commit}^")
    return None, None, None


def _unmerged(git: Git) -> dict[str, dict[Side, str]]:
    stages_of: dict[str, dict[Side, str]] = {}
    for row in git.run_names("ls-files", "-u", "-z"):
        facts, _, path = row.partition("\t")
        mode, blob, stage = facts.split(" ")
        if mode.startswith("100"):
            stages_of.setdefault(posixpath.normpath(path), {})[SIDES[int(stage) - 1]] = blob
        else:
            stages_of.setdefault(posixpath.normpath(path), {})
    return stages_of


def uid_in(text: str | None) -> str | None:
    """Return the uid in a record file's text; None where there is none."""
    data = data_in(text)
    uid = data.get("uid") if data is not None else None
    return uid if isinstance(uid, str) else None


def data_in(text: str | None) -> dict[str, object] | None:
    """Return the mapping in a record file's text; None where it holds none."""
    if text is None:
        return None
    try:
        data = load(text)
    except YamlProblemError:
        return None
    return data if isinstance(data, dict) else None
