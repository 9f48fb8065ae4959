"""Words that a decision forbids, in a text that a tool call writes;
loaded only where the index has such words.
"""

from orbit_registry.hook.index import CHECKS, FORBIDDEN, FORBIDDEN_IN, PHRASES, checksum
from orbit_registry.hook.project import readable_content
from orbit_registry.hook.tools import LONGEST_FILE, edits_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.index import Index, Row

    Breaks = dict[int, tuple[str, str, str]]

MOST_WORDS = 1_000  # of all checks together
MOST_SEARCHED, LEAST_SEARCHED = (
    16_000_000,
    20_000,
)  # characters: for all words, in 10 ms; of one text at least
MOST_HITS, LONGEST_HEAD = (
    1_000,
    500,
)  # hits of all words that are counted, characters read before each
GROUP = "\x1d"  # separator of the globs of a check
EXACT, ANY_CASE = "=", "~"  # prefixes of a word
_ALLOW, _COMMENT_SIGNS = "orbit: allow ", " \t#/*<!;%{(-"
_QUOTES, _PYTHON = '"""', (".py", ".pyi")
_HASH = ("py", "pyi", "rb", "sh", "bash", "zsh", "yaml", "yml", "toml", "nix", "ex", "exs", "tf")
_SLASHES = (
    "js",
    "jsx",
    "mjs",
    "cjs",
    "ts",
    "tsx",
    "mts",
    "cts",
    "go",
    "java",
    "kt",
    "kts",
    "scala",
    "swift",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "rs",
    "sol",
    "php",
)
_MARKS = {
    **dict.fromkeys(_HASH, ("#",)),
    **dict.fromkeys(_SLASHES, ("//", "/*", "*")),
    "sql": ("--",),
    "lua": ("--",),
}
"""What begins a comment, by the extension of a file."""


