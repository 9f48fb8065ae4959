"""Call of a hook as every agent's payload is reduced to it, and the project's paths in it."""

from orbit_registry.hook.environment import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Payload = Mapping[str, object]

_PATH_FIELDS_WORDS = (
    "file_path filePath notebook_path notebookPath path paths file_paths filePaths edits "
    "absolute_path absolutePath target_file targetFile relative_workspace_path file files "
    "filename uri filepath TargetFile AbsolutePath relative_path target_notebook notebookUri"
)
PATH_FIELDS = tuple(_PATH_FIELDS_WORDS.split())
MOST_PATHS = 50
LONGEST_PATH = 4096
PROJECT = "\x01"  # prefix of a path that a command names from the project's folder


class Call:
    """One call of a hook; unknown texts are empty.

    `paths` are as they were written, relative ones count from `folder`. `candidate_paths` are
    words, paths only where such a file exists; with `paths_are_heuristic` `paths` are words too.
    `reads` are those of both that are read. `error` is what a tool failed with, `text` a prompt's.
    `can_show_message`: the agent can tell the person something now, namely `message`.
    `log_only_event`: an event that is logged and not answered; `is_stop`: it is one at which the
    agent can be asked on. `instruction_file`: a file of instructions that the agent has loaded;
    `transcript`: the file of an ended session. `context_was_compacted`: records may be shown again;
    `compaction_may_repeat`: another event may tell of it too. `is_plain`: the reply is to be plain
    text. `arguments` are those of a tool that writes or of a command that installs, as they are.
    `command` is a hash of a shell's command, `purposes` are what its programs are for: `test`,
    `lint`, `install`, …
    """

    def __init__(self, event: str, surface: str) -> None:
        self.event, self.surface = event, surface
        self.session = self.agent_id = self.agent = self.folder = ""
        self.task_class = self.error = self.text = ""
        self.log_only_event = self.instruction_file = self.transcript = ""

        self.paths: list[str] = []
        self.candidate_paths: list[str] = []
        self.paths_are_heuristic = False
        self.reads: list[str] = []
        self.arguments: Payload = {}
        self.command = 0
        self.purposes: list[str] = []

        self.context_was_compacted = self.compaction_may_repeat = False
        self.can_show_message = self.is_stop = self.is_plain = False
        self.message = ""


def field(payload: "Payload", *names: str) -> str:
    """Return the first of some fields that holds a text; empty where none does."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def named_paths(arguments: "Payload") -> list[str]:
    """Return the paths in the fields that tools use for them, one level of lists deep."""
    paths: list[str] = []
    for name in PATH_FIELDS:
        value = arguments.get(name)
        values = value if isinstance(value, list) else (value,)
        for path in values:
            if isinstance(path, dict):
                path = field(path, "file_path", "filePath", "path")
            if isinstance(path, str) and path and path not in paths:
                paths.append(path)
            if len(paths) == MOST_PATHS:
                return paths

    return paths


def resolve_path(folder: str, path: str) -> str:
    """Return a path joined to a folder, unless it is absolute."""
    if not path or not folder:
        return path or folder
    if path[0] in "/\\~\x01" or path[1:2] == ":" or path.startswith("file:"):
        return path
    return f"{folder.rstrip('/')}/{path}"


def in_project(root: str, folder: str, path: str) -> str | None:
    """Return a path (relative to `folder`) as globs see it from the root; None outside.

    Links are not followed.
    """
    path = path.strip()
    if not path or len(path) > LONGEST_PATH or "\0" in path:
        return None

    if path[0] == PROJECT:
        path = root + path[1:]
    elif path[0] == "~" and path[1:2] in ("/", "\\", ""):
        path = variable(b"HOME", b"/") + path[1:]
    elif path.startswith("file:"):
        path = _path_from_uri(path)

    if "\\" in path or ":" in (folder[1:2], path[1:2]):
        path = path.replace("\\", "/").removeprefix("//?/")
        folder = folder.replace("\\", "/").rstrip("/")
        if path[1:2] == ":":
            if not path.casefold().startswith(f"{folder.casefold()}/"):
                return None

            path = path[len(folder) + 1 :]

        if not folder.startswith("/"):
            folder = root

    if not path.startswith("/"):
        path = f"{folder}/{path}"

    absolute = normal_path(path)
    if not absolute.startswith(f"{root}/"):
        return None

    end = "/" if path.endswith("/") else ""
    return absolute[len(root) + 1 :] + end


def normal_path(path: str) -> str:
    """Return an absolute path without `.` and `..` in it."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name and name != ".":
            names.append(name)

    return "/" + "/".join(names)


def _path_from_uri(uri: str) -> str:
    """Return the path of a `file:` URI; `/` where its host is another machine."""
    path = uri[5:].partition("#")[0].partition("?")[0]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            return "/"
        path = f"/{path}"

    first, *others = path.split("%")
    content = first.encode("utf-8", "surrogatepass")
    for part in others:
        pair = part[:2]
        if len(pair) == 2 and not set(pair) - set("0123456789abcdefABCDEF"):
            content += bytes([int(pair, 16)]) + part[2:].encode("utf-8", "surrogatepass")
        else:
            content += b"%" + part.encode("utf-8", "surrogatepass")

    path = content.decode("utf-8", "surrogateescape")
    if path[2:3] == ":":
        return path[1:]

    return path


