"""Words that a decision forbids, in a text that a tool call writes.

It is loaded only where the index has such words.
"""

from orbit_registry.hook.files import readable_content
from orbit_registry.hook.index import FORBIDDEN, FORBIDDEN_IN, checksum
from orbit_registry.hook.tools import LONGEST_FILE, edits_in
from orbit_registry.model.fields import CHECKS, PHRASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.index import Index
    from orbit_registry.model.fields import Row

    Breaks = dict[int, tuple[str, str, str]]

MOST_WORDS = 1_000  # of all checks together
MOST_SEARCHED, LEAST_SEARCHED = 16_000_000, 20_000
"""Characters: for all words, in 10 ms; of one text at least."""
MOST_HITS, LONGEST_HEAD = 1_000, 500
"""Hits of all words that are counted, characters that are read before each."""
GROUP = "\x1d"  # separator of the globs of a check
EXACT, ANY_CASE = "=", "~"  # prefixes of a word
_ALLOW, _COMMENT_SIGNS = "orbit: allow ", " \t#/*<!;%{(-"
_QUOTES, _PYTHON = '"""', (".py", ".pyi")
_HASH = "py pyi rb sh bash zsh yaml yml toml nix ex exs tf"
_SLASHES = "js jsx mjs cjs ts tsx mts cts go java kt kts scala swift c h cc cpp hpp cs rs sol php"
_MARKS = {
    **dict.fromkeys(_HASH.split(), ("#",)),
    **dict.fromkeys(_SLASHES.split(), ("//", "/*", "*")),
    "sql": ("--",),
    "lua": ("--",),
}
"""What begins a comment, by the extension of a file."""


