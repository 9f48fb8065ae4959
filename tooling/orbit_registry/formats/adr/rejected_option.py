"""An option that a decision rejects: what every record may hold, apart from the model of documents,
which takes 5 ms to import.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RejectedOption:
    """An option that was considered and rejected, why, and the names by which people call it; the
    last two may be empty.
    """

    option: str
    reason: str = ""
    names: tuple[str, ...] = ()

    def as_data(self) -> dict[str, object]:
        """Return it as a record holds it."""
        data: dict[str, object] = {"option": self.option}
        if self.reason:
            data["reason"] = self.reason

        if self.names:
            data["names"] = list(self.names)

        return data
