"""Push index: open it and look records up, in push order.

It is read at every tool call, so it imports built-in modules and `mmap` only. The file is flat
arrays, see `docs/reference/push-index.md`; a missing or torn file is a `NoIndex`, a damaged one
answers nothing and says so.
"""

import sys
from mmap import ACCESS_READ, mmap
from posix import O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, close, lstat
from posix import open as open_file

from orbit_registry.hook.project import content_of, index_file, stamp
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
    from typing import Literal

    from orbit_registry.hook.matcher import Program

FORMAT = 16
MAGIC = 0x0A1D48535550424F  # "OBPUSH", then bytes that a text never holds
PRIME = 1_000_000_000_000_000_003
HEADER_WORDS = 48
MAX_PATH = 4096
LARGEST_COMPARED = (
    65_536  # bytes of a record's file; a larger one whose time differs counts as changed
)
CHANGED, GONE = "changed", "gone"  # how it differs from the one that the index was made from
MISSING = "there is no push index yet"
AT = (1 << 32) - 1  # bits of a hit for the place of its glob
WIDE = 1 << 31
"""Bit of a hit whose glob is wide; of two hits of a record the one of a narrow glob is smaller."""

(  # words of the header
    W_MAGIC,
    W_FORMAT,
    W_LENGTH,
    W_HEADER_SUM,
    W_BODY_SUM,
    W_RECORDS,
    W_PUSHED,
    W_BUCKETS,
    W_HOLDOUT,
    W_SETTINGS,
    W_UNREAD,
    W_RELEVANCE,
    W_WORTH,
) = range(13)
SECTIONS = (
    "bucket",
    "hash",
    "text",
    "detail",
    "detail_key",
    "use",
    "pattern",
    "posting",
    "hit",
    "row",
    "flag",
    "row_sum",
    "pair_start",
    "pair",
    "chance",
)
PAIR_SHIFT = 12  # bits of a weight that a pair of terms does without
FIRST_SECTION = 16
"""Each section has two words: where it begins and how many bytes it has;
the heap of texts is the last one.
"""
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
DAMAGE = (IndexError, ValueError, OverflowError, TypeError)  # what reading a damaged index raises


