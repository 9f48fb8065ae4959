"""Arguments of tools: paths that no field states, and texts that a tool writes.

Such paths are in commands, patches, globs, and the arguments of foreign tools.
"""

from orbit_registry.hook import call as calls
from orbit_registry.hook.files import readable_content
from orbit_registry.hook.index import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from orbit_registry.hook.call import Payload

_FOLDER_FIELDS_WORDS = (
    "workdir cwd working_directory workingDirectory dir_path dirPath directory folder"
)
FOLDER_FIELDS = tuple(_FOLDER_FIELDS_WORDS.split())
COMMAND_FIELDS = ("command", "cmd", "script")
PATCH_FIELDS = ("patch", "patchText", "patch_text", "input", "diff", *COMMAND_FIELDS)
GLOB_FIELDS = (
    "glob",
    "glob_pattern",
    "globPattern",
    "include",
    "include_pattern",
    "includePattern",
)
_SHELLS_WORDS = (
    "bash shell sh powershell pwsh terminal exec exec_command local_shell run_command "
    "run_shell_command run_terminal_cmd run_in_terminal runinterminal execute_command "
    "unified_exec"
)
SHELLS = frozenset(_SHELLS_WORDS.split())
_WRITES_WORDS = (
    "edit write multiedit notebookedit replace write_file edit_file create create_file "
    "str_replace str_replace_editor insert apply_patch applypatch patch search_replace "
    "delete edit_notebook delete_file insert_edit_into_file replace_string_in_file multi_edit "
    "multi_replace_string_in_file edit_notebook_file editnotebook strreplace write_to_file "
    "replace_file_content multi_replace_file_content replace_in_file apply_diff insert_content "
    "search_and_replace create_new_jupyter_notebook fs_write fswrite fsappend git_apply "
    "edit_files write_files filechange edit_existing_file create_new_file "
    "single_find_and_replace"
)
WRITES = frozenset(_WRITES_WORDS.split())
_SEARCHES_WORDS = (
    "glob grep ls list find list_directory list_dir search_file_content grep_search "
    "file_search codebase_search rg search"
)
SEARCHES = frozenset(_SEARCHES_WORDS.split())
_GLOB_MARKS = "*?[{"
MANY_FILES = frozenset(("read_many_files",))
ADDING = frozenset(("install", "i", "add", "get", "require"))
"""Words after a program that installs packages."""
DEEPEST, MOST_VALUES = 8, 500
"""Depth and number of the values of an unknown tool's arguments that are searched."""
_LAST_WORDS_WORDS = (
    "path file filename filepath uri folder dir directory notebook document source "
    "destination src dest dst cwd root workdir target"
)
_LAST_WORDS = frozenset(_LAST_WORDS_WORDS.split())
_BY_PATH = frozenset(("changes", "edits", "file_changes", "fileChanges", "files", "patches"))
"""Fields with an object that has paths as keys."""
_SPREAD = 0x9E3779B97F4A7C15


def take_other(call: calls.Call, name: str, arguments: object) -> None:
    """Add a tool's arguments to a call; `name` is in lower case."""
    foreign = name.startswith(("mcp_", "mcp:"))

    if isinstance(arguments, str):
        arguments = {"command": arguments}
    if not isinstance(arguments, dict):
        return
    if foreign:
        call.paths = calls.patch_paths(_patch_in(arguments))
    else:
        _take_own(call, name, arguments)

    if foreign or not (call.paths or call.candidate_paths or name in SHELLS or name in SEARCHES):
        call.paths_are_heuristic = True
        _walk(call, arguments)


def _take_own(call: calls.Call, name: str, arguments: "Payload") -> None:
    call.paths = calls.named_paths(arguments)
    folder = calls.field(arguments, *FOLDER_FIELDS)
    if name in SEARCHES:
        call.paths_are_heuristic = True
        fields: tuple[str, ...] = GLOB_FIELDS
        if name in ("glob", "file_search"):
            fields = (*fields, "pattern")

        below = _below(calls.field(arguments, *fields))
        if below and "://" not in below:
            base = call.paths[0] if call.paths else folder
            call.paths = [calls.resolve_path(base, below)]
        elif folder and not call.paths:
            call.candidate_paths = [folder]

        return

    if name in MANY_FILES:
        call.paths += [path for path in _included(arguments) if path not in call.paths]
        call.reads = call.paths
        return

    patch = "" if name in SHELLS else _patch_in(arguments)
    if name in WRITES or patch:
        call.arguments = arguments
        call.task_class = "code"

    commands = [arguments[key] for key in COMMAND_FIELDS if arguments.get(key)]
    if patch:
        call.folder = calls.resolve_path(call.folder, folder)
        call.paths = calls.patch_paths(patch)
    elif commands and (name in SHELLS or not call.paths):
        call.folder = calls.resolve_path(call.folder, folder)
        _take_command(call, commands[0])


def _included(arguments: "Payload") -> list[str]:
    """Return the files that a tool includes by name, and the folders of its globs."""
    globs = arguments.get("include")
    texts = globs if isinstance(globs, list) else [globs]
    names = [text for text in texts[: calls.MOST_PATHS] if isinstance(text, str)]

    paths: list[str] = []
    for name in names:
        is_glob = any(mark in name for mark in _GLOB_MARKS)
        path = _below(name) if is_glob else name
        if path:
            paths.append(path)

    return paths


def _patch_in(arguments: "Payload") -> str:
    for key in PATCH_FIELDS:
        text = calls.field(arguments, key)
        if calls.is_patch(text):
            return text

    return ""


