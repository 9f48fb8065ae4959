"""What a project finds without Orbit: `git log`, and full-text search of its records."""

import re
import sqlite3
import weakref
from collections.abc import Iterable, Sequence

from orbit_measure.names import NameResolver
from orbit_registry.errors import UsageError
from orbit_registry.hook.session import tokens
from orbit_registry.model.record import Record
from orbit_registry.search.texts import parts_of
from orbit_registry.workspace.git_log import Commit

LOGGED = 20  # commits of `git log` that are read, the newest first
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\da-zA-Z_]+")
_SHORTEST = 4  # letters of a word that `git log --grep` is asked for


class FullText:
    """Records in an FTS5 table in memory: porter stems, ranked by BM25,
    with no idea of a status.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._db = sqlite3.connect(":memory:")
        weakref.finalize(self, self._db.close)  # Python 3.13 warns of one that stays open

        try:
            self._db.execute(
                "CREATE VIRTUAL TABLE texts USING fts5(uid UNINDEXED, text, tokenize='porter "
                "unicode61')"
            )
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"SQLite has no full-text search here: {error}", hint="use a Python with FTS5"
            ) from None

        texts = ((record.uid, "\n".join((*parts_of(record), record.prose))) for record in records)
        rows = [(uid, text.encode("utf-8", "replace").decode()) for uid, text in texts]
        self._db.executemany("INSERT INTO texts VALUES (?, ?)", rows)

    def search(self, text: str, most: int) -> list[str]:
        """Return the uids of the records that have one of the words, the best first."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
        statement = "SELECT uid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        query = " OR ".join(f'"{word}"' for word in words)
        if words:
            return [uid for (uid,) in self._db.execute(statement, (query, most))]

        return []

    def of_file(self, path: str, most: int) -> list[str]:
        """Return the uids of the records that fit the words of a path."""
        return self.search(" ".join(_PART.findall(path.rpartition(".")[0] or path)), most)


class GitLog:
    """Commits, and the records that their messages name."""

    def __init__(self, commits: Sequence[Commit], names: NameResolver) -> None:
        """`commits` are the newest first."""
        self.commits = commits
        self._cited = [frozenset(names.cited(commit.message)) for commit in commits]
        self._folded = [commit.message.casefold() for commit in commits]
        self._positions: dict[str, list[int]] = {}
        for position, commit in enumerate(commits):
            for path in commit.files:
                self._positions.setdefault(path, []).append(position)

    def of_files(self, paths: Iterable[str], before: int = -1) -> list[int]:
        """Return the commits that `git log -- PATH …` prints,
        those older than the one at `before`.
        """
        positions: set[int] = set()
        for path in paths:
            positions.update(self._positions.get(path, ()))

        return sorted(position for position in positions if position > before)[:LOGGED]

    def with_words(self, text: str, before: int = -1) -> list[int]:
        """Return the commits that `git log -i --grep=WORD …` prints,
        for the long words of a text.
        """
        words = [word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST]
        positions = range(before + 1, len(self.commits) if words else 0)
        matches = (
            position
            for position in positions
            if any(map(self._folded[position].__contains__, words))
        )
        return [position for position, _ in zip(matches, range(LOGGED), strict=False)]

    def uids(self, positions: Iterable[int]) -> frozenset[str]:
        """Return the records that the messages of commits name."""
        return frozenset().union(*map(self._cited.__getitem__, positions))

    def tokens(self, positions: Iterable[int]) -> int:
        """Return the tokens of commits, each with its message."""
        return sum(
            tokens(f"{self.commits[position].short} {self.commits[position].message}")
            for position in positions
        )
