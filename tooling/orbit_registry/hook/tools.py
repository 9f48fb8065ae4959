"""Arguments of tools: paths without a field (commands, patches, globs, foreign tools),
and texts that they write.
"""

from orbit_registry.hook import call as calls
from orbit_registry.hook.index import checksum
from orbit_registry.hook.project import readable_content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from orbit_registry.hook.call import Payload

FOLDER_FIELDS = (
    "workdir",
    "cwd",
    "working_directory",
    "workingDirectory",
    "dir_path",
    "dirPath",
    "directory",
    "folder",
)
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
SHELLS = frozenset(
    (
        "bash",
        "shell",
        "sh",
        "powershell",
        "pwsh",
        "terminal",
        "exec",
        "exec_command",
        "local_shell",
        "run_command",
        "run_shell_command",
        "run_terminal_cmd",
        "run_in_terminal",
        "runinterminal",
        "execute_command",
        "unified_exec",
    )
)
WRITES = frozenset(
    (
        "edit",
        "write",
        "multiedit",
        "notebookedit",
        "replace",
        "write_file",
        "edit_file",
        "create",
        "create_file",
        "str_replace",
        "str_replace_editor",
        "insert",
        "apply_patch",
        "applypatch",
        "patch",
        "search_replace",
        "delete",
        "edit_notebook",
        "delete_file",
        "insert_edit_into_file",
        "replace_string_in_file",
    )
)
SEARCHES = frozenset(
    (
        "glob",
        "grep",
        "ls",
        "list",
        "find",
        "list_directory",
        "list_dir",
        "search_file_content",
        "grep_search",
        "file_search",
        "codebase_search",
        "rg",
        "search",
    )
)
ADDING = frozenset(
    ("install", "i", "add", "get", "require")
)  # words after a program that installs packages
DEEPEST, MOST_VALUES = (
    8,
    500,
)  # depth and number of the values of an unknown tool's arguments that are searched
_LAST_WORDS = frozenset(
    (
        "path",
        "file",
        "filename",
        "filepath",
        "uri",
        "folder",
        "dir",
        "directory",
        "notebook",
        "document",
        "source",
        "destination",
        "src",
        "dest",
        "dst",
        "cwd",
        "root",
        "workdir",
        "target",
    )
)
_SPREAD = 0x9E3779B97F4A7C15


def take_other(call: calls.Call, name: str, arguments: object) -> None:
    """Add a tool's arguments to a call; `name` is in lower case."""
    foreign = name.startswith(("mcp_", "mcp:"))

    if isinstance(arguments, str):
        arguments = {"command": arguments}
    if not isinstance(arguments, dict):
        return
    if not foreign:
        _take_own(call, name, arguments)

    if foreign or not (call.paths or call.candidate_paths or name in SHELLS or name in SEARCHES):
        call.paths_are_heuristic = True
        _walk(call, arguments)


def _take_own(call: calls.Call, name: str, arguments: "Payload") -> None:
    call.paths = calls.named_paths(arguments)
    folder = calls.field(arguments, *FOLDER_FIELDS)
    if name in SEARCHES:
        call.paths_are_heuristic = True
        pattern = calls.field(
            arguments, *GLOB_FIELDS, *(["pattern"] if name in ("glob", "file_search") else [])
        )
        if (below := _below(pattern)) and "://" not in below:
            call.paths = [calls.resolve_path((call.paths or [folder])[0], below)]
        elif folder and not call.paths:
            call.candidate_paths = [folder]

        return

    inputs = () if name in SHELLS else [calls.field(arguments, key) for key in PATCH_FIELDS]
    patch = next((text for text in inputs if text.lstrip().startswith(calls.PATCH)), "")
    if name in WRITES or patch:
        call.arguments, call.task_class = arguments, "code"

    command = next((value for key in COMMAND_FIELDS if (value := arguments.get(key))), None)
    if patch:
        call.folder = calls.resolve_path(call.folder, folder)
        call.paths = calls.patch_paths(patch)
    elif command is not None and (name in SHELLS or not call.paths):
        call.folder = calls.resolve_path(call.folder, folder)
        _take_command(call, command)


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

    call.command = (
        checksum(" ".join(words).encode("utf-8", "surrogatepass")) * _SPREAD >> 16 & 0xFFFFFFFFFFFF
    )
    call.purposes = command_words.purposes
    call.paths_are_heuristic = True
    call.paths, call.candidate_paths = command_words.paths, command_words.candidate_paths
    call.reads = command_words.reads

    if command_words.is_patch:
        call.task_class = "code"
        call.arguments = {"command": text}

    if command_words.texts:
        edits = [{"file_path": path, "content": text} for path, text in command_words.texts]
        call.arguments = {**call.arguments, "edits": edits}


