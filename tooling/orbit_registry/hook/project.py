"""Project around a folder: root, index, private folders, paths of a call, sessions of hosts.

No link is followed, but for the paths that a call names.
"""

import posix
from posix import access, listdir, lstat, mkdir, unlink

from orbit_registry.hook.call import in_project, normal_path
from orbit_registry.hook.environment import variable
from orbit_registry.hook.files import (
    FILE,
    FOLDER,
    KIND,
    LINK,
    git_folder,
    is_folder,
    readable_content,
    status_of,
    work_tree,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from orbit_registry.hook.call import Call

KEPT_DAYS = 14  # age at which a session's files in a private folder are removed
INDEX = "hook-18.idx"
_FOLDERS = (".orbit/state/inbox/", ".orbit/inbox/", ".orbit/")  # of kinds with records
_COPIES = "inherited/"  # folder of the copies of other projects' records
UPDATE = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
"""Flags that open a file of a private folder to read and write it."""


def project_root(start: str) -> str | None:
    """Return the nearest folder at or above an absolute path that holds a workspace.

    The search ends at the repository's top.
    """
    folder = first = normal_path(start) if "/." in start else start.rstrip("/")
    while folder:
        if is_folder(f"{folder}/.orbit"):
            if folder != first and folder == variable(b"HOME").rstrip("/"):
                return None  # a person's own records are no project around all others

            config = status_of(f"{folder}/.orbit/config.yaml")
            is_project = config is not None and config.st_mode & KIND == FILE
            if is_project:
                return folder

            return None

        if status_of(f"{folder}/.git") is not None:
            return None

        folder = folder.rpartition("/")[0]

    return None


def index_file(root: str) -> str:
    """Return the path of a project's push index.

    It is in git's folder, which no clone brings, else in the user's cache.
    """
    top = work_tree(root)
    if top and (git := git_folder(top)):
        folder = f"{git}/orbit"
        existing = folder if is_folder(folder) else git
        if access(existing, posix.W_OK | posix.X_OK):
            below = "" if top == root else f"/below{root[len(top) :]}"
            return f"{folder}{below}/{INDEX}"

    return f"{_folder_of_user(root)}/{INDEX}"


def _folder_of_user(root: str) -> str:
    """Return the folder for a project in the user's cache."""
    cache = variable(b"XDG_CACHE_HOME")
    if not cache.startswith("/"):
        cache = f"{variable(b'HOME')}/.cache"

    return f"{cache}/orbit-registry/hook{root}"


def project_paths(root: str, folder: str, call: "Call") -> tuple[list[str], list[str]]:
    """Return a call's paths as globs see them, and those to log.

    A word may be a secret, unless such a file exists.
    """
    # A prompt may name any folder, also one of a network that does not answer.
    is_prompt = bool(call.text)
    paths = _inside(root, folder, call.paths, is_prompt)
    if not call.paths_are_heuristic:
        for position, path in enumerate(paths):
            if path[-1:] != "/" and is_folder(f"{root}/{path}"):
                paths[position] = f"{path}/"

        return paths, paths

    loggable: list[str] = []
    every: list[str] = []
    candidates = _inside(root, folder, call.candidate_paths, is_prompt)
    for position, path in enumerate(paths + candidates):
        state = status_of(f"{root}/{path}")
        if state is not None:
            if state.st_mode & KIND == FOLDER:
                path = f"{path.rstrip('/')}/"

            loggable.append(path)

        if (state is not None or position < len(paths)) and path not in every:
            every.append(path)

    return every, loggable


def _inside(root: str, folder: str, texts: list[str], is_prompt: bool) -> list[str]:
    """Return paths as globs see them; a link has two, its own and that of what it leads to."""
    paths: list[str] = []
    for text in texts:
        path = in_project(root, folder, text)
        if path is None and is_prompt:
            continue
        if path is not None and not _leads_on(root, path):
            paths.append(path)
            continue

        # Few calls name a file in another way.
        from orbit_registry.hook.other_paths import paths_of

        paths += paths_of(root, folder, text)

    return list(dict.fromkeys(paths))


def _leads_on(root: str, path: str) -> bool:
    """Say whether a link or a work tree is on the way to a file."""
    at = root
    for name in path.rstrip("/").split("/"):
        at = f"{at}/{name}"
        state = status_of(at)
        if state is None:
            return False
        if state.st_mode & KIND == LINK:
            return True
        if state.st_mode & KIND == FOLDER and status_of(f"{at}/.git") is not None:
            return True

    return False


def record_in(path: str) -> str:
    """Return the id of the record whose folder a path is in; empty for any other path."""
    folder = next((folder for folder in _FOLDERS if path.startswith(folder)), "")
    if not folder:
        return ""

    source = ""
    below = path.removeprefix(folder)
    if below.startswith(_COPIES):
        source, _, below = below.removeprefix(_COPIES).partition("/")

    kind, _, below = below.partition("/")
    record_id = below.partition("/")[0]
    if kind in ("state", "kinds") or "-" not in record_id or len(record_id) > 64:
        return ""

    if source:
        return f"{source}:{record_id}"

    return record_id


def pending_count(root: str) -> int:
    """Return how many records wait for review in the local and the committed inbox."""
    number = 0
    for inbox in (f"{root}/.orbit/state/inbox", f"{root}/.orbit/inbox"):
        if is_folder(inbox):
            for kind in listdir(inbox):
                if is_folder(f"{inbox}/{kind}"):
                    names = listdir(f"{inbox}/{kind}")
                    number += sum("-" in name and name[0] != "." for name in names)

    return number


def private_folder(root: str, *names: str) -> str:
    """Return a folder below the state, made for its owner alone; below the user's cache where the
    project can't be written.
    """
    folder = f"{root}/.orbit"
    steps = ("state", *names)
    if not _is_writable(folder, steps):
        return _made("/".join((_folder_of_user(root), *steps)))

    for name in steps:
        folder = f"{folder}/{name}"
        if not is_folder(folder):
            try:
                mkdir(folder, 0o700)
            except FileExistsError:
                if not is_folder(folder):  # another process may have made it
                    raise

    return folder


def _made(folder: str) -> str:
    """Return a folder of the user, made with those above it; a link on the way is the user's."""
    path = ""
    for name in folder.strip("/").split("/"):
        path = f"{path}/{name}"
        try:
            mkdir(path, 0o700)
        except FileExistsError:
            continue

    return path


def _is_writable(folder: str, names: "Iterable[str]") -> bool:
    """Say whether files can be made in a folder below another one, which may not be there yet."""
    for name in names:
        if not is_folder(f"{folder}/{name}"):
            break
        folder = f"{folder}/{name}"

    return access(folder, posix.W_OK | posix.X_OK)


def prune(root: str, now: float, *names: str) -> None:
    """Remove files of a folder below the state that have not changed for `KEPT_DAYS`."""
    folder = private_folder(root, *names)
    for name in listdir(folder):
        try:
            if lstat(f"{folder}/{name}").st_mtime < now - KEPT_DAYS * 86_400:
                unlink(f"{folder}/{name}")
        except OSError:
            continue


HOSTS = "hosts"
LONGEST, LONGEST_NOTE = 1000, 4096  # characters of two ids, bytes of a file that is read
SESSION_ID = b"ORBIT_SESSION_ID"
DEEPEST = 16  # most ancestors of a process that are examined
_SHELLS_WORDS = b"sh bash zsh dash ksh fish ash busybox env timeout nice xargs"
_SHELLS = frozenset(_SHELLS_WORDS.split())
_FIRST = frozenset(
    (b"init", b"systemd", b"tini", b"dumb-init", b"docker-init", b"launchd", b"catatonit")
)
"""First processes of a container: the parent of all orphans, no agent's host."""
_WRITE = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC


def note_host_session(root: str, session: str, agent: str = "") -> None:
    """Note that the host of this process runs a session, under its process id and start time.

    Errors are ignored.
    """
    if "\n" in session or "\n" in agent or len(session) + len(agent) > LONGEST:
        return

    try:
        number = posix.getppid()
        process = _process(number)
        while process is not None and process[0] in _SHELLS and process[1]:
            number = process[1]
            process = _process(number)

        if process is None or process[0] in _FIRST or process[0] in _SHELLS:
            return

        content = f"{process[2]}\n{session}\n{agent}\n".encode("utf-8", "surrogatepass")
        folder = private_folder(root, "log", HOSTS)
        if readable_content(f"{folder}/{number}", LONGEST_NOTE) != content:
            _write(f"{folder}/{number}", content)
    except OSError:
        return


def session_of_process(root: str) -> tuple[str, str] | None:
    """Return the session and the agent that this process runs in.

    They are from `ORBIT_SESSION_ID`, or from the nearest noted ancestor.
    """
    from_environment = variable(SESSION_ID)
    if from_environment:
        return from_environment, ""

    folder = f"{root}/.orbit/state/log/{HOSTS}"
    number = posix.getppid()
    for _ in range(DEEPEST):
        process = _process(number) if number else None
        if process is None:
            return None

        note = readable_content(f"{folder}/{number}", LONGEST_NOTE)
        lines = note.decode("utf-8", "surrogatepass").split("\n")
        if len(lines) == 4 and lines[0] == process[2] and lines[1]:
            return lines[1], lines[2]

        number = process[1]

    return None


def _process(number: int) -> tuple[bytes, int, str] | None:
    """Return a process's name, its parent's id and its start time; None without `/proc`."""
    stat = readable_content(f"/proc/{number}/stat", LONGEST_NOTE)
    _, _, name = stat[: stat.rfind(b")")].partition(b"(")
    fields = stat[stat.rfind(b")") + 1 :].split()
    if len(fields) < 20 or not fields[1].isdigit():
        return None

    return name, int(fields[1]), fields[19].decode("ascii", "replace")


def _write(path: str, content: bytes) -> None:
    temporary = f"{path}.{posix.getpid()}"
    handle = posix.open(temporary, _WRITE, 0o600)
    try:
        posix.write(handle, content)
    finally:
        posix.close(handle)

    posix.replace(temporary, path)
