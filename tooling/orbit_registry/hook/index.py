"""Push index: open it and look records up, in push order.

It is read at every tool call, so it imports only built-in modules written in C, and reads only the
parts of the file that the call needs. `docs/reference/push-index.md` has the format. A missing or
torn file is a `NoIndex`; a damaged part raises one of `DAMAGE`.
"""

from marshal import loads
from posix import O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, close, fstat, lstat, pread
from posix import open as open_file

from orbit_registry.hook.files import content_of, stamp
from orbit_registry.hook.project import index_file
from orbit_registry.model.fields import (
    CHECKSUM,
    EXCLUDES,
    FIELDS,
    GLOBS,
    MOVED,
    MTIME,
    PATH,
    SIZE,
    Row,
)

TYPE_CHECKING = False  # `typing` is too much to import here
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from orbit_registry.hook.matcher import Program

    Patterns = dict[str, list[int]]
    Posting = tuple[float, list[int], list[int]]
    Runs = list[tuple[float, str, str]]

PRIME = 1_000_000_000_000_000_003
MAX_PATH = 4096
LARGEST_COMPARED = (
    65_536  # bytes of a record's file; a larger one whose time differs counts as changed
)
CHANGED, GONE = "changed", "gone"  # how it differs from the one that the index was made from
MISSING = "there is no push index yet"
AT = (1 << 32) - 1  # bits of a hit for the place of its glob
WIDE = 1 << 31
"""Bit of a hit whose glob is wide; of two hits of a record the one of a narrow glob is smaller."""

LONGEST_TAIL = (
    1 << 20
)  # bytes behind the index itself: lines with a hash of what it was made from, and stamps of that

# axis of the rejected options, each under the first word of its names; alone it says that there are
# any
OPTIONS = "o"
FORBIDDEN, FORBIDDEN_IN = (
    "n",
    "n/",
)  # axes of words that checks forbid, and of the globs of the files
# axis of what took the place of closed records, under each one's id and the paths of its texts
REPLACED = "r"
# axis of what the citations of a file lead to, under its path; a hit of a successor has the number
# of the closed record that the file cites, plus one, in its lower half
CITED = "y"
_OPEN = (
    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
)  # what is not a file, a pipe, answers at once
DAMAGE = (KeyError, IndexError, ValueError, OverflowError, TypeError, EOFError, OSError)
"""What reading a damaged index raises."""
WORD = 8  # bytes of a number that says where a part is, and of a checksum; of all, at the end
HEAD = 0  # the part that describes all others


def composed(text: str) -> str:
    """Return a text in the form in which paths, globs and tags are compared: `é` is one character,
    which some file systems and editors write as two.
    """
    if text.isascii():
        return text

    from unicodedata import normalize  # most texts do without

    return normalize("NFC", text)


class NoIndex:
    """A missing or unusable index; false, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __bool__(self) -> bool:
        return False


def checksum(content: bytes) -> int:
    """Return the hash of some bytes that keys and the header use."""
    return int.from_bytes(content, "little") % PRIME


def hash_of(key: str) -> int:
    """Return the hash by which the part with a key is looked up."""
    return checksum(key.encode("utf-8", "surrogatepass"))


def open_index(root: str) -> "Index | NoIndex":
    """Return the index of the project at `root`."""
    try:
        handle = open_file(index_file(root), _OPEN)
    except (OSError, ValueError):
        return NoIndex(MISSING)

    return _index_in(File(handle), root)


def read_index(content: bytes, root: str) -> "Index | NoIndex":
    """Return the index that some bytes hold."""
    return _index_in(Memory(content), root)


def _index_in(source: "File | Memory", root: str) -> "Index | NoIndex":
    try:
        return Index(source, root)
    except DAMAGE:
        return NoIndex("the push index is damaged or cut off")


class File:
    """An open file, which is closed when nothing refers to it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.size = fstat(handle).st_size

    def __del__(self) -> None:
        close(self._handle)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from one position up to another or the end."""
        return pread(self._handle, min(end, self.size) - start, start)


class Memory:
    """Bytes in memory, read as a file is."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size = len(content)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from one position up to another or the end."""
        return self._content[start:end]