def forbidden(index: "Index", arguments: "Payload", path: str, root: str, folder: str) -> "Breaks":
    """Return, by number, the pushed records that forbid a word which a call adds:
    its key, the word and the line.
    """
    breaks: Breaks = {}
    patterns = [
        (number, index.pattern_text(number)) for number in index.lookup(FORBIDDEN)[1][:MOST_WORDS]
    ]
    for file, new, old in edits_in(arguments, path, root, folder):
        new, old = (part.replace("'''", _QUOTES) for part in (new, old))
        text = new[: max(MOST_SEARCHED // max(len(patterns), 1), LEAST_SEARCHED)]
        texts = {EXACT: (text, old), ANY_CASE: (text.casefold(), old.casefold())}
        present = [
            (number, pattern) for number, pattern in patterns if pattern[1:] in texts[pattern[0]][0]
        ]
        head, quotes = _before(root, file, new, old) if present else ("", 0)
        heads = {EXACT: head, ANY_CASE: head.casefold()}
        texts = {
            sign: (heads[sign] + added, heads[sign] + removed)
            for sign, (added, removed) in texts.items()
        }
        edit = _Edit(file, texts, quotes, MOST_HITS // max(len(present), 1) + 1)

        for number, pattern in present:
            start, end = index.range_of(number)
            for hit in index.hits[start:end].tolist():
                if hit < index.pushed << 32 and hit >> 32 not in breaks:
                    _add_break(breaks, index, hit, pattern, edit)

    return breaks


class _Edit:
    """Texts of an edit, and what is needed to read them."""

    __slots__ = ("file", "most_hits", "quotes", "texts")

    def __init__(
        self, file: str, texts: dict[str, tuple[str, str]], quotes: int | None, most_hits: int
    ) -> None:
        self.file, self.texts, self.most_hits = file, texts, most_hits
        self.quotes = quotes  # of docstrings before the texts; None if that can't be told

    def adds(self, pattern: str, where: str, allowances: "list[str]") -> bool:
        """Say whether the new text has a word more often."""
        new, old = (
            self._count(pattern[1:], text, where, allowances) for text in self.texts[pattern[0]]
        )
        return new > old

    def _count(self, word: str, text: str, where: str, allowances: "list[str]") -> int:
        """Return how often a word is in a text, without lines on which a comment allows it.

        With `where` "code" not in comments and strings, as far as a line tells.
        """
        marks = _MARKS.get(self.file.rpartition(".")[2].lower(), ()) if where == "code" else ()
        has_docstrings = where == "code" and self.quotes is not None and self.file.endswith(_PYTHON)
        has_allowances, line_end = _ALLOW in text, -1
        count, hits, quotes, last, offset = 0, 0, self.quotes or 0, 0, text.find(word)

        while offset >= 0 and hits < self.most_hits:
            if has_allowances and offset > line_end:
                is_allowed, line_end = _is_allowed(text, offset, allowances)
                if is_allowed:
                    offset = text.find(word, line_end)
                    continue

            hits, quotes, last = (
                hits + 1,
                quotes + (text.count(_QUOTES, last, offset) if has_docstrings else 0),
                offset,
            )

            end, start = offset + len(word), max(offset - LONGEST_HEAD, 0)
            head = text[max(text.rfind("\n", start, offset) + 1, start) : offset]
            before, after = text[offset - 1 : offset], text[end : end + 1]
            has_borders = not (_is_inside(before, word[0]) or _is_inside(after, word[-1]))
            in_docstring = has_docstrings and quotes % 2
            count += has_borders and not (
                in_docstring or (marks and _is_quoted_or_comment(head, marks))
            )

            offset = text.find(word, offset + 1)

        return count


def _before(root: str, file: str, new: str, old: str) -> tuple[str, int | None]:
    """Return the line on which an edit begins, up to there, and the quotes of docstrings in the
    file before that line.

    No line if the file has the text at several places; None instead of a number: that can't be
    told.
    """
    content = (
        readable_content(f"{root}/{file}", LONGEST_FILE)
        .decode("utf-8", "replace")
        .replace("'''", _QUOTES)
    )
    for text in (old, new):  # after the edit the file has the new one
        start = content.find(text) if text else -1
        if start >= 0:
            line = content.rfind("\n", 0, start) + 1 if content.count(text) == 1 else start
            return content[max(line, start - LONGEST_HEAD) : start], content.count(_QUOTES, 0, line)

    return "", None if new.count(_QUOTES) % 2 else 0


def _add_break(breaks: "Breaks", index: "Index", hit: int, pattern: str, edit: _Edit) -> None:
    """Add the record of a hit, if its check looks at the file and the edit adds the word."""
    row = index.row(hit >> 32)
    name, where, say, globs, *_ = row.words(CHECKS)[hit & 0xFFFFFFFF].split(PHRASES)
    if not _covers(index, globs.split(GROUP), edit.file):
        return

    allowance = f"{_ALLOW}{row.id}"
    allowances = [f"{allowance} because ", f"{allowance}/{name} because "]
    if pattern[0] == ANY_CASE:
        allowances = [text.casefold() for text in allowances]

    if edit.adds(pattern, where, allowances):
        key = f"{row.id}.{checksum(f'{name} {edit.file}'.encode('utf-8', 'surrogatepass')):x}"
        breaks[hit >> 32] = (key, pattern[1:], _line(row, pattern[1:], say))


def _line(row: "Row", word: str, say: str) -> str:
    record_id = row.id
    _, _, more = row.teaser.partition("\n")
    verb = "overrides" if ":" in record_id else "supersedes"  # an inherited record
    line = (
        f"- [{record_id}] this text holds `{word}`, which {record_id} forbids here: {say}; "
        f"to challenge it, "
    )
    line += (
        f"write `orbit: allow {record_id} because …` there, or propose an ADR that {verb} "
        f"{record_id}"
    )

    return f"{line}\n{more}" if more else line


def _covers(index: "Index", globs: "Iterable[str]", file: str) -> bool:
    def fits(glob: str) -> bool:
        return any(
            index.pattern_fits(number, file)
            for number in index.lookup(FORBIDDEN_IN + glob.lstrip("!"))[1]
        )

    included = [glob for glob in globs if glob[:1] != "!"]
    return any(map(fits, included)) and not any(fits(glob) for glob in globs if glob[:1] == "!")


def _is_allowed(text: str, offset: int, allowances: "list[str]") -> tuple[bool, int]:
    """Say whether a comment on a line, or alone on the line before, allows what is there;
    and where the line ends.
    """
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
