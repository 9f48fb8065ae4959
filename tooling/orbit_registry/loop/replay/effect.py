"""Makes of a history the pairs from which `stats.effect` tells what records did: each commit is one session.

In a history nothing was withheld. What stands in its place are the commits that a record applies to and that came
before it stood: such a comparison proves less, for much else changes with time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from orbit_registry.loop.replay.past import Past, Touch
from orbit_registry.loop.replay.walk import Replay
from orbit_registry.loop.stats.signals import Pair, reverted_of

FOLLOWED = 50
"""What became of a commit is looked for in so many after it; the last ones of a history, which have fewer, are left
out: they would look as if nothing had to be done again."""
_MENDS = re.compile(r"\b(?:(?:hot|bug)?fix(?:e[sd])?\b|revert)", re.IGNORECASE)
"""A word of a message's first line that says that the commit mends something."""


def pairs_in(past: Past, replay: Replay) -> Iterator[Pair]:
    """Yield a pair for each commit and record that was shown for it, or that applies to it and did not stand yet."""
    uids = [version.record.uid if version.record is not None else "" for version in past.versions]
    ids = {uid: record.id for uid, record in past.latest.items()}
    stood: set[str] = set()
    seen = 0
    fates = _Fates([step.touch for step in past.steps])
    for place, shown in enumerate(replay.walk()):
        standing = shown.step.standing
        stood |= {uids[number] for number in _bits(standing & ~seen)}
        seen |= standing
        if not shown.step.touch.files or place + FOLLOWED >= len(past.steps):
            continue
        told = {uids[number] for number in shown.versions}
        before = {uids[number] for number in replay.reaching(shown.step)} - stood
        for uid in sorted((told | before) - {""}):
            tokens = 0 if uid in before else shown.tokens
            yield fates.marked(place, Pair(shown.step.touch.name, ids[uid], uid in before, tokens=tokens))


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


class _Fates:
    """What became of each commit: whether later ones revert it, mend it or come back to its files."""

    def __init__(self, touches: list[Touch]) -> None:
        self._touches = touches
        self._reverted = tuple(name[:12] for name in reverted_of(one.message for one in touches))
        self._of_file: dict[str, list[int]] = {}
        for place, one in enumerate(touches):
            for file in one.files:
                self._of_file.setdefault(file, []).append(place)
        self._known: dict[int, tuple[bool, bool, int]] = {}

    def marked(self, place: int, pair: Pair) -> Pair:
        """Note on a pair what became of the commit at a place."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._fate(place)
        pair.reverted, mended, pair.retries = known
        pair.failed_again = int(pair.reverted or mended)
        return pair

    def _fate(self, place: int) -> tuple[bool, bool, int]:
        one = self._touches[place]
        later: set[int] = set()
        for file in one.files:
            held = self._of_file[file]
            for other in held[bisect_right(held, place) :]:
                if other > place + FOLLOWED:
                    break
                later.add(other)
        mended = any(_MENDS.search(self._touches[other].message.partition("\n")[0]) for other in later)
        return one.name.startswith(self._reverted) if self._reverted else False, mended, len(later)
