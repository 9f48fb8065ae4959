"""What every agent's payload is reduced to, and which of the paths in it are the project's; it opens no file."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Payload = Mapping[str, object]

PATH_FIELDS = (
    "file_path", "filePath", "notebook_path", "notebookPath", "path", "paths", "file_paths", "filePaths", "edits",
    "absolute_path", "absolutePath", "target_file", "targetFile", "relative_workspace_path", "file", "files",
    "filename", "uri",
)  # fmt: skip
MOST_PATHS = 50
LONGEST_PATH = 4096
PROJECT = "\x01"
"""Begins a word in which a command names the project's own folder."""


class Call:
    """One call of a hook: `paths` as they were written, `folder` that relative ones count from, empty texts where
    nothing was said.

    `maybe` are further words, paths only where such a file is. `guessed` says that the paths are words too, which may
    be something else. `reads` are those of both that are read, not written. `error` is what a tool failed with, `text`
    a prompt's. `greets` says that the agent can tell the person something now; `message` is what, set before the
    dialect's `reply` is asked. `notes` names an event that is written down and not answered, `loads` a file of
    instructions that the agent has loaded, `transcript` the file that a session which ends was written to. `forgets`
    says that what the session was shown is no longer before the agent, `forgets_again` that another event may have
    said so. `command` is a number made of a shell's command, which tells it from others and does not tell what it is;
    `tests` says that it runs tests. `ends` says that the agent stops, and would go on if it were answered.
    """

    __slots__ = (
        "agent",
        "agent_id",
        "command",
        "ends",
        "error",
        "event",
        "folder",
        "forgets",
        "forgets_again",
        "greets",
        "guessed",
        "loads",
        "maybe",
        "message",
        "notes",
        "paths",
        "reads",
        "session",
        "surface",
        "task_class",
        "tests",
        "text",
        "transcript",
    )

    def __init__(self, event: str, surface: str) -> None:
        self.event, self.surface = event, surface
        self.session = self.agent_id = self.agent = self.folder = self.task_class = self.error = self.text = ""
        self.message = self.notes = self.loads = self.transcript = ""
        self.paths: list[str] = []
        self.maybe: list[str] = []
        self.reads: list[str] = []
        self.forgets = self.forgets_again = self.greets = self.guessed = self.tests = self.ends = False
        self.command = 0


def field(payload: "Payload", *names: str) -> str:
    """Return the first of some fields that holds a text; empty where none does."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def named_paths(asked: "Payload") -> list[str]:
    """Return the paths that a tool's input names in the fields that tools use for them, one level of lists deep."""
    found: list[str] = []
    for name in PATH_FIELDS:
        value = asked.get(name)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):
                one = field(one, "file_path", "filePath", "path")
            if isinstance(one, str) and one and one not in found:
                found.append(one)
            if len(found) == MOST_PATHS:
                return found
    return found


def joined(folder: str, said: str) -> str:
    """Return a path as it is seen from where a folder is seen from."""
    if not said or not folder:
        return said or folder
    if said[0] in "/\\~\x01" or said[1:2] == ":" or said.startswith("file:"):
        return said
    return f"{folder.rstrip('/')}/{said}"


def in_project(root: str, folder: str, said: str) -> str | None:
    """Return a path as globs see it, from the project's root; None for one outside of it.

    `folder` is where relative ones count from. Backslashes are a Windows path's; its drive is taken away with the
    folder it shares with `folder`. `file://` is undone, `~/` is the home folder. Links are not followed.
    """
    said = said.strip()
    if not said or len(said) > LONGEST_PATH or "\0" in said:
        return None
    if said[0] == PROJECT:
        said = root + said[1:]
    elif said[0] == "~" and said[1:2] in ("/", "\\", ""):
        said = posix.environ.get(b"HOME", b"/").decode("utf-8", "surrogateescape") + said[1:]
    elif said.startswith("file:"):
        said = of_uri(said)
    if "\\" in said or ":" in (folder[1:2], said[1:2]):
        said, folder = said.replace("\\", "/").removeprefix("//?/"), folder.replace("\\", "/").rstrip("/")
        if said[1:2] == ":":
            if not said.casefold().startswith(f"{folder.casefold()}/"):
                return None
            said = said[len(folder) + 1 :]
        folder = folder if folder.startswith("/") else root
    names: list[str] = []
    for name in (said if said.startswith("/") else f"{folder}/{said}").split("/"):
        if name == "..":
            if names:
                names.pop()
        elif name and name != ".":
            names.append(name)
    whole = "/" + "/".join(names)
    if not whole.startswith(f"{root}/"):
        return None
    return whole[len(root) + 1 :] + ("/" if said.endswith("/") else "")


def of_uri(said: str) -> str:
    """Return the path that a `file:` address names; empty host or `localhost`, else it is no file of this machine."""
    path = said[5:].partition("#")[0].partition("?")[0]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            return "/"
        path = f"/{path}"
    first, *others = path.split("%")
    content = first.encode("utf-8", "surrogatepass")
    for one in others:
        pair = one[:2]
        if len(pair) == 2 and not set(pair) - set("0123456789abcdefABCDEF"):
            content += bytes([int(pair, 16)]) + one[2:].encode("utf-8", "surrogatepass")
        else:
            content += b"%" + one.encode("utf-8", "surrogatepass")
    path = content.decode("utf-8", "surrogateescape")
    return path[1:] if path[2:3] == ":" else path