class Index:
    """An open index, in push order. A hit is the record's number times 2^32 plus the position of
    the matching glob, and `WIDE` if that glob is wide.

    Where the file is damaged its methods raise one of `DAMAGE`.
    """

    def __init__(self, source: "File | Memory", root: str) -> None:
        self.source, self.root = source, root
        head: dict[str, Any] = loads(self.content_of(HEAD))

        self.parts: int = head["parts"]
        _, end = self._places(self.parts - 1)
        self.length = end + WORD
        if self.length > source.size:
            raise ValueError("the push index is cut off")

        self.records: int = head["records"]
        self.pushed: int = head["pushed"]
        self.holdout: int = head["holdout"]
        self.settings: int = head["settings"]
        self.unread: int = head["unread"]
        self.min_relevance: float = head["min_relevance"]
        self.texts: str = head["texts"]
        self.chosen: str = head["chosen"]
        self.unknown_worth: float = head["unknown"]
        self.run_worth: float = head["run"]
        self.flags: bytes = head["flags"]
        self._first: dict[str, int] = head["first"]
        self._sizes: dict[str, int] = head["sizes"]

        self.differences: list[str] = []  # changed files of looked-up records, with time and size
        self._loaded: dict[int, Any] = {}
        self._programs: dict[str, Program] = {}

    def _places(self, part: int) -> tuple[int, int]:
        """Return where a part begins, and where the next one does."""
        at = part * WORD
        places = self.source.read(at, at + 2 * WORD)
        return int.from_bytes(places[:WORD], "little"), int.from_bytes(places[WORD:], "little")

    def content_of(self, part: int) -> bytes:
        """Return the bytes of a part; its number and its checksum show whether they are whole."""
        content = self.source.read(*self._places(part))
        body = content[WORD:]
        if checksum(body) ^ part != int.from_bytes(content[:WORD], "little"):
            raise ValueError("the push index is damaged")
        return body

    def raw(self, section: str) -> "Iterator[bytes]":
        """Yield the parts of a section as they are in the file, unchecked."""
        first = self._first[section]
        for part in range(first, first + self._sizes[section]):
            yield self.source.read(*self._places(part))

    def part(self, section: str, number: int = 0) -> "Any":
        """Return a part of a section."""
        part = self._first[section] + number
        if part not in self._loaded:
            self._loaded[part] = loads(self.content_of(part))
        return self._loaded[part]

    def _bucket(self, section: str, key: str) -> "Any":
        """Return the part of a section that has a key, if there is such a key."""
        return self.part(section, hash_of(key) % self._sizes[section])

    def read(self, start: int, end: int) -> bytes:
        """Return bytes of the file."""
        return self.source.read(start, end)

    def match(self, path: str, everything: bool = False) -> list[int]:
        """Return one hit a pushed record, with `everything` a record,
        for a path from the project's root; that of a narrow glob if there is one.
        """
        if len(path) > MAX_PATH:
            return []

        hits, patterns = self.candidates(path)
        for pattern, more in patterns.items():
            if self.pattern_fits(pattern, path):
                hits += more

        return self._merged(hits, everything, path)

    def hits_under(self, axis: str, word: str, everything: bool = False) -> list[int]:
        """Return hits for a tag ("t"), category ("c"), gate ("g"),
        a rule's id ("i") or link ("l").
        """
        beyond = (self.records if everything else self.pushed) << 32
        return [hit for hit in self.lookup(axis + composed(word))[0] if hit < beyond]

    def has(self, key: str) -> bool:
        """Say whether there is a key, which may have no hits."""
        return key in self._bucket("keys", key)

    def lookup(self, key: str) -> "tuple[list[int], Patterns]":
        """Return the hits under a key, and the patterns with the hits of each."""
        hits: list[int] = []
        patterns: Patterns = {}
        self._add(key, (("", ""),), hits, patterns)
        return hits, patterns

    def word(self, word: str) -> "tuple[str, float, dict[int, float]] | None":
        """Return the term of a word, what it weighs at most,
        and what it weighs in the records that have it, by their numbers.
        """
        forms, _, _ = self._bucket("words", word)
        term = forms.get(word, word)
        worth, slots, counts = self.posting(term)
        if not slots:
            return None

        numbers, _ = self.part("numbers")
        norms = self.part("norms")
        weights: dict[int, float] = {}
        for slot, count in zip(slots, counts, strict=True):
            number = numbers[slot]
            weight = worth * count / (count + norms[slot])
            if number >= 0 and weight > weights.get(number, 0.0):
                weights[number] = weight

        return term, worth, weights

    def posting(self, term: str) -> "Posting":
        """Return what a term weighs at most, the texts that have it, and what it counts there."""
        _, terms, _ = self._bucket("words", term)
        posting: Posting = terms.get(term, (0.0, [], []))
        return posting

    def texts_with_name(self, name: str) -> list[int]:
        """Return the texts that have an identifier which is not one of their words."""
        _, _, names = self._bucket("words", name)
        texts: list[int] = names.get(name, [])
        return texts

    def chance(self, number: int) -> tuple[float, float]:
        """Return what a word of another text weighs in a record on average,
        and how far from that chance leads.
        """
        _, places = self.part("numbers")
        chances = self.part("chances")
        at = 2 * places[number]
        return chances[at], chances[at + 1]

    def runs(self, number: int) -> "Runs":
        """Return the texts of a record: what each has below the line,
        and its terms in a row: those of its title and tags, and those of its body.
        """
        _, places = self.part("numbers")
        runs: Runs = self.part("runs", places[number])
        return runs

    def row(self, number: int) -> Row:
        """Return a record by its number."""
        values = self.part("rows", number)
        if len(values) != FIELDS:
            raise ValueError("the push index is damaged")
        return Row(number, values, self.flags[number])

    def glob_of(self, row: Row, hit: int) -> str:
        """Return the record's glob of a hit; after a rename the one that is still in its file."""
        return self._indexed_glob(row, hit).rpartition(MOVED)[2]

    def renamed_to(self, row: Row, hit: int) -> str:
        """Return the glob that a hit follows a rename by; empty for a glob of the record."""
        _, _, marked = self._indexed_glob(row, hit).partition(MOVED)
        return marked.partition(MOVED)[0]

    def _indexed_glob(self, row: Row, hit: int) -> str:
        globs = row.words(GLOBS)
        position = hit & (WIDE - 1)
        if position < len(globs):
            return globs[position]

        return ""

    def excluding(self, row: Row, path: str) -> str | None:
        """Return the glob of a record that excludes a path."""
        for glob in row.words(GLOBS):
            if not glob.startswith("!"):
                continue

            patterns = self.lookup(glob)[1]
            if any(self.pattern_fits(pattern, path) for pattern in patterns):
                return glob.rpartition(MOVED)[2]

        return None

    def difference(self, row: Row) -> str:
        """Return how a record's file differs from the indexed one (`CHANGED`, `GONE`);
        empty for the same bytes.
        """
        values = row.values
        path = f"{self.root}/{values[PATH]}"
        try:
            state = lstat(path)
            if values[SIZE] == str(state.st_size):
                if values[MTIME] == str(state.st_mtime_ns):
                    return ""
                if values[CHECKSUM] and values[CHECKSUM] == str(
                    checksum(content_of(path, LARGEST_COMPARED + 1))
                ):
                    return ""  # git or a copy wrote the same bytes again
        except (OSError, ValueError):
            self.differences.append(f"-\t{values[PATH]}")
            return GONE

        self.differences.append(f"{state.st_mtime_ns} {state.st_size}\t{values[PATH]}")
        return CHANGED

    @property
    def inputs(self) -> list[str]:
        """Inputs of the index: a hash of all, then a line with the stamp of each file that tells of
        a change.
        """
        tail = self.read(self.length, self.length + LONGEST_TAIL)
        return tail.decode("utf-8", "surrogateescape").split("\n")

    def behind(self) -> list[str]:
        """Return what changed since the index was made:
        record files, HEAD, git's index, folders.
        """
        changes = [*self.differences]
        for line in self.inputs[1:]:
            before, _, path = line.partition("\t")
            if not path:
                continue

            now = stamp(path if path.startswith("/") else f"{self.root}/{path}")
            if now != before:
                changes.append(f"{now}\t{path}")

        return changes

    def _merged(self, hits: list[int], everything: bool, path: str) -> list[int]:
        beyond = (self.records if everything else self.pushed) << 32
        matches: list[int] = []
        last = -1
        for hit in sorted(hits):
            number = hit >> 32
            if number == last or hit >= beyond:
                continue

            last = number
            is_excluded = False
            if self.flags[number] & EXCLUDES:
                is_excluded = self.excluding(self.row(number), path) is not None
            if not is_excluded:
                matches.append(hit)

        return matches

    def candidates(self, path: str) -> "tuple[list[int], Patterns]":
        """Return the hits that a path surely has, and the patterns to try on it, each with its
        hits.
        """
        path = composed(path)
        *folders, basename = path.split("/")
        _, dot, extension = basename.rpartition(".")
        depth = str(len(folders) + 1)

        # Extension and depth, each given or open.
        details = [("", ""), ("", depth)]
        if dot:
            details += [(f".{extension}", ""), (f".{extension}", depth)]

        keys = ["d"]
        end = -1
        for name in folders:
            end += 1 + len(name)
            keys += [f"d{path[:end]}", f"s{name}"]

        hits: list[int] = []
        patterns: Patterns = {}
        for key in dict.fromkeys(keys):
            self._add(key, details, hits, patterns)

        self._add(f"p{path}", details[:1], hits, patterns)
        self._add(f"b{basename}", details, hits, patterns)
        return hits, patterns

    def _add(
        self,
        key: str,
        details: "tuple[tuple[str, str], ...] | list[tuple[str, str]]",
        hits: list[int],
        patterns: "Patterns",
    ) -> None:
        """Add the hits under a key, and the patterns, whose extension and depth are given."""
        by_detail = self._bucket("keys", key).get(key)
        if by_detail is None:
            return

        for detail in details:
            for pattern, under in by_detail.get(detail, {}).items():
                if not pattern:
                    hits += under
                elif pattern in patterns:
                    patterns[pattern] = patterns[pattern] + under
                else:
                    patterns[pattern] = under

    def pattern_fits(self, pattern: str, path: str) -> bool:
        """Say whether a path matches a pattern."""
        # Many paths meet no pattern that has to be tried.
        from orbit_registry.hook.matcher import fits, program

        if pattern not in self._programs:
            self._programs[pattern] = program(pattern)

        return fits(self._programs[pattern], composed(path))
