"""Git of a project: running commands safely, questions about the work tree and revisions.

It never prompts.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from shlex import quote

from orbit_registry.errors import GitError, GitStoppedError, UnreadableHeadError, UsageError

_SETTINGS = (
    "-c",
    "core.quotepath=off",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "log.showSignature=false",
)
"""No query starts a program that the repository's configuration names."""
_VERIFIERS = (
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.x509.program=false",
    "gpg.ssh.program=ssh-keygen",
)
"""Programs that verify signatures: those of SSH alone, whose keys are in a file."""
_WORK_TREE_COMMANDS = frozenset(("status", "diff"))
"""Commands that read the work tree: through filters, and submodules with their own settings."""
_OBJECT_COMMANDS = (
    frozenset(("log", "cat-file", "diff-tree", "grep", "ls-tree")) | _WORK_TREE_COMMANDS
)
"""Commands that may need a missing object in a partial clone,
and fetch it with configured programs.
"""
_FILTER = re.compile(r"filter\..*\.(?:clean|smudge|process|required)", re.DOTALL)
_FETCHING = re.compile(
    r"core\.(?:sshcommand|gitproxy|askpass)|remote\..*\.(?:uploadpack|vcs)|credential\..*helper"
    r"|protocol\..*",
    re.DOTALL,
)
_REMOTE = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/]/?(?P<path>[^?#\s]+?)"
    r"(?:\.git)?/?\Z",
    re.IGNORECASE,
)
_PROGRAM_KEYS = (
    r"^(filter\.|core\.(sshcommand|gitproxy|askpass)$|remote\..*\.(uploadpack|vcs)$"
    r"|credential\.|protocol\.)"
)
_REVISION_NAME = re.compile(r"(?!refs/|-)(?:[^~^:@\s*?\[]|@(?!\{))+")
"""The name that a revision begins with."""
_NO_BRANCH = re.compile(r"@|(?:[A-Z]+_)*HEAD|[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Names that git takes for a commit before any branch or tag."""
_SPECIAL = re.compile(r"[\\*?\[\]]| (?= *\Z)")  # characters with a meaning in a pattern of git
_REPOSITORY_SCOPES = ("local", "worktree")
_BORROWED = ("objects", "shallow")
_NO_DOWNLOADS = (
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.required=false",
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
TIMEOUT_SECONDS = 120
_INDEX_VARIABLES = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")
_DEFAULT_BRANCHES = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
"""Candidates for the default branch; the first is a symbolic reference to it."""


def _run_git(
    arguments: Sequence[str],
    folder: Path,
    stdin: bytes | None = None,
    more: Mapping[str, str] | None = None,
    seconds: float = TIMEOUT_SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env={**os.environ, **_ENVIRONMENT, **(more or {})},
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed", hint="install git 2.20 or newer") from None
    except subprocess.TimeoutExpired:
        raise GitStoppedError(
            f"git took more than {seconds:g} s", hint="try again, or ask it by hand"
        ) from None

    if done.returncode < 0:
        raise GitStoppedError(
            f"git was killed by signal {-done.returncode}",
            hint="try again; is there enough memory?",
        )

    return done


_CAUSE = re.compile(r"(?:fatal|error|ERROR|ssh|remote): |Permission denied|\S+@\S+: Permission")
"""How the line of git begins that says why it failed; general advice may follow it."""


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    causes = filter(_CAUSE.match, lines)
    return next(causes, lines[-1] if lines else f"exit {done.returncode}")


def git_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return variables that give settings to git, after those that the environment gives."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), first):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value

    return variables


def uses_another_index() -> bool:
    """Say whether the environment gives git another index or repository, as in hooks."""
    return any(os.environ.get(name) for name in _INDEX_VARIABLES)


def ignore_pattern(path: str) -> str:
    """Return the `.gitignore` pattern that matches exactly this path."""
    return "/" + _SPECIAL.sub(r"\\\g<0>", path)


REFUSED = "git refuses to read this checkout, which another user owns"


def how_to_allow(git: "Git") -> str:
    """Return the command after which git reads a checkout of another user."""
    return f"`git config --global --add safe.directory {quote(str(git.folder))}`"


class Git:
    """The repository around a folder; questions are answered with None or nothing outside a
    repository.
    """

    def __init__(self, folder: Path, seconds: float = TIMEOUT_SECONDS) -> None:
        self.folder = folder
        self._seconds = seconds  # that one command may take

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        check: bool = True,
        settings: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return what `git arguments` prints.

        `settings` are pairs of `-c` and a setting, `variables` are of git's environment.
        """
        words = list(arguments)
        if words[0].startswith("-"):  # the guards depend on the first word
            raise ValueError("settings of git are given as `settings`")
        if words[0] in _WORK_TREE_COMMANDS:
            words.insert(1, "--ignore-submodules=dirty")

        environment = dict(variables or {})
        if words[0] in _OBJECT_COMMANDS:
            environment.update(self._guards)

        command = [*_SETTINGS, *settings, *words]
        done = _run_git(command, self.folder, stdin, environment, self._seconds)
        if not done.returncode:
            return done.stdout

        if check:
            hint = "`git status` and `git fsck` say whether the repository is whole"
            raise GitError(f"git {arguments[0]}: {_reason(done)}", hint=hint)

        return b""

    def run_fields(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        check: bool = True,
        settings: Sequence[str] = (),
    ) -> list[str]:
        """Return the NUL-separated fields that git prints, empty ones included."""
        answer = self.run(*arguments, stdin=stdin, check=check, settings=settings)
        return answer.decode("utf-8", "surrogateescape").split("\0")

    def run_names(
        self, *arguments: str, check: bool = True, settings: Sequence[str] = ()
    ) -> list[str]:
        """Return the NUL-separated names that git prints."""
        return list(filter(None, self.run_fields(*arguments, check=check, settings=settings)))

    def blobs(
        self, names: Iterable[str], check: bool = True, limit: int | None = None
    ) -> dict[str, bytes]:
        """Return the contents of blobs (hash or `REVISION:PATH`) in one call;
        missing ones are left out, and with a `limit` those of more bytes, which git doesn't send.
        """
        requested = [name for name in dict.fromkeys(names) if "\n" not in name]
        if limit is not None:
            sizes = self._answers("--batch-check=%(objectsize)", requested, check).splitlines()
            sized = zip(requested, sizes, strict=False)
            requested = [name for name, size in sized if size.isdigit() and int(size) <= limit]

        answer = self._answers("--batch", requested, check)
        if not answer:
            return {}

        contents: dict[str, bytes] = {}
        offset = 0
        for name in requested:
            end = answer.index(b"\n", offset)
            *_, kind, size = answer[offset:end].split(b" ")
            offset = end + 1
            if size.isdigit():
                if kind == b"blob":
                    contents[name] = answer[offset : offset + int(size)]
                offset += int(size) + 1

        return contents

    def contents(
        self, commit: str, paths: Iterable[str], limit: int | None = None
    ) -> dict[str, bytes]:
        """Return what files hold in a commit, by their names; see `blobs`."""
        names = {f"{commit}:{self.prefix}{path}": path for path in paths}
        blobs = self.blobs(names, check=False, limit=limit)
        return {names[name]: content for name, content in blobs.items()}

    def _answers(self, option: str, names: Sequence[str], check: bool) -> bytes:
        """Return what git says of objects, in the order of their names."""
        if not names:
            return b""

        lines = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        return self.run("cat-file", option, stdin=lines, check=check)

    def links(self) -> list[str]:
        """Return the symbolic links that git tracks."""
        return self._of_mode("120000")

    def submodules(self, paths: Iterable[str]) -> list[str]:
        """Return those of some paths that are submodules in the index."""
        folders = [path for path in paths if (self.folder / path).is_dir()]
        if not folders:
            return []

        return sorted(self._of_mode("160000", *(f":(literal){path}" for path in folders)))

    def _of_mode(self, mode: str, *names: str) -> list[str]:
        """Return what has a mode in the index, all of it or below some names."""
        rows = (row.partition("\t") for row in self.run_names("ls-files", "-s", "-z", "--", *names))
        return [path for head, _, path in rows if head.startswith(f"{mode} ")]

    def files_at(self, revision: str, *folders: str) -> dict[str, str]:
        """Return the plain files of a revision, below some folders,
        with the hashes of their blobs.
        """
        listed = self.run_names("ls-tree", "-r", "-z", revision, "--", *folders, check=False)
        rows = (row.partition("\t") for row in listed)
        return {path: head.split(" ")[2] for head, _, path in rows if head.startswith("100")}

    @cached_property
    def _guards(self) -> dict[str, str]:
        """The environment that turns off filters and fetch programs of the repository;
        those of the user stay.
        """
        words = ["config", "-z", "--show-scope", "--name-only", "--get-regexp", _PROGRAM_KEYS]
        completed = _run_git([*_SETTINGS, *words], self.folder)
        words = completed.stdout.decode("utf-8", "surrogateescape").split("\0")
        keys = [
            key
            for scope, key in zip(words[::2], words[1::2], strict=False)
            if scope in _REPOSITORY_SCOPES
        ]
        filters = filter(_FILTER.fullmatch, keys)
        off = {key: "false" if key.endswith(".required") else "" for key in filters}
        environment = git_settings(off) if off else {}
        if any(map(_FETCHING.fullmatch, keys)):
            environment["GIT_NO_LAZY_FETCH"] = "1"

        return environment

    def ask(self, *arguments: str) -> str | None:
        """Return git's output, stripped; None where it is empty, or git is missing or fails."""
        try:
            answer = self.run(*arguments, check=False).decode("utf-8", "replace").strip()
        except GitStoppedError:
            raise
        except GitError:
            return None
        return answer or None

    def origin(self) -> str | None:
        """Return the address of the remote that the repository was cloned from."""
        return self.ask("config", "--get", "remote.origin.url")

    def release(self) -> str | None:
        """Return the newest tag before HEAD."""
        return self.ask("describe", "--tags", "--abbrev=0")

    def web_addresses(self) -> frozenset[str]:
        """Return the web addresses of the remotes without scheme: `github.com/example/project`."""
        urls = (self.ask("config", "--get-regexp", r"^remote\..*\.url$") or "").splitlines()
        matches = (_REMOTE.match(url.partition(" ")[2]) for url in urls)
        return frozenset(
            f"{match['host']}/{match['path']}".casefold() for match in matches if match
        )

    @cached_property
    def top(self) -> Path | None:
        """The work tree's root, or None outside a repository."""
        if self._places[0]:
            return Path(self._places[0])

        return None

    @property
    def prefix(self) -> str:
        """The folder's path in its work tree with `/` at its end; empty at the root."""
        return self._places[1]

    @cached_property
    def _places(self) -> tuple[str, str]:
        # A folder's name may have a line break: the option in the middle marks where the first
        # answer ends.
        options = ("--show-toplevel", "--is-inside-work-tree", "--show-prefix")
        top, _, prefix = self._where(*options).partition("\ntrue\n")
        return top, prefix

    @cached_property
    def is_refused(self) -> bool:
        """Whether there is a repository that git refuses to read, for another user owns it."""
        if self.top is not None:
            return False

        try:
            done = _run_git([*_SETTINGS, "rev-parse", "--git-dir"], self.folder)
        except GitError:
            return False

        return b"dubious ownership" in done.stderr

    def _where(self, *options: str) -> str:
        try:
            return (
                self.run("rev-parse", *options, check=False)
                .decode("utf-8", "surrogateescape")
                .removesuffix("\n")
            )
        except GitStoppedError as error:
            raise GitStoppedError(
                f"can't tell where the repository is: {error.message}", hint=error.hint
            ) from None
        except GitError:
            return ""

    @cached_property
    def common_dir(self) -> Path | None:
        """The git folder that all work trees of the repository share."""
        answer = self._where("--path-format=absolute", "--git-common-dir")
        if answer:
            return Path(answer)

        return None

    @property
    def is_shallow(self) -> bool:
        """Say whether the clone is shallow."""
        return self.ask("rev-parse", "--is-shallow-repository") == "true"

    def require_git(self) -> None:
        """Refuse a machine without git, and a repository that git does not read for this user.

        Raises:
            GitError: It is so.
        """
        if self.is_refused:
            raise GitError(REFUSED, hint=how_to_allow(self))
        if self.top is None:
            _run_git(["--version"], self.folder)  # fails where there is no git

    def require(self) -> None:
        """Refuse a folder that is in no repository.

        Raises:
            GitError: There is no repository, or git can't read it.
        """
        self.require_git()
        if self.top is None:
            hint = "run it in a work tree of git, or make one: `git init`"
            raise GitError("there is no git repository here", hint=hint)

    def head(self) -> str | None:
        """Return the commit checked out; None before the first one and outside a repository."""
        if self.top is None:
            return None

        reading = ("rev-parse", "--verify", "--quiet")
        try:
            commit = self.run(*reading, "HEAD^{commit}", check=False).decode().strip()
            if commit:
                return commit
            is_unborn = not self.run(*reading, "HEAD", check=False) and self.run(
                "symbolic-ref", "HEAD", check=False
            )
        except GitError as error:
            raise UnreadableHeadError(
                f"HEAD can't be read: {error.message}", hint=error.hint
            ) from None

        if is_unborn:
            return None

        hint = "`git fsck` says what is missing; fetch it, or clone the repository again"
        raise UnreadableHeadError(
            "HEAD can't be read: the commit that it names is not in the repository", hint=hint
        )

    def require_commit(self) -> None:
        """Refuse a repository without a commit.

        Raises:
            GitError: There is no repository, or git can't read it.
            UsageError: There is no commit in it.
        """
        self.require()
        if self.head() is None:
            raise self.names_no_commit("HEAD")

    def commit(self, revision: str) -> str | None:
        """Return the hash of the commit that a revision names: a branch before a tag of its name,
        which anyone who pushes may make.
        """
        name = _REVISION_NAME.match(revision)
        if name is not None and not _NO_BRANCH.fullmatch(name[0]):
            refs = [f"refs/{kind}/{name[0]}" for kind in ("tags", "heads", "remotes")]
            there = (self.ask("for-each-ref", "--format=%(refname)", *refs) or "").split("\n")
            branch = next((ref for ref in refs[1:] if ref in there), None)
            if branch is not None and refs[0] in there:
                revision = branch + revision[name.end() :]

        return self.ask(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )

    def names_no_commit(self, revision: str) -> UsageError:
        """Return the error about a revision that names no commit."""
        if self.top is not None and self.head() is None:
            hint = "make the first one: `git add -A`, then `git commit -m Start`"
            return UsageError("there is no commit here yet", hint=hint)

        if not revision.strip():
            hint = "name a branch or commit: `main`; a shell variable may be unset"
            return UsageError("the name of a commit is empty", hint=hint)

        hint = "fetch it first, or name a branch or commit you have"
        return UsageError(f"{revision!r} names no commit here", hint=hint)

    def merge_base(self, revision: str, head: str = "HEAD") -> str | None:
        """Return the merge base of two revisions.

        Where both sides merged each other there are several: then it is the newest of them in the
        line of first parents of `revision`, which the change can't move.
        """
        revision = self.commit(revision) or revision
        bases = (self.ask("merge-base", "--all", head, revision) or "").split()
        if len(bases) < 2:
            return next(iter(bases), None)

        line = (self.ask("rev-list", "--first-parent", revision) or "").split()
        return next((commit for commit in line if commit in bases), bases[0])

    def default_branch(self) -> str | None:
        """Return the branch that others merge into, as an existing revision."""
        return (self.default_tip() or (None, ""))[0]

    def default_tip(self) -> tuple[str, str] | None:
        """Return the hash of the default branch's commit, and the branch."""
        form = "--format=%(refname) %(objectname) %(symref)"
        answer = self.ask("for-each-ref", form, *_DEFAULT_BRANCHES) or ""
        tips: dict[str, tuple[str, str]] = {}
        for name, commit, *targets in map(str.split, answer.splitlines()):
            branch = name
            if name == _DEFAULT_BRANCHES[0]:
                branch = next(iter(targets), "")
            if branch:
                tips[name] = branch, commit

        return next((tips[name] for name in _DEFAULT_BRANCHES if name in tips), None)

    def tracked(self) -> list[str] | None:
        """Return the tracked files below the folder, sorted; None outside a repository."""
        if self.top is None:
            return None
        return sorted(self.run_names("ls-files", "-z"))

    @cached_property
    def not_checked_out(self) -> frozenset[str]:
        """The tracked files that a sparse checkout leaves out of the work tree, from the folder."""
        if self.top is None:
            return frozenset()

        rows = self.run_names("ls-files", "-t", "-z", check=False)
        return frozenset(row[2:] for row in rows if row.startswith("S "))

    def untracked(self, *, without: Iterable[str] = ()) -> list[str]:
        """Return the untracked files that are not ignored, sorted;
        folders `without` are skipped.
        """
        return sorted(self.run_names("ls-files", "-z", *self._others(without)))

    def _others(self, without: Iterable[str]) -> list[str]:
        """Return the options of `git ls-files` that list untracked files."""
        skipped = [f"--exclude={ignore_pattern(f'{self.prefix}{folder}')}/" for folder in without]
        return ["--others", "--exclude-standard", *skipped]

    def files(self, *, without: Iterable[str] = ()) -> tuple[list[str] | None, list[str]]:
        """Return the tracked files, None where git lists none,
        and the untracked ones that it would add.
        """
        if self.top is None:
            return None, []

        try:
            rows = self.run_names("ls-files", "-t", "-z", "--cached", *self._others(without))
        except GitStoppedError:
            raise
        except GitError:
            return None, []

        # Each name is behind a letter and a space.
        tracked = [row[2:] for row in rows if row[0] != "?"]
        untracked = [row[2:] for row in rows if row[0] == "?"]
        return sorted(tracked), sorted(untracked)

    def differing(self, *words: str, check: bool = True) -> list[str]:
        """Return the files below the folder that differ between two states, as `git diff` takes
        them; a move is a file that goes and one that comes.
        """
        options = ("--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff")
        return self.run_names("diff", *options, *words, check=check)

    def unlike_head(self, *, untracked: bool = True) -> list[str]:
        """Return the files below the folder that differ from the commit checked out, deleted and
        untracked ones among them.
        """
        listed = "all" if untracked else "no"
        options = ("--porcelain=v1", "-z", "--no-renames", f"--untracked-files={listed}")
        rows = self.run_names("status", *options, "--", ".")
        prefix = self.prefix
        return [row[3 + len(prefix) :] for row in rows if row.startswith(prefix, 3)]

    def ignore_line(self, path: Path) -> str | None:
        """Return the `.gitignore` line for an untracked path;
        None where it is tracked or ignored already.
        """
        if self.top is None or not path.is_relative_to(self.top):
            return None

        name = path.relative_to(self.top).as_posix()
        options = (
            "--others",
            "--exclude-standard",
            "--directory",
            "--full-name",
            "-z",
            "--",
            f":(literal,top){name}",
        )

        first = self.run_fields("ls-files", *options, check=False)[0]
        if first.removesuffix("/") != name:
            return None
        return ignore_pattern(first)

    def read(self, revision: str, path: str) -> bytes | None:
        """Return a file's content at a revision."""
        object_name = f"{revision}:{self.prefix}{path}"
        blob = self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", object_name)
        if blob is None:
            return None
        return self.run("cat-file", "blob", blob)

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """Yield the folder at a commit, in a temporary repository that borrows this one's
        objects.
        """
        import tempfile  # rarely needed and slow to import

        if uses_another_index():
            raise GitError("git looks at another index here", hint="run it outside of a hook")

        borrowed = (self.ask("rev-parse", "--git-path", file_name) or "" for file_name in _BORROWED)
        objects, shallow = (self.folder / name for name in borrowed)
        form = self.ask("rev-parse", "--show-object-format") or "sha1"
        with tempfile.TemporaryDirectory(prefix="orbit-check-") as name:
            root = Path(name).resolve()
            copy = Git(root)
            store = root / ".git"
            options = ["--template="]
            if form != "sha1":
                options.append(f"--object-format={form}")
            copy.run("init", "-q", *options)

            (store / "objects/info").mkdir(exist_ok=True)
            (store / "objects/info/alternates").write_bytes(os.fsencode(objects.resolve()) + b"\n")

            if shallow.is_file():
                (store / "shallow").write_bytes(shallow.read_bytes())

            copy.run("symbolic-ref", "HEAD", "refs/heads/main")
            copy.run("update-ref", "HEAD", commit)

            try:
                copy.run("reset", "-q", "--hard", settings=_NO_DOWNLOADS)
            except GitError as error:
                if not self.ask("config", "--get-regexp", r"^remote\..*\.promisor$"):
                    raise
                hint = "`git fetch --refetch --no-filter` fetches them"
                raise type(error)(
                    f"this partial clone lacks files of {commit[:12]}", hint=hint
                ) from None

            yield root / self.prefix

    def signatures(
        self, commits: Sequence[str], allowed_signers: Path
    ) -> Iterator[tuple[str, str, str]]:
        """Yield commits with git's verdict on their SSH signature (`G` is good),
        by no program of the repository.
        """
        if not commits:
            return

        settings: list[str] = []
        for setting in (f"gpg.ssh.allowedSignersFile={allowed_signers}", *_VERIFIERS):
            settings += ("-c", setting)

        form = "--format=%H%x00%G?%x00%GS%x00"
        fields = self.run_fields(
            "log", "--no-walk=unsorted", form, *commits, "--", settings=settings
        )
        rows = [field.strip("\n") for field in fields]
        yield from zip(rows[::3], rows[1::3], rows[2::3], strict=False)

    def names_on_refs(self, path: str) -> dict[str, list[str]]:
        """Return the names directly in a folder on each local and remote-tracking branch
        and tag.
        """
        listed_refs = self.ask(
            "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags"
        )
        refs = (listed_refs or "").split()
        folder = f"{self.prefix}{path}"  # the configuration refuses one with a line break
        queries = "".join(f"{ref}:{folder}\n" for ref in refs)
        lines = self.run(
            "cat-file",
            "--batch-check=%(objecttype) %(objectname)",
            stdin=queries.encode("utf-8", "surrogateescape"),
        ).splitlines()
        trees = [line[5:].decode() if line.startswith(b"tree ") else "" for line in lines]

        # Without `--full-tree` git looks for the current folder in each tree.
        words = ("ls-tree", "--full-tree", "--name-only", "-z")
        listed = {tree: self.run_names(*words, tree) for tree in set(filter(None, trees))}
        return {ref: listed.get(tree, []) for ref, tree in zip(refs, trees, strict=True)}


def merge_lines(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """Merge three texts line by line as git does;
    return the text and whether it has conflict markers.
    """
    import tempfile  # rarely needed and slow to import

    with tempfile.TemporaryDirectory(prefix="orbit-merge-") as name:
        labels: list[str] = []
        files: list[str] = []
        for side, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            file = Path(name) / side
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
            labels += ("-L", side)
            files.append(str(file))

        style = ("-c", "merge.conflictStyle=merge")
        done = _run_git([*style, "merge-file", "-p", *labels, *files], Path(name))

    if done.returncode > 127:
        reason = _reason(done).replace(f"{name}{os.sep}", "")
        raise GitError(
            f"git merge-file: {reason}", hint="merge the file by hand, then `git add` it"
        )

    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode > 0