def _take_command(call: calls.Call, command: object) -> None:
    from orbit_registry.hook.shell import paths_in_command  # only calls of a shell need it

    if isinstance(command, list):
        command = [word for word in command[:MOST_VALUES] if isinstance(word, str)]
    elif not isinstance(command, str):
        return

    command_words = paths_in_command(command)
    text = command if isinstance(command, str) else " ".join(command)
    words = text[: calls.LONGEST_TEXT].split()
    if not ADDING.isdisjoint(words):
        call.arguments = {"command": " ".join(words)}

    number = checksum(" ".join(words).encode("utf-8", "surrogatepass"))
    call.command = number * _SPREAD >> 16 & 0xFFFFFFFFFFFF
    call.purposes = command_words.purposes
    call.paths_are_heuristic = True
    call.paths = command_words.paths
    call.candidate_paths = command_words.candidate_paths
    call.reads = command_words.reads

    if command_words.is_patch:
        call.task_class = "code"
        call.arguments = {"command": text}

    if command_words.texts:
        edits = [{"file_path": path, "content": text} for path, text in command_words.texts]
        call.arguments = {**call.arguments, "edits": edits}


def _walk(call: calls.Call, arguments: object) -> None:
    pending: list[tuple[str, object, int]] = [("", arguments, 0)]
    for _ in range(MOST_VALUES):
        if not pending or len(call.paths) + len(call.candidate_paths) >= calls.MOST_PATHS:
            return

        key, value, depth = pending.pop()
        if isinstance(value, dict) and depth < DEEPEST:
            members = [(name, inner) for name, inner in value.items() if isinstance(name, str)]
            for name, _ in members[:MOST_VALUES]:
                if key in _BY_PATH and "/" in name and calls.looks_like_path(name):
                    _take_word(call, name)

            for name, inner in reversed(members[:MOST_VALUES]):
                pending.append((name, inner, depth + 1))
        elif isinstance(value, list) and depth < DEEPEST:
            for inner in reversed(value[:MOST_VALUES]):
                pending.append((key, inner, depth + 1))
        elif isinstance(value, str) and value and _is_path_key(key):
            _take_word(call, value)


def _is_path_key(key: str) -> bool:
    start = 0
    for position, character in enumerate(key):
        if not position:
            continue
        if character in "_- .":
            start = position + 1
        elif character.isupper() and not key[position - 1].isupper():
            start = position

    word = key[start:].casefold()
    return word in _LAST_WORDS or (word.endswith("s") and word[:-1] in _LAST_WORDS)


def _take_word(call: calls.Call, word: str) -> None:
    is_url = "://" in word and not word.startswith("file://")
    if is_url or len(word) > calls.LONGEST_PATH or "\n" in word:
        return

    if calls.looks_like_path(word):
        call.paths.append(word)
    else:
        call.candidate_paths.append(word)


def _below(pattern: str) -> str:
    """Return the folder, with a slash, that holds everything a glob matches; empty without one."""
    positions = [at for mark in _GLOB_MARKS if (at := pattern.find(mark)) >= 0]
    if positions:
        return pattern[: pattern.rfind("/", 0, min(positions)) + 1]

    if "/" in pattern:
        return pattern

    return ""


LONGEST_FILE = 400_000  # characters of a text that are read
WHOLE = ("content", "file_text", "contents")
_PART_WORDS = (
    "new_string newString new_str replacement insert_text code_edit code new_source newText"
)
PART = tuple(_PART_WORDS.split())
OLD = ("old_string", "oldString", "old_str", "oldText")


def edits_in(
    arguments: "Payload", path: str, root: str, folder: str = ""
) -> "Iterator[tuple[str, str, str]]":
    """Yield file, new and old text of each edit in a tool's input.

    `path` is the file of the call, if it has one; names in the input count from `folder`.
    """
    folder = folder or root
    for text in arguments.values():
        if isinstance(text, str) and calls.PATCH in text[: calls.LONGEST_TEXT]:
            for name, new, old in _hunks(text[:LONGEST_FILE]):
                yield calls.in_project(root, folder, name) or name, new, old

    edits = arguments.get("edits")
    if not isinstance(edits, list):
        edits = []

    for edit in (arguments, *edits):
        if not isinstance(edit, dict):
            continue

        file: str | None = path
        if edit is not arguments and (name := calls.field(edit, "file_path", "filePath", "path")):
            file = calls.in_project(root, folder, name)

        whole = calls.field(edit, *WHOLE)[:LONGEST_FILE]
        new = whole or calls.field(edit, *PART)[:LONGEST_FILE]
        if not (file and new):
            continue

        old = calls.field(edit, *OLD)
        if whole and not old:
            old = _replaced(f"{root}/{file}", new)

        yield file, new, old


def _replaced(file: str, new: str) -> str:
    """Return what a file that is written whole replaces; empty if it holds the new text.

    An event after the write finds the new text there.
    """
    current = readable_content(file, LONGEST_FILE).decode("utf-8", "replace")
    if current == new:
        return ""

    return current


def _hunks(patch: str) -> "Iterator[tuple[str, str, str]]":
    """Yield file, added and removed lines of each part of a patch."""
    path = ""
    added: list[str] = []
    removed: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("*** "):
            yield path, "\n".join(added), "\n".join(removed)
            path, added, removed = line.partition(": ")[2].strip(), [], []
        elif line[:1] == "+":
            added.append(line[1:])
        elif line[:1] == "-":
            removed.append(line[1:])

    yield path, "\n".join(added), "\n".join(removed)
