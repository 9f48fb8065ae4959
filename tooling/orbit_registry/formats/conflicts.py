"""Conflicts that a merge of git left in a text."""

from orbit_registry.formats.common_markdown import outside_fences

_OURS, _BETWEEN, _THEIRS = "<<<<<<< ", "=======", ">>>>>>> "


def conflict_line(text: str, *, in_code: bool = False) -> int:
    """Return the line, from 1, on which the first conflict of a text begins; 0 for none.

    One in a block of code may be an example, and counts only with `in_code`.
    """
    if f"\n{_OURS}" not in f"\n{text}":
        return 0

    lines = text.split("\n")
    numbered = enumerate(lines) if in_code else outside_fences(lines)
    beginnings = [number for number, line in numbered if line.startswith(_OURS)]
    for number in beginnings:
        below = iter(lines[number + 1 :])
        is_divided = any(line.rstrip() == _BETWEEN for line in below)
        if is_divided and any(line.startswith(_THEIRS) for line in below):
            return number + 1

    return 0
