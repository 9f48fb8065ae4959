"""Workspace: the `.orbit/` around a folder, its paths, configuration and kinds;
the user's own folders.
"""

import hashlib
import os
import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from orbit_registry.errors import (
    ConfigError,
    ForeignWorkspaceError,
    OrbitError,
    UsageError,
    WorkspaceNotFoundError,
    WriteError,
)
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.hook import files as hook_files
from orbit_registry.hook.other_paths import place_of
from orbit_registry.model.kind import Kind, KindTable, load_kinds
from orbit_registry.workspace.cache import Cache, code_version, digest
from orbit_registry.workspace.config import FOREIGN_HINT, Config, read_config
from orbit_registry.workspace.files import inside, read_text, resolved, write_error
from orbit_registry.workspace.git import Git

_NAME = "orbit-registry"
_NO_HOME = Path("/nonexistent")
LONGEST_NAME = 255
"""Bytes of a name in a path that a file system takes."""
_LOOKED_AT = 20
"""Files that are read to tell whose records an `.orbit/` without a configuration has."""


def user_cache() -> Path:
    """Return this program's folder in the user's cache, by the XDG specification."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = configured if configured.is_absolute() else user_home() / ".cache"
    return folder / _NAME


def user_home() -> Path:
    """Return the user's home; a folder that does not exist where there is none,
    as in some containers.
    """
    try:
        home = Path.home()
    except RuntimeError:
        return _NO_HOME
    if home.is_absolute():
        return home

    return _NO_HOME


def is_writable(path: Path) -> bool:
    """Say whether permissions allow a file at a path, by its nearest existing folder."""
    nearest = path
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent

    if nearest.is_dir():
        return os.access(nearest, os.W_OK | os.X_OK)

    return nearest == path  # below a file nothing can be


def checkout_cache(root: Path) -> Path | None:
    """Return the folder for a checkout in the user's cache;
    None where no file can be written there.
    """
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    folder = user_cache() / "checkouts" / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None

    is_private = folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o002
    if not is_private or not is_writable(folder):
        return None
    return folder


ORBIT = ".orbit"
CONFIG = f"{ORBIT}/config.yaml"
RESERVED_NAMES = frozenset(
    (
        "config.yaml",
        "baseline.yaml",
        "enforcement.yaml",
        "schemas",
        "state",
        "inbox",
        "kinds",
        "imported-from-orbit",
        "inherited",
        ".gitignore",
    )
)
"""Names in `.orbit/` that are no folder of a kind."""
INHERITED = f"{ORBIT}/inherited"  # folder of the copies of what `extends` names
CACHE = f"{ORBIT}/state/cache"  # folder of derived files in a writable checkout
DEFAULT_BRANCH = "default-branch"  # the value of `push.trust` that trusts the default branch alone


@dataclass(frozen=True)
class Workspace:
    """A project with an `.orbit/`: its paths, configuration and kinds."""

    root: Path
    config: Config = field(repr=False)
    kinds: KindTable = field(repr=False)

    @property
    def orbit(self) -> Path:
        """The folder of records."""
        return self.root / ORBIT

    @property
    def state(self) -> Path:
        """Derived and local files, ignored by git."""
        return self.orbit / "state"

    @cached_property
    def cache_folder(self) -> Path:
        """Folder of files that may be deleted at any time;
        in the user's cache for a read-only checkout.
        """
        here = self.root / CACHE
        has_file_in_the_way = self.state.is_file()  # the writer says so
        if is_writable(here) or has_file_in_the_way:
            return here

        return checkout_cache(self.root) or here

    @property
    def private(self) -> Path:
        """Folder that no clone can bring: in git's folder, else the state."""
        git_dir = git_folder(self.root)
        if git_dir is None:
            return self.state
        return git_dir / "orbit"

    @cached_property
    def cache(self) -> Cache:
        """The cache of derived values, in a folder that no clone can bring."""
        folder = git_folder(self.root)
        cache_dir = folder / "orbit" if folder is not None else None
        if cache_dir is None or not is_writable(cache_dir):
            cache_dir = checkout_cache(self.root)
        file = cache_dir / f"cache{self._part}.sqlite" if cache_dir is not None else None
        return Cache(file, f"{code_version()} {self.kinds.fingerprint}")

    @property
    def _part(self) -> str:
        """What tells this workspace from others in the same repository,
        whose files have the same names.
        """
        if (self.root / ".git").exists():
            return ""
        return f"-{digest(str(self.root))[:8]}"

    @property
    def journal(self) -> Path:
        """Folder of unfinished steps."""
        if self.private == self.state:
            return self.state / "journal"
        return self.private / f"journal{self._part}"

    @property
    def inbox(self) -> Path:
        """Records waiting for review."""
        folder = self.state if self.config.inbox == "local" else self.orbit
        return folder / "inbox"

    @property
    def baseline(self) -> Path:
        """Findings that were there at adoption."""
        return self.orbit / "baseline.yaml"

    @property
    def lock(self) -> Path:
        """The lock that every writer holds."""
        return self.state / "write.lock"

    @property
    def name(self) -> str:
        """The project's name."""
        return self.config.project or self.root.name

    @cached_property
    def git(self) -> Git:
        """The repository around the root."""
        return Git(self.root)

    def default_commit(self) -> str:
        """Return the commit of the default branch; empty where there is none."""
        if self.git.top is None:
            return ""
        tip = self.git.default_tip()
        if tip is not None:
            return tip[1]

        return ""

    @property
    def trusts_only_default_branch(self) -> bool:
        """Whether the configuration trusts the default branch alone."""
        return bool(self.config.setting("push", "trust") == DEFAULT_BRANCH)

    def default_branch_trusts_only_itself(self, commit: str) -> bool:
        """Say the same of the default branch's configuration, which a pull request can't change."""
        if not commit:
            return False

        content = self.git.read(commit, CONFIG)
        try:
            data = load((content or b"").decode("utf-8"))
        except (YamlProblemError, UnicodeDecodeError):
            return False
        push = data.get("push") if isinstance(data, dict) else None
        return isinstance(push, dict) and push.get("trust") == DEFAULT_BRANCH

    def folder_of(self, kind: Kind, *, pending: bool = False) -> Path:
        """Return the folder of a kind's records."""
        folder = self.inbox if pending else self.orbit
        return folder / kind.plural

    def relative(self, path: Path) -> str:
        """Return a path from the root with `/`; one outside unchanged."""
        if not path.is_relative_to(self.root):
            return str(path)
        return path.relative_to(self.root).as_posix()


