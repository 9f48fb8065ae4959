"""Takes what the arguments of any tool say into a call: paths, commands, patches, globs; it knows no agent.

Calls of tools that name their file don't import this. It opens no file.
"""

from orbit_registry.hook.call import LONGEST_PATH, MOST_PATHS, Call, field, joined, named_paths
from orbit_registry.hook.index import checksum
from orbit_registry.hook.words import LONGEST_TEXT, PATCH, looks_like_path, patch_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

FOLDER_FIELDS = (
    "workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "dirPath", "directory", "folder"
)  # fmt: skip
COMMAND_FIELDS = ("command", "cmd", "script")
PATCH_FIELDS = ("patch", "patchText", "patch_text", "input", "diff", *COMMAND_FIELDS)
GLOB_FIELDS = ("glob", "glob_pattern", "globPattern", "include", "include_pattern", "includePattern")
SHELLS = frozenset(
    ("bash", "shell", "sh", "powershell", "pwsh", "terminal", "exec", "exec_command", "local_shell", "run_command",
     "run_shell_command", "run_terminal_cmd", "run_in_terminal", "runinterminal", "execute_command", "unified_exec")
)  # fmt: skip
WRITES = frozenset(
    ("edit", "write", "multiedit", "notebookedit", "replace", "write_file", "edit_file", "create", "create_file",
     "str_replace", "str_replace_editor", "insert", "apply_patch", "applypatch", "patch", "search_replace", "delete",
     "edit_notebook", "delete_file", "insert_edit_into_file", "replace_string_in_file")
)  # fmt: skip
SEARCHES = frozenset(
    ("glob", "grep", "ls", "list", "find", "list_directory", "list_dir", "search_file_content", "grep_search",
     "file_search", "codebase_search", "rg", "search")
)  # fmt: skip
TESTS = frozenset(
    ("test", "tests", "pytest", "unittest", "tox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest")
)  # fmt: skip
"""Words of a command by which it runs tests, with a folder before them or what is run after a colon."""
DEEPEST, MOST_VALUES = 8, 500
"""How far into the arguments of an unknown tool is looked, and at how many values."""
_LAST_WORDS = frozenset(
    ("path", "file", "filename", "filepath", "uri", "folder", "dir", "directory", "notebook", "document", "source",
     "destination", "src", "dest", "dst", "cwd", "root", "workdir", "target")
)  # fmt: skip
_SPREAD = 0x9E3779B97F4A7C15


def take_other(call: Call, name: str, asked: object) -> None:
    """Take the input of a tool that has more to say than the name of a file; `name` is the tool's in lower case."""
    foreign = name.startswith(("mcp_", "mcp:"))
    if isinstance(asked, str):
        asked = {"command": asked}
    if not isinstance(asked, dict):
        return
    if not foreign:
        _take_own(call, name, asked)
    if foreign or not (call.paths or call.maybe or name in SHELLS or name in SEARCHES):
        call.guessed = True
        _walk(call, asked)


def _take_own(call: Call, name: str, asked: "Payload") -> None:
    """Take the input of one of an agent's own tools."""
    call.paths = named_paths(asked)
    patch = "" if name in SHELLS else next(filter(_is_patch, (field(asked, key) for key in PATCH_FIELDS)), "")
    if name in SEARCHES:
        call.guessed = True
        folder = (call.paths or [field(asked, *FOLDER_FIELDS)])[0]
        pattern = field(asked, *GLOB_FIELDS) or (field(asked, "pattern") if name in ("glob", "file_search") else "")
        if not call.paths:
            call.maybe = [folder] if folder else []
        if (below := _below(pattern)) and "://" not in below:
            call.paths, call.maybe = [joined(folder, below)], []
        return
    if name in WRITES or patch:
        call.task_class = "code"
    if patch:
        call.folder = joined(call.folder, field(asked, *FOLDER_FIELDS))
        call.paths = patch_paths(patch)
        return
    command = next((value for key in COMMAND_FIELDS if (value := asked.get(key))), None)
    if command is not None and (name in SHELLS or not call.paths):
        call.folder = joined(call.folder, field(asked, *FOLDER_FIELDS))
        _take_command(call, command)


def _take_command(call: Call, command: object) -> None:
    from orbit_registry.hook.shell import words_in  # only calls of a shell need it

    if isinstance(command, list):
        command = [word for word in command[:MOST_VALUES] if isinstance(word, str)]
    elif not isinstance(command, str):
        return
    found = words_in(command)
    words = (command if isinstance(command, str) else " ".join(command))[:LONGEST_TEXT].split()
    call.command = checksum(" ".join(words).encode("utf-8", "surrogatepass")) * _SPREAD >> 16 & 0xFFFFFFFFFFFF
    call.tests = any(word.rpartition("/")[2].partition(":")[0] in TESTS for word in words)
    call.guessed = True
    call.paths, call.maybe, call.reads = found.paths, found.maybe, found.reads
    if found.patched:
        call.task_class = "code"


def _walk(call: Call, asked: object) -> None:
    """Take every text under a key that names a path, however deep, within bounds; commands are read as such."""
    left: list[tuple[str, object, int]] = [("", asked, 0)]
    seen = 0
    while left and seen < MOST_VALUES and len(call.paths) + len(call.maybe) < MOST_PATHS:
        key, value, depth = left.pop()
        seen += 1
        if isinstance(value, dict) and depth < DEEPEST:
            inner = [(one, held, depth + 1) for one, held in list(value.items())[:MOST_VALUES] if isinstance(one, str)]
            left += reversed(inner)
        elif isinstance(value, list) and depth < DEEPEST:
            left += [(key, held, depth + 1) for held in reversed(value[:MOST_VALUES])]
        elif isinstance(value, str) and value and is_path_key(key):
            take_word(call, value)


def is_path_key(key: str) -> bool:
    """Say whether what stands under a key of a tool's arguments is likely a path: by its last word."""
    last = start = 0
    for place, character in enumerate(key):
        if character in "_- ." or (character.isupper() and place and not key[place - 1].isupper()):
            last, start = place, place + (character in "_- .")
    word = key[start if last else 0 :].casefold()
    return word in _LAST_WORDS or (word.endswith("s") and word[:-1] in _LAST_WORDS)


def take_word(call: Call, word: str) -> None:
    """Take what is either a path or some other word: as a path where it looks like one."""
    if len(word) > LONGEST_PATH or "\n" in word or ("://" in word and not word.startswith("file://")):
        return
    (call.paths if looks_like_path(word) else call.maybe).append(word)


def _below(pattern: str) -> str:
    """Return the folder, with its slash, below which everything lies that a glob matches; empty where it says none."""
    if not any(mark in pattern for mark in "*?[{"):
        return pattern if "/" in pattern else ""
    names = pattern.split("/")
    plain = next(place for place, name in enumerate(names) if any(mark in name for mark in "*?[{"))
    return "/".join(names[:plain]) + "/" if plain else ""


def _is_patch(text: str) -> bool:
    return text.lstrip().startswith(PATCH)
