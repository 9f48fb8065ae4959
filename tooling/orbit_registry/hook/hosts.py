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


def note_host_session(root: str, session: str, agent: str = "") -> None:
    """Note that the host of this process runs a session; a disk that refuses is no fault, and nobody is told."""
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
        folder = private_folder(root, "log", FOLDER)
        if _content(f"{folder}/{number}") != content:
            _write(f"{folder}/{number}", content)
    except OSError:
        return


def session_of_process(root: str) -> tuple[str, str] | None:
    """Return the session and the agent that this process runs in; None where nobody knows.

    `ORBIT_SESSION_ID` says so, or else the nearest ancestor that a hook has noted.
    """
    from_environment = posix.environ.get(SESSION_ID, b"").decode("utf-8", "surrogateescape")
    if from_environment:
        return from_environment, ""
    folder = f"{root}/.orbit/state/log/{FOLDER}"
    number = posix.getppid()
    for _ in range(DEEPEST):
        process = _process(number) if number else None
        if process is None:
            return None
        lines = _content(f"{folder}/{number}").decode("utf-8", "surrogatepass").split("\n")
        if len(lines) == 4 and lines[0] == process[2] and lines[1]:
            return lines[1], lines[2]
        number = process[1]
    return None


def _process(number: int) -> tuple[bytes, int, str] | None:
    """Return a process's name, its parent's id and when it was started; None where there is none to be seen."""
    stat = _content(f"/proc/{number}/stat")
    _, _, name = stat[: stat.rfind(b")")].partition(b"(")
    fields = stat[stat.rfind(b")") + 1 :].split()
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
    temporary = f"{path}.{posix.getpid()}"
    handle = posix.open(temporary, _WRITE, 0o600)
    try:
        posix.write(handle, content)
    finally:
        posix.close(handle)
    posix.replace(temporary, path)
