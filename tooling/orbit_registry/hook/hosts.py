"""Remembers which session a host process runs, so that commands it starts know what their agent has seen.

A hook is started by the program that hosts the agent, and so is, further down, a command that the agent runs. A hook
notes session and agent under the host's process id, with its start time, which no later process of that id has. Where
the system doesn't show processes as files (`/proc`), nothing is noted and nothing found. Built-in modules only.
"""

import posix

from orbit_registry.hook.project import content_of, private_folder

FOLDER = "hosts"
LONGEST = 1000
SESSION_ID = b"ORBIT_SESSION_ID"
DEEPEST = 16
"""How many ancestors are looked at."""
_SHELLS = frozenset(
    (b"sh", b"bash", b"zsh", b"dash", b"ksh", b"fish", b"ash", b"busybox", b"env", b"timeout", b"nice", b"xargs")
)
_FIRST = frozenset((b"init", b"systemd", b"tini", b"dumb-init", b"docker-init", b"launchd", b"catatonit"))
"""What runs as the first process beside an agent in a container: the parent of all orphans, no agent's host."""
_WRITE = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC


def note(root: str, session: str, agent: str = "") -> None:
    """Note that the host of this process runs a session; a disk that refuses is no fault, and nobody is told."""
    if "\n" in session or "\n" in agent or len(session) + len(agent) > LONGEST:
        return
    try:
        number = posix.getppid()
        found = _process(number)
        while found is not None and found[0] in _SHELLS and found[1]:
            number = found[1]
            found = _process(number)
        if found is None or found[0] in _FIRST or found[0] in _SHELLS:
            return
        wanted = f"{found[2]}\n{session}\n{agent}\n".encode("utf-8", "surrogatepass")
        folder = private_folder(root, "log", FOLDER)
        if _content(f"{folder}/{number}") != wanted:
            _write(f"{folder}/{number}", wanted)
    except OSError:
        return


def session_of_process(root: str) -> tuple[str, str] | None:
    """Return the session and the agent that this process runs in; None where nobody knows.

    `ORBIT_SESSION_ID` says so, or else the nearest ancestor that a hook has noted.
    """
    named = posix.environ.get(SESSION_ID, b"").decode("utf-8", "surrogateescape")
    if named:
        return named, ""
    folder = f"{root}/.orbit/state/log/{FOLDER}"
    number = posix.getppid()
    for _ in range(DEEPEST):
        found = _process(number) if number else None
        if found is None:
            return None
        said = _content(f"{folder}/{number}").decode("utf-8", "surrogatepass").split("\n")
        if len(said) == 4 and said[0] == found[2] and said[1]:
            return said[1], said[2]
        number = found[1]
    return None


def _process(number: int) -> tuple[bytes, int, str] | None:
    """Return a process's name, its parent's id and when it was started; None where there is none to be seen."""
    said = _content(f"/proc/{number}/stat")
    _, _, name = said[: said.rfind(b")")].partition(b"(")
    fields = said[said.rfind(b")") + 1 :].split()
    if len(fields) < 20 or not fields[1].isdigit():
        return None
    return name, int(fields[1]), fields[19].decode("ascii", "replace")


def _content(path: str) -> bytes:
    """Return what a small file holds; nothing where it can't be read."""
    try:
        return content_of(path, 4096)
    except OSError:
        return b""


def _write(path: str, content: bytes) -> None:
    own = f"{path}.{posix.getpid()}"
    handle = posix.open(own, _WRITE, 0o600)
    try:
        posix.write(handle, content)
    finally:
        posix.close(handle)
    posix.replace(own, path)
