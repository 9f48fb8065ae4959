"""Words that a decision forbids, in a text that a tool call writes; loaded only where the index has such words."""

from orbit_registry.hook.index import CHECKS, DAMAGE, FORBIDDEN, FORBIDDEN_IN, ID, PHRASES, checksum
from orbit_registry.hook.tools import edits_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.index import Index, Row

    Breaks = dict[int, tuple[str, str, str]]

MOST_WORDS = 1_000  # of all checks together: 500 take 2.5 ms in 20 kB
MOST_HITS, LONGEST_HEAD = 1_000, 500  # hits of a word that are counted, characters read before each
GROUP = "\x1d"  # separator of the globs of a check
EXACT, ANY_CASE = "=", "~"  # prefixes of a word
_ALLOW, _COMMENT_SIGNS = "orbit: allow ", " \t#/*<!;%{(-"
_HASH = ("py", "pyi", "rb", "sh", "bash", "zsh", "yaml", "yml", "toml", "nix", "ex", "exs", "tf")
_SLASHES = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "java", "kt", "kts", "scala", "swift", "c", "h",
            "cc", "cpp", "hpp", "cs", "rs", "sol", "php")  # fmt: skip
_MARKS = {**dict.fromkeys(_HASH, ("#",)), **dict.fromkeys(_SLASHES, ("//", "/*", "*")), "sql": ("--",), "lua": ("--",)}
"""What begins a comment, by the extension of a file."""


def forbidden(index: "Index", arguments: "Payload", path: str, root: str, folder: str) -> "Breaks":
    """Return, by number, the pushed records that forbid a word which a call adds: its key, the word and the line."""
    breaks: Breaks = {}
    try:
        patterns = [(number, index.pattern_text(number)) for number in index.lookup(FORBIDDEN)[1][:MOST_WORDS]]
        for file, *texts in edits_in(arguments, path, root, folder):
            forms = {EXACT: texts, ANY_CASE: [text.casefold() for text in texts]}
            for number, pattern in patterns:
                new, old = forms[pattern[0]]
                if pattern[1:] in new:
                    start, end = index.range_of(number)
                    for hit in index.hits[start:end].tolist():
                        if hit < index.pushed << 32 and hit >> 32 not in breaks:
                            _add_break(breaks, index, hit, pattern, (file, new, old))
    except DAMAGE:
        index.damaged = True
    return breaks


def _add_break(breaks: "Breaks", index: "Index", hit: int, pattern: str, edit: tuple[str, str, str]) -> None:
    """Add the record of a hit, if its check looks at the file and the edit adds the word."""
    row = index.row(hit >> 32)
    checks = row.words(CHECKS) if row is not None else []
    if row is None or hit & 0xFFFFFFFF >= len(checks):
        return
    name, where, say, globs, *_ = checks[hit & 0xFFFFFFFF].split(PHRASES)
    file, new, old = edit
    if not _covers(index, globs.split(GROUP), file):
        return
    allowance = f"{_ALLOW}{row.values[ID]}"
    allowances = [f"{allowance} because ", f"{allowance}/{name} because "]
    if pattern[0] == ANY_CASE:
        allowances = [text.casefold() for text in allowances]
    if _count(pattern[1:], new, file, where, allowances) > _count(pattern[1:], old, file, where, allowances):
        key = f"{row.values[ID]}.{checksum(f'{name} {file}'.encode('utf-8', 'surrogatepass')):x}"
        breaks[hit >> 32] = (key, pattern[1:], _line(row, pattern[1:], say))


def _line(row: "Row", word: str, say: str) -> str:
    record_id = row.values[ID]
    _, _, more = row.teaser.partition("\n")
    verb = "overrides" if ":" in record_id else "supersedes"  # an inherited record
    line = f"- [{record_id}] this text holds `{word}`, which {record_id} forbids here: {say}; to challenge it, "
    line += f"write `orbit: allow {record_id} because …` there, or propose an ADR that {verb} {record_id}"
    return f"{line}\n{more}" if more else line


def _covers(index: "Index", globs: "Iterable[str]", file: str) -> bool:
    def fits(glob: str) -> bool:
        return any(index.pattern_fits(number, file) for number in index.lookup(FORBIDDEN_IN + glob.lstrip("!"))[1])

    included = [glob for glob in globs if glob[:1] != "!"]
    return any(map(fits, included)) and not any(fits(glob) for glob in globs if glob[:1] == "!")


def _count(word: str, text: str, file: str, where: str, allowances: "list[str]") -> int:
    """Return how often a word is in a text, without lines on which a comment allows it.

    With `where` "code" not in comments and strings, as far as a line tells.
    """
    marks = _MARKS.get(file.rpartition(".")[2].lower(), ()) if where == "code" else ()
    has_docstrings = where == "code" and file.endswith((".py", ".pyi"))
    has_docstrings = has_docstrings and text.count('"""') % 2 == 0  # a part of a file may begin in a docstring
    has_allowances, line_end = _ALLOW in text, -1
    count, hits, quotes, last, offset = 0, 0, 0, 0, text.find(word)
    while offset >= 0 and hits < MOST_HITS:
        if has_allowances and offset > line_end:
            is_allowed, line_end = _is_allowed(text, offset, allowances)
            if is_allowed:
                offset = text.find(word, line_end)
                continue
        hits, quotes, last = hits + 1, quotes + (text.count('"""', last, offset) if has_docstrings else 0), offset
        end, start = offset + len(word), max(offset - LONGEST_HEAD, 0)
        head = text[max(text.rfind("\n", start, offset) + 1, start) : offset]
        has_borders = not (_is_inside(text[offset - 1 : offset], word[0]) or _is_inside(text[end : end + 1], word[-1]))
        count += has_borders and not (quotes % 2 or (marks and _is_quoted_or_comment(head, marks)))
        offset = text.find(word, offset + 1)
    return count


def _is_allowed(text: str, offset: int, allowances: "list[str]") -> tuple[bool, int]:
    """Say whether a comment on a line, or alone on the line before, allows what is there; and where the line ends."""
    start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    end = len(text) if end < 0 else end
    before = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start]
    is_alone = not before[: max(before.find(_ALLOW), 0)].strip(_COMMENT_SIGNS)
    lines = f"{text[start:end]}\n{before if is_alone else ''}"
    return any(allowance in lines for allowance in allowances), end


def _is_inside(character: str, neighbour: str) -> bool:
    """Say whether a character continues the word that its neighbour is in."""
    return all(sign == "_" or sign.isalnum() for sign in (character or " ", neighbour))


def _is_quoted_or_comment(head: str, marks: "tuple[str, ...]") -> bool:
    start = head.lstrip()
    if start.startswith(marks) or any(f" {mark}" in head for mark in marks[:2]):
        return True
    return any(head.count(quote) % 2 for quote in "\"'`")
