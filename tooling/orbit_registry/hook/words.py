"""Finds the words of a text that may be paths: in prompts and patches; it knows no agent and opens no file."""

from orbit_registry.hook.call import LONGEST_PATH, MOST_PATHS

PATCH = "*** Begin Patch"
LONGEST_TEXT = 20_000
"""Characters of a command or prompt in which paths are looked for."""
LONGEST_PATCH = 5_000_000
_APART = str.maketrans(dict.fromkeys("\t\r\n;|&<>()$`'\"=,{}[]、。，；：（）「」“”‘’", " "))
_AROUND = ".,:;!?@*"
_HUNKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "--- a/", "+++ b/")


def looks_like_path(word: str) -> bool:
    """Say whether a word has what paths have, a slash or an ending, and nothing that they seldom have."""
    if word.startswith("file://"):
        return True
    return not _ODD.intersection(word) and ("/" in word or "\\" in word or ("." in word[1:] and not _is_number(word)))


_ODD = frozenset(" \t\n|^()<>$;&\"'!,`=%#+\0")


def _is_number(word: str) -> bool:
    return word.replace(".", "").replace("-", "").replace("v", "", 1).isdigit() or not word.strip(".")


def patch_paths(text: str) -> list[str]:
    """Return the paths that a patch touches: the format of `apply_patch`, or a unified diff's `a/` and `b/`."""
    paths: dict[str, None] = {}
    for mark in _HUNKS:
        at = text.find(mark, 0, LONGEST_PATCH)
        while at >= 0 and len(paths) < MOST_PATHS:
            end = text.find("\n", at)
            if at == 0 or text[at - 1] == "\n":
                name = text[at + len(mark) : end if end >= 0 else None].partition("\t")[0].strip()
                if name and len(name) <= LONGEST_PATH:
                    paths[name] = None
            at = text.find(mark, at + len(mark), LONGEST_PATCH)
    return list(paths)


def path_words(text: str) -> list[str]:
    """Return the words of a prompt that may be paths: those with a slash or a dot inside."""
    words: dict[str, None] = {}
    for word in text[:LONGEST_TEXT].translate(_APART).split():
        head, colon, line = word.partition(":")
        name = (head if colon and line[:1].isdigit() else word).lstrip("@").rstrip(_AROUND)
        if name.startswith("file://"):
            words[name] = None
        if not name.startswith("-") and "://" not in name and ("/" in name or "." in name[1:] or "\\" in name):
            words[name.partition("#")[0].partition("::")[0]] = None
        if len(words) >= MOST_PATHS:
            break
    return list(words)