def project_path(text: str) -> str:
    """Return a path from the root in normal form; a "/" at its end stays, "" is the root."""
    refuse_no_path(text)
    pure = PurePosixPath(text)
    if pure.is_absolute() or ".." in pure.parts:
        raise UsageError(
            f"{text!r} does not stay inside the project", hint="name paths from the project's root"
        )
    if not pure.parts:
        return ""
    if text.endswith(("/", "/.")):
        return f"{pure}/"

    return str(pure)


def refuse_empty_path(path: str) -> None:
    """Raise where a person names no path: a variable of the shell is not set."""
    if not path.strip():
        hint = "`.` is the folder you are in; a shell variable may be unset"
        raise UsageError("a path is empty", hint=hint)


def refuse_no_path(path: str) -> None:
    """Raise where no file can have a path."""
    hint = "name paths from the project's root"
    if "\0" in path:
        raise UsageError("a path has a zero byte", hint=hint)

    longest = max(len(name.encode("utf-8", "surrogatepass")) for name in path.split("/"))
    if longest > LONGEST_NAME:
        message = f"a name in a path has {longest:,} bytes; at most {LONGEST_NAME} are possible"
        raise UsageError(message, hint=hint)


def path_from_root(root: Path, here: Path, path: str) -> str:
    """Return a path given from a folder as one from the root;
    links of folders are followed, a last `/` stays. A file of another work tree of the repository
    has the path that it has here.
    """
    refuse_no_path(path)
    if "\\" in path and not (here / path).exists():
        path = path.replace("\\", "/")  # as Windows writes it

    target = here / path
    has_name = PurePosixPath(path).name not in ("", "..", ".")
    real = resolved(target.parent) / target.name if has_name else resolved(target)
    if not real.is_relative_to(root):
        inside = place_of(str(root), str(here / path))
        if inside:
            return inside  # it is in another work tree, or the project is reached by a link

        raise UsageError(
            f"{path!r} leads out of the project", hint=f"name a file or folder below {root}"
        )

    relative = real.relative_to(root).as_posix()
    if relative == ".":
        return ""
    if path.endswith(("/", "/.", "/..")):
        return f"{relative}/"

    return relative