PATCH = "*** Begin Patch"
LONGEST_TEXT = 20_000  # characters of a command or prompt that are searched for paths
LONGEST_PATCH = 5_000_000
_APART = str.maketrans(dict.fromkeys("\t\r\n;|&<>()$`'\"=,{}[]、。，；：（）「」“”‘’", " "))
_AROUND = ".,:;!?@*"
_EAST_ASIAN = 0x2E80  # from which on letters are mostly Chinese, Japanese or Korean
_HUNKS = (
    "*** Update File: ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "--- a/",
    "+++ b/",
    "rename from ",
    "rename to ",
    "copy to ",
)
_DIFFS = ("--- ", "diff ", "Index: ")


def looks_like_path(word: str) -> bool:
    """Say whether a word has a slash or an ending, and no character that paths seldom have."""
    if word.startswith("file://"):
        return True
    if _ODD.intersection(word):
        return False

    return "/" in word or "\\" in word or ("." in word[1:] and not _is_number(word))


_ODD = frozenset(" \t\n|^()<>$;&\"'!,`=%#+\0")


def _is_number(word: str) -> bool:
    digits = word.replace(".", "").replace("-", "").replace("v", "", 1)
    return digits.isdigit() or not word.strip(".")


def is_patch(text: str) -> bool:
    """Say whether a text is a patch: one of `apply_patch`, or a unified diff."""
    start = text.lstrip()
    if start.startswith(PATCH):
        return True

    return start.startswith(_DIFFS) and ("\n@@" in start or "\ndiff " in f"\n{start}")


def patch_paths(text: str) -> list[str]:
    """Return the paths of a patch of `apply_patch`, or of a unified diff."""
    paths: dict[str, None] = {}
    for mark in _HUNKS:
        for at in _lines_with(text, mark):
            if len(paths) < MOST_PATHS:
                _take_name(paths, text, at + len(mark))

    for at in _lines_with(text, "\n+++ "):
        before = text.rfind("\n", 0, at) + 1
        if text.startswith("--- ", before):
            _take_name(paths, text, before + 4)
            _take_name(paths, text, at + 5)

    for at in _lines_with(text, "diff --git a/"):
        end = text.find("\n", at)
        names = text[at + 13 : end if end >= 0 else None]
        half = len(names) // 2 - 1
        if names[half : half + 3] == " b/" and names[:half] == names[half + 3 :]:
            paths[names[:half]] = None  # a binary file, or one whose mode changes

    return list(paths)[:MOST_PATHS]


def _lines_with(text: str, mark: str) -> "Iterator[int]":
    """Yield where lines begin with a mark; or where one ends, if the mark begins with its end."""
    at = text.find(mark, 0, LONGEST_PATCH)
    while at >= 0:
        if mark[0] == "\n" or at == 0 or text[at - 1] == "\n":
            yield at
        at = text.find(mark, at + len(mark), LONGEST_PATCH)


def _take_name(paths: dict[str, None], text: str, start: int) -> None:
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else None]
    name = line.partition("\t")[0].strip().strip('"')
    if text.startswith(("--- ", "+++ "), start - 4) and name[:2] in ("a/", "b/"):
        return  # its mark has that letter
    if name and name != "/dev/null" and len(name) <= LONGEST_PATH:
        paths[name] = None


def ends_of(text: str, longest: int) -> "tuple[str, ...]":
    """Return a text, or the beginning and the end of a longer one: what a person asks is before
    or after what was pasted.
    """
    half = longest // 2
    if len(text) <= longest:
        return (text,)

    return (text[:half], text[-half:])


def path_words(text: str) -> list[str]:
    """Return the words of a prompt that may be paths: those with a slash or a dot inside."""
    parts = ends_of(text, LONGEST_TEXT)
    most = MOST_PATHS // len(parts)
    words = dict.fromkeys(_path_words(parts[0])[:most])
    for part in parts[1:]:
        words |= dict.fromkeys(_path_words(part)[-most:])

    return list(words)


def _within_a_sentence(word: str) -> list[str]:
    """Return the paths between Chinese, Japanese or Korean words, which no space sets apart: those
    of other letters, else one that begins and ends with such.
    """
    narrow = "".join([sign if ord(sign) < _EAST_ASIAN else " " for sign in word])
    if paths := [part for part in narrow.split() if part != word and _is_whole_path(part)]:
        return paths

    before, after = len(narrow) - len(narrow.lstrip()), len(narrow.rstrip())
    middle = word[before:after]
    if middle and middle != word and _is_whole_path(middle):
        return [middle]

    return []


def _is_whole_path(text: str) -> bool:
    return looks_like_path(text) and "/" not in (text[0], text[-1])


def _path_words(text: str) -> list[str]:
    words: dict[str, None] = {}
    for word in text.translate(_APART).split():
        head, colon, line = word.partition(":")
        if colon and line[:1].isdigit():
            word = head

        name = word.lstrip("@").rstrip(_AROUND)
        has_path_sign = "/" in name or "." in name[1:] or "\\" in name
        if name.startswith("file://"):
            words[name] = None
        elif has_path_sign and "://" not in name and not name.startswith("-"):
            words[name.partition("#")[0].partition("::")[0]] = None
            if not name.isascii():
                words |= dict.fromkeys(_within_a_sentence(name))

    for quotation in text.split('"')[1::2]:
        if " " in quotation and "/" in quotation and "\n" not in quotation:
            words[quotation] = None  # a path with spaces

    return list(words)
