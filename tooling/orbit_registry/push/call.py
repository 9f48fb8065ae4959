"""What every agent's payload is reduced to, and how paths are found in it; it knows no agent and opens no file."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Payload = Mapping[str, object]

PATH_FIELDS = (
    "file_path", "filePath", "notebook_path", "notebookPath", "path", "paths", "file_paths", "filePaths", "edits",
)  # fmt: skip
MOST_PATHS = 50
LONGEST_TEXT = 20_000
"""Characters of a command or prompt in which paths are looked for."""
LONGEST_PATH = 4096
_APART = str.maketrans(dict.fromkeys("\t\r\n;|&<>()$`'\"=,{}", " "))
_AROUND = ".,:;!?@*"


class Call:
    """One call of a hook: `paths` as they were written, `folder` that relative ones count from, empty texts where
    nothing was said. `guessed` says that the paths are words which may be something else."""

    __slots__ = (
        "agent",
        "agent_id",
        "event",
        "folder",
        "forgets",
        "guessed",
        "paths",
        "session",
        "surface",
        "task_class",
    )

    def __init__(self, event: str, surface: str) -> None:
        self.event, self.surface = event, surface
        self.session = self.agent_id = self.agent = self.folder = self.task_class = ""
        self.paths: list[str] = []
        self.forgets = self.guessed = False


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
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                one = field(one, "file_path", "filePath", "path")
            if isinstance(one, str) and one:
                found.append(one)
            if len(found) == MOST_PATHS:
                return found
    return found


def words_of(text: str) -> list[str]:
    """Return the words of a command or a prompt that may be paths: those with a slash or a dot inside."""
    found: dict[str, None] = {}
    for word in text[:LONGEST_TEXT].translate(_APART).split():
        head, colon, line = word.partition(":")
        name = (head if colon and line[:1].isdigit() else word).lstrip("@").rstrip(_AROUND)
        if not name.startswith("-") and "://" not in name and ("/" in name or "." in name[1:] or "\\" in name):
            found[name] = None
            if len(found) == MOST_PATHS:
                break
    return list(found)


def in_project(root: str, folder: str, said: str) -> str | None:
    """Return a path as globs see it, from the project's root; None for one outside of it.

    `folder` is where relative ones count from. Backslashes are a Windows path's; its drive is taken away with the
    folder it shares with `folder`. Links are not followed.
    """
    if not said or len(said) > LONGEST_PATH or "\0" in said:
        return None
    if "\\" in said or folder[1:2] == ":":
        said, folder = said.replace("\\", "/"), folder.replace("\\", "/").rstrip("/")
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