def find_workspace(start: Path) -> Workspace:
    """Return the workspace of the nearest folder at or above `start` that has an `.orbit/`."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if folder != start and folder == user_home():
            break  # the personal workspace is no project of the folders below it

        orbit = folder / ORBIT
        if orbit.is_symlink() or (orbit.exists() and not orbit.is_dir()):
            raise not_a_folder(orbit)

        if orbit.is_dir():
            return open_workspace(folder)
        if (folder / ".git").exists():
            break

    raise WorkspaceNotFoundError(
        f"there is no {ORBIT}/ in {start} or above it", hint=_elsewhere(start)
    )


def not_a_folder(orbit: Path) -> WorkspaceNotFoundError:
    """Return the error about a file or a link in the place of `.orbit/`."""
    start_over = "move it away, then run `orbit init`"
    if not orbit.is_symlink():
        return WorkspaceNotFoundError(f"{orbit} is not a folder", hint=start_over)

    target = orbit.readlink()
    if orbit.is_dir():
        name = shlex.quote(str(target))
        start_over = f"put the folder itself there: `rm {ORBIT}`, then `mv {name} {ORBIT}`"

    message = f"{orbit} is a link to {target}, and no link is followed there"
    return WorkspaceNotFoundError(message, hint=start_over)


def _elsewhere(start: Path) -> str:
    """Return what to do where a folder has no records: its commit may be older than they are, as
    that of another work tree, or a sparse checkout leaves them out.
    """
    top = Git(start).top if start.is_dir() else None
    if top is None:
        return "run `orbit init` first"

    outer = _workspace_above(top)
    if outer is not None:
        return (
            f"{top} is a repository inside {outer}, which has records: `orbit -C "
            f"{shlex.quote(str(outer))} …`; or run `orbit init` for its own records"
        )

    git = Git(top)
    if _has_records(git, "HEAD"):
        return f"its commit has one: `git sparse-checkout add {ORBIT}` or `git restore {ORBIT}`"

    branch, _ = git.default_tip() or ("", "")
    if branch and _has_records(git, branch):
        name = branch.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        return f"`{name}` has one, and this commit has none: `git merge {name}` brings it"

    return "run `orbit init` first"


def _workspace_above(top: Path) -> Path | None:
    """Return the project around the repository of a submodule, whose records are of its files."""
    for folder in top.parents:
        if folder == user_home():
            return None
        if (folder / ORBIT / "config.yaml").is_file():
            return folder
        if (folder / ".git").exists():
            return None

    return None


def _has_records(git: Git, revision: str) -> bool:
    return bool(git.ask("ls-tree", "-d", "--end-of-options", revision, "--", ORBIT))


def work_tree(root: Path) -> Path:
    """Return the folder of the work tree around `root`, without starting git;
    `root` itself outside of one.
    """
    return Path(hook_files.work_tree(str(root)) or root)


def git_folder(root: Path) -> Path | None:
    """Return git's folder of the work tree around `root`, without starting git."""
    top = hook_files.work_tree(str(root))
    git = hook_files.git_folder(top) if top else ""
    if not git:
        return None

    folder = Path(git).resolve()
    if folder.is_dir():
        return folder

    return None


def has_only_state(orbit: Path) -> bool:
    """Say whether an `.orbit/` has nothing but this clone's state."""
    return all(entry.name == "state" for entry in orbit.iterdir())


def has_own_records(orbit: Path) -> bool:
    """Say whether an `.orbit/` has a record that this program wrote:
    it has a uid, those of other tools have none.
    """
    for file in islice(orbit.glob("*/*/*.yaml"), _LOOKED_AT):
        with suppress(OrbitError):
            if "\nuid: " in read_text(file):
                return True
    return False


def open_workspace(root: Path) -> Workspace:
    """Return the workspace with this root."""
    root = root.resolve()
    orbit = root / ORBIT
    config_file = orbit / "config.yaml"
    if not config_file.exists():
        hint = FOREIGN_HINT
        if has_only_state(orbit):
            hint = "run `orbit init`"
        elif (orbit / "learnings").is_dir():
            hint += "; `orbit learning migrate-layout` takes its learnings alone"
        raise ForeignWorkspaceError(f"{orbit} has no config.yaml", hint=hint)

    if (orbit / "state").is_symlink():
        raise ForeignWorkspaceError(
            f"{orbit / 'state'} is a symbolic link", hint="remove it; it holds nothing lasting"
        )

    project_kinds = orbit / "kinds"
    if project_kinds.is_symlink():
        hint = "put the folder itself there"
        raise ConfigError(f"{project_kinds} is a symbolic link", hint=hint)

    kinds = load_kinds(project_kinds) if project_kinds.is_dir() else load_kinds()
    config = read_config(config_file, kinds)
    sources = [entry.name for entry in config.extends]
    if sources:
        kinds = kinds.with_sources(sources)

    return Workspace(root, config, kinds)


def make_cache_folder(workspace: Workspace) -> Path:
    """Return the folder of derived files, made if missing."""
    folder = workspace.cache_folder
    if folder == workspace.root / CACHE:
        inside(workspace.root, CACHE)
        if not is_writable(folder):
            message = (
                f"{folder} can't be written, nor is there a folder of your own for what is derived"
            )
            raise WriteError(message, hint="let XDG_CACHE_HOME name a folder that you may write to")

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None

    return folder