def forbidden(index: "Index", arguments: "Payload", path: str, root: str, folder: str) -> "Breaks":
    """Return, by number, the pushed records that forbid a word which a call adds.

    Each has its key, the word and the line.
    """
    breaks: Breaks = {}
    patterns = [*index.lookup(FORBIDDEN)[1].items()][:MOST_WORDS]
    most = max(MOST_SEARCHED // max(len(patterns), 1), LEAST_SEARCHED)

    for file, added, removed in edits_in(arguments, path, root, folder):
        new = added.replace("'''", _QUOTES)
        old = removed.replace("'''", _QUOTES)
        text = new[:most]
        by_sign = {EXACT: text, ANY_CASE: text.casefold()}
        present = [
            (pattern, hits) for pattern, hits in patterns if pattern[1:] in by_sign[pattern[0]]
        ]
        if not present:
            continue

        head, quotes = _before(root, file, new, old)
        text, old = head + text, head + old
        texts = {EXACT: (text, old), ANY_CASE: (text.casefold(), old.casefold())}
        edit = _Edit(file, texts, quotes, MOST_HITS // len(present) + 1)

        for pattern, hits in present:
            for hit in hits:
                if hit < index.pushed << 32 and hit >> 32 not in breaks:
                    _add_break(breaks, index, hit, pattern, edit)

    return breaks


class _Edit:
    """Texts of an edit, and what is needed to read them."""

    __slots__ = ("file", "most_hits", "quotes", "texts")

    def __init__(
        self, file: str, texts: dict[str, tuple[str, str]], quotes: int | None, most_hits: int
    ) -> None:
        self.file = file
        self.texts = texts
        self.most_hits = most_hits
        self.quotes = quotes  # of docstrings before the texts; None if that can't be told

    def adds(self, pattern: str, where: str, allowances: "list[str]") -> bool:
        """Say whether the new text has a word more often."""
        new, old = self.texts[pattern[0]]
        word = pattern[1:]
        before = self._count(word, old, where, allowances)
        return self._count(word, new, where, allowances) > before

    def _count(self, word: str, text: str, where: str, allowances: "list[str]") -> int:
        """Return how often a word is in a text, without lines on which a comment allows it.

        With `where` "code" not in comments and strings, as far as a line tells.
        """
        marks: tuple[str, ...] = ()
        has_docstrings = False
        if where == "code":
            marks = _MARKS.get(self.file.rpartition(".")[2].lower(), ())
            has_docstrings = self.quotes is not None and self.file.endswith(_PYTHON)

        has_allowances = _ALLOW in text
        line_end = -1
        quotes, last = self.quotes or 0, 0
        count = hits = 0
        offset = text.find(word)
        while offset >= 0 and hits < self.most_hits:
            if has_allowances and offset > line_end:
                is_allowed, line_end = _is_allowed(text, offset, allowances)
                if is_allowed:
                    offset = text.find(word, line_end)
                    continue

            hits += 1
            if has_docstrings:
                quotes += text.count(_QUOTES, last, offset)
                last = offset

            in_docstring = has_docstrings and quotes % 2
            if not in_docstring and _is_word(text, offset, word):
                count += not (marks and _is_quoted_or_comment(_head(text, offset), marks))

            offset = text.find(word, offset + 1)

        return count


def _head(text: str, offset: int) -> str:
    """Return a line up to an offset, or its last `LONGEST_HEAD` characters."""
    start = max(offset - LONGEST_HEAD, 0)
    return text[max(text.rfind("\n", start, offset) + 1, start) : offset]


def _is_word(text: str, offset: int, word: str) -> bool:
    end = offset + len(word)
    before, after = text[offset - 1 : offset], text[end : end + 1]
    return not (_is_inside(before, word[0]) or _is_inside(after, word[-1]))


def _before(root: str, file: str, new: str, old: str) -> tuple[str, int | None]:
    """Return the line on which an edit begins, up to there, and the docstrings' quotes before it.

    There is no line if the file has the text several times, and None if quotes can't be counted.
    """
    content = readable_content(f"{root}/{file}", LONGEST_FILE).decode("utf-8", "replace")
    content = content.replace("'''", _QUOTES)
    for text in (old, new):  # after the edit the file has the new text
        start = content.find(text) if text else -1
        if start < 0:
            continue

        line = start
        if content.count(text) == 1:
            line = content.rfind("\n", 0, start) + 1

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
        f"to challenge it, write `orbit: allow {record_id} because …` there, or propose an ADR "
        f"that {verb} {record_id}"
    )
    if more:
        return f"{line}\n{more}"

    return line


def _covers(index: "Index", globs: "Iterable[str]", file: str) -> bool:
    def fits(glob: str) -> bool:
        patterns = index.lookup(FORBIDDEN_IN + glob.lstrip("!"))[1]
        return any(index.pattern_fits(pattern, file) for pattern in patterns)

    included = [glob for glob in globs if glob[:1] != "!"]
    excluded = [glob for glob in globs if glob[:1] == "!"]
    return any(map(fits, included)) and not any(map(fits, excluded))


def _is_allowed(text: str, offset: int, allowances: "list[str]") -> tuple[bool, int]:
    """Say whether a comment allows what is on a line, and where the line ends.

    The comment is on the line, or alone on the line before.
    """
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    if end < 0:
        end = len(text)

    lines = f"{text[start:end]}\n"
    before = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start]
    is_alone = not before[: max(before.find(_ALLOW), 0)].strip(_COMMENT_SIGNS)
    if is_alone:
        lines += before

    return any(allowance in lines for allowance in allowances), end


def _is_inside(character: str, neighbour: str) -> bool:
    """Say whether a character continues the word that its neighbour is in."""
    return all(sign == "_" or sign.isalnum() for sign in (character or " ", neighbour))


def _is_quoted_or_comment(head: str, marks: "tuple[str, ...]") -> bool:
    start = head.lstrip()
    if start.startswith(marks) or any(f" {mark}" in head for mark in marks[:2]):
        return True
    return any(head.count(quote) % 2 for quote in "\"'`")