def _walk(call: calls.Call, arguments: object) -> None:
    pending: list[tuple[str, object, int]] = [("", arguments, 0)]
    examined = 0
    while (
        pending
        and examined < MOST_VALUES
        and len(call.paths) + len(call.candidate_paths) < calls.MOST_PATHS
    ):
        key, value, depth = pending.pop()
        examined += 1

        if isinstance(value, dict) and depth < DEEPEST:
            members = (
                (name, inner)
                for name, inner in list(value.items())[:MOST_VALUES]
                if isinstance(name, str)
            )
            pending += reversed([(name, inner, depth + 1) for name, inner in members])
        elif isinstance(value, list) and depth < DEEPEST:
            pending += [
                (key, inner_value, depth + 1) for inner_value in reversed(value[:MOST_VALUES])
            ]
        elif isinstance(value, str) and value and _is_path_key(key):
            _take_word(call, value)


def _is_path_key(key: str) -> bool:
    last = start = 0
    for position, character in enumerate(key):
        if character in "_- ." or (
            character.isupper() and position and not key[position - 1].isupper()
        ):
            last, start = position, position + (character in "_- .")
    word = key[start if last else 0 :].casefold()
    return word in _LAST_WORDS or (word.endswith("s") and word[:-1] in _LAST_WORDS)


def _take_word(call: calls.Call, word: str) -> None:
    if (
        len(word) > calls.LONGEST_PATH
        or "\n" in word
        or ("://" in word and not word.startswith("file://"))
    ):
        return
    (call.paths if calls.looks_like_path(word) else call.candidate_paths).append(word)


def _below(pattern: str) -> str:
    """Return the folder, with a slash, that holds everything a glob matches;
    empty if there is none.
    """
    if not any(mark in pattern for mark in "*?[{"):
        return pattern if "/" in pattern else ""

    names = pattern.split("/")
    plain = next(
        position for position, name in enumerate(names) if any(mark in name for mark in "*?[{")
    )
    return "/".join(names[:plain]) + "/" if plain else ""


LONGEST_FILE = 400_000  # characters of a text that are read
WHOLE = ("content", "file_text", "contents")
PART = (
    "new_string",
    "newString",
    "new_str",
    "replacement",
    "insert_text",
    "code_edit",
    "code",
    "new_source",
    "newText",
)
OLD = ("old_string", "oldString", "old_str", "oldText")


def edits_in(
    arguments: "Payload", path: str, root: str, folder: str = ""
) -> "Iterator[tuple[str, str, str]]":
    """Yield file, new and old text of each edit in a tool's input.

    `path` is the file of the call, if it has one; names in the input count from `folder`. A file
    that is written whole replaces what it holds, if that differs: an event after the write finds
    the new text there.
    """
    folder = folder or root
    for text in arguments.values():
        if isinstance(text, str) and calls.PATCH in text[: calls.LONGEST_TEXT]:
            for name, new, old in _hunks(text[:LONGEST_FILE]):
                yield calls.in_project(root, folder, name) or name, new, old

    edits = arguments.get("edits")
    for edit in (arguments, *(edits if isinstance(edits, list) else ())):
        if not isinstance(edit, dict):
            continue

        name = calls.field(edit, "file_path", "filePath", "path") if edit is not arguments else ""
        file = calls.in_project(root, folder, name) if name else path
        whole, old = calls.field(edit, *WHOLE)[:LONGEST_FILE], calls.field(edit, *OLD)
        new = whole or calls.field(edit, *PART)[:LONGEST_FILE]

        if file and new:
            content = readable_content(f"{root}/{file}", LONGEST_FILE) if whole and not old else b""
            current = content.decode("utf-8", "replace")
            yield file, new, old or (current if current != new else "")


def _hunks(patch: str) -> "Iterator[tuple[str, str, str]]":
    """Yield file, added and removed lines of each part of a patch."""
    path, added, removed = "", list[str](), list[str]()
    for line in patch.split("\n"):
        if line.startswith("*** "):
            yield path, "\n".join(added), "\n".join(removed)
            path, added, removed = line.partition(": ")[2].strip(), [], []
        elif line[:1] == "+":
            added.append(line[1:])
        elif line[:1] == "-":
            removed.append(line[1:])

    yield path, "\n".join(added), "\n".join(removed)
