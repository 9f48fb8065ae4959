"""Texts that a tool call writes: each with its file, from the root, and what it replaces."""

from orbit_registry.hook.call import LONGEST_TEXT, PATCH, field, in_project
from orbit_registry.hook.project import content_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from orbit_registry.hook.call import Payload

LONGEST_FILE = 400_000  # characters of a text that are read
WHOLE = ("content", "file_text", "contents")
PART = ("new_string", "newString", "new_str", "replacement", "insert_text", "code_edit", "code", "new_source",
        "newText")  # fmt: skip
OLD = ("old_string", "oldString", "old_str", "oldText")


def edits_in(arguments: "Payload", path: str, root: str, folder: str = "") -> "Iterator[tuple[str, str, str]]":
    """Yield file, new and old text of each edit in a tool's input.

    `path` is the file of the call, if it has one; names in the input count from `folder`. A file that is written whole
    replaces what it holds, if that differs: an event after the write finds the new text there.
    """
    folder = folder or root
    for text in arguments.values():
        if isinstance(text, str) and PATCH in text[:LONGEST_TEXT]:
            for name, new, old in _hunks(text[:LONGEST_FILE]):
                yield in_project(root, folder, name) or name, new, old
    edits = arguments.get("edits")
    for edit in (arguments, *(edits if isinstance(edits, list) else ())):
        if not isinstance(edit, dict):
            continue
        name = field(edit, "file_path", "filePath", "path") if edit is not arguments else ""
        file = in_project(root, folder, name) if name else path
        whole, old = field(edit, *WHOLE)[:LONGEST_FILE], field(edit, *OLD)
        new = whole or field(edit, *PART)[:LONGEST_FILE]
        if file and new:
            current = _current(f"{root}/{file}") if whole and not old else ""
            yield file, new, old or (current if current != new else "")


def _current(path: str) -> str:
    try:
        return content_of(path, LONGEST_FILE).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


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
