"""What an examination finds: a level, a topic, words, a place and what to do next; it examines nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("ok", "warning", "problem")
WIDTH = 15
"""Characters of the longest topic, `derived-missing`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `where` is a file or another place, `next_step` a command or words; both may be empty."""

    level: Level
    topic: str
    what: str
    where: str = ""
    next_step: str = ""

    def as_data(self) -> dict[str, object]:
        """Return the finding as JSON shows it."""
        return {
            "level": self.level,
            "topic": self.topic,
            "what": self.what,
            "where": self.where or None,
            "next": self.next_step or None,
        }

    def lines(self) -> list[str]:
        """Return the finding as people read it."""
        place = f" ({self.where})" if self.where else ""
        lines = [f"{self.level:<8} {self.topic:<{WIDTH}} {self.what}{place}"]
        return [*lines, f"{'':<{9 + WIDTH}} next: {self.next_step}"] if self.next_step else lines