class NoIndex:
    """A missing or unusable index; false, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __bool__(self) -> bool:
        return False


def checksum(content: bytes) -> int:
    """Return the hash of some bytes that keys and the header use."""
    return int.from_bytes(content, "little") % PRIME


def open_index(root: str) -> "Index | NoIndex":
    """Return the index of the project at `root`."""
    try:
        handle = open_file(index_file(root), _OPEN)
    except (OSError, ValueError):
        return NoIndex(MISSING)

    try:
        content = mmap(handle, 0, access=ACCESS_READ)
    except (OSError, ValueError):
        return NoIndex("the push index can't be read")
    finally:
        close(handle)

    return read_index(content, root)


def read_index(content: mmap | bytes, root: str) -> "Index | NoIndex":
    """Return the index that some bytes hold."""
    if sys.byteorder != "little" or len(content) < HEADER_WORDS * 8:
        return NoIndex("the push index is cut off")

    words = memoryview(content)[: HEADER_WORDS * 8].cast("Q").tolist()
    if words[W_MAGIC] != MAGIC or words[W_FORMAT] != FORMAT:
        return NoIndex("the push index has another format")
    if words[W_LENGTH] > len(content):
        return NoIndex("the push index is cut off")

    total, words[W_HEADER_SUM] = words[W_HEADER_SUM], 0
    if total != checksum(b"".join(word.to_bytes(8, "little") for word in words)):
        return NoIndex("the push index is damaged")

    return Index(content, words, root)


class Index:
    """An open index, in push order. A hit is the record's number times 2^32 plus the position of
    the matching glob, and `WIDE` if that glob is wide.

    Where the file is damaged its methods raise one of `DAMAGE`.
    """

    def __init__(self, content: mmap | bytes, words: list[int], root: str) -> None:
        self.content, self.root, self.header = content, root, words
        self.length = words[W_LENGTH]
        self.records, self.pushed, self._mask = (
            words[W_RECORDS],
            words[W_PUSHED],
            words[W_BUCKETS] - 1,
        )

        self.holdout, self.settings, self.unread = (
            words[W_HOLDOUT],
            words[W_SETTINGS],
            words[W_UNREAD],
        )

        self.min_relevance, self.unknown_worth = words[W_RELEVANCE] / 1_000_000, words[W_WORTH]
        self.differences: list[str] = []  # changed files of looked-up records, with time and size
        view = memoryview(content)

        def section(name: str, form: "Literal['B', 'I', 'Q']") -> "memoryview[int]":
            at = FIRST_SECTION + 2 * SECTIONS.index(name)
            return view[words[at] : words[at] + words[at + 1]].cast(form)

        self._bucket, self._hash, self._text = (
            section("bucket", "I"),
            section("hash", "Q"),
            section("text", "Q"),
        )

        self._detail, self._detail_key = section("detail", "I"), section("detail_key", "Q")
        self._use, self._pattern, self._posting = (
            section("use", "I"),
            section("pattern", "Q"),
            section("posting", "I"),
        )

        self.hits, self.rows, self.flags = (
            section("hit", "Q"),
            section("row", "Q"),
            section("flag", "B"),
        )

        self._row_sum = section("row_sum", "Q")
        self.pair_start, self.pairs = section("pair_start", "I"), section("pair", "Q")
        self.chances = section("chance", "I")
        self._programs: dict[int, Program] = {}

    def match(self, path: str, everything: bool = False) -> list[int]:
        """Return one hit a pushed record, with `everything` a record,
        for a path from the project's root; that of a narrow glob if there is one.
        """
        if len(path) > MAX_PATH:
            return []
        ranges, patterns = self.candidates(path)
        ranges += [self.range_of(number) for number in patterns if self.pattern_fits(number, path)]
        return self._merged(ranges, everything, path)

    def hits_under(self, axis: str, word: str, everything: bool = False) -> list[int]:
        """Return hits for a tag ("t"), category ("c"), gate ("g"),
        a rule's id ("i") or link ("l").
        """
        beyond = (self.records if everything else self.pushed) << 32
        hits: list[int] = []
        for start, end in self.lookup(axis + word)[0]:
            hits += [hit for hit in self.hits[start:end] if hit < beyond]

        return hits

    def lookup(self, key: str) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the ranges of hits under a key, and the patterns."""
        ranges: list[tuple[int, int]] = []
        patterns: list[int] = []
        self._details(key.encode("utf-8", "surrogatepass"), (0,), ranges, patterns)
        return ranges, patterns

    def row(self, number: int) -> Row:
        """Return a record by its number."""
        text, flags = self.content[self.rows[number] : self.rows[number + 1]], self.flags[number]
        values = text.decode("utf-8").split("\0")
        if len(values) != FIELDS or checksum(text) ^ flags != self._row_sum[number]:
            raise ValueError("the push index is damaged")
        return Row(number, values, flags)

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
        return globs[position] if position < len(globs) else ""

    def excluding(self, row: Row, path: str) -> str | None:
        """Return the glob of a record that excludes a path."""
        for glob in row.words(GLOBS):
            if glob.startswith("!") and any(
                self.pattern_fits(number, path) for number in self.lookup(glob)[1]
            ):
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
        tail = self.content[self.length : self.length + LONGEST_TAIL]
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

    def _merged(self, ranges: list[tuple[int, int]], everything: bool, path: str) -> list[int]:
        beyond = (self.records if everything else self.pushed) << 32
        matches: list[int] = []
        last = -1
        hits: list[int] = []
        for start, end in ranges:
            hits += [hit for hit in self.hits[start:end].tolist() if hit < beyond]

        for hit in sorted(hits):
            number = hit >> 32
            if number != last:
                last = number
                if (
                    not self.flags[number] & EXCLUDES
                    or self.excluding(self.row(number), path) is None
                ):
                    matches.append(hit)

        return matches

    def candidates(self, path: str) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the ranges of hits that a path surely has, and the patterns to try on it."""
        ranges: list[tuple[int, int]] = []
        patterns: list[int] = []
        encoded = path.encode("utf-8", "surrogatepass")
        *folders, basename = encoded.split(b"/")
        _, dot, extension = basename.rpartition(b".")

        details: tuple[int, ...] = 0, len(folders) + 1  # extension and depth, each given or open
        if dot and (position := self._key_position(b"x" + extension)) >= 0:
            details = *details, *((position + 1) << 32 | depth for depth in details)

        keys = [b"d"]
        end = -1
        for name in folders:
            end += 1 + len(name)
            keys += b"d" + encoded[:end], b"s" + name

        for key in dict.fromkeys(keys):
            self._details(key, details, ranges, patterns)

        self._details(b"p" + encoded, (0,), ranges, patterns)
        self._details(b"b" + basename, details, ranges, patterns)
        return ranges, patterns

    def range_of(self, number: int) -> tuple[int, int]:
        """Return the range of hits of a pattern."""
        return self._posting[number], self._posting[number + 1]

    def _key_position(self, key: bytes) -> int:
        key_hash = int.from_bytes(key, "little") % PRIME
        bucket = key_hash & self._mask
        position, end = self._bucket[bucket], self._bucket[bucket + 1]
        while position < end:
            if self._hash[position] == key_hash:
                start = self._text[position] >> 16
                if self.content[start : start + (self._text[position] & 0xFFFF)] == key:
                    return position
            position += 1

        return -1

    def _details(
        self,
        key: bytes,
        details: tuple[int, ...],
        ranges: list[tuple[int, int]],
        patterns: list[int],
    ) -> None:
        position = self._key_position(key)
        if position < 0:
            return

        start = self._detail[position]
        for detail in self._detail_key[start : self._detail[position + 1]].tolist():
            if detail in details:
                for number in range(self._use[start], self._use[start + 1]):
                    if self._pattern[number]:
                        patterns.append(number)
                    else:
                        ranges.append((self._posting[number], self._posting[number + 1]))

            start += 1

    def pattern_fits(self, number: int, path: str) -> bool:
        """Say whether a path matches a pattern."""
        from orbit_registry.hook.matcher import (
            fits,
            program,
        )  # many paths meet no pattern that has to be tried

        if number not in self._programs:
            self._programs[number] = program(self.pattern_text(number))

        return fits(self._programs[number], path)

    def pattern_text(self, number: int) -> str:
        """Return a pattern's text."""
        text = self._pattern[number]
        return self.content[text >> 16 : (text >> 16) + (text & 0xFFFF)].decode("utf-8")
