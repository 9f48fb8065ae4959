"""Owns the form of ids: codes, sequence numbers, legacy names and how text cites them; it allocates nothing."""

from __future__ import annotations

import os
import re

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
SEQUENCE_WIDTH = 4
CODE_LENGTH = 5
_SEQUENCE = re.compile(r"([A-Z][A-Z0-9]*-)([0-9]{4,})\Z")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


def new_uid() -> str:
    """Return a random uid: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def code_id(prefix: str, uid: str, length: int = CODE_LENGTH) -> str:
    """Return the short code of a uid: `L-7k3fq`; `length` grows by one while a code is taken."""
    number = int(uid, 16)
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(CROCKFORD))
        letters.append(CROCKFORD[digit])
    return prefix + "".join(letters)


def sequence_id(prefix: str, number: int) -> str:
    """Return the id of a sequence number: `ADR-0042`, growing wider past 9999."""
    return f"{prefix}{number:0{SEQUENCE_WIDTH}d}"


def sequence_number(record_id: str, prefix: str) -> int | None:
    """Return the number in a sequence id, or None where the id has another form."""
    found = _SEQUENCE.match(record_id)
    return int(found[2]) if found and found[1] == prefix else None


def is_safe_id(record_id: str) -> bool:
    """Say whether an id can be a folder's name on every system: no separator, no leading dot, no control character."""
    return _SAFE.match(record_id) is not None


def natural_key(record_id: str) -> tuple[str, int, str]:
    """Order ids the way people count: ADR-9999 before ADR-10000, codes by their letters."""
    found = _SEQUENCE.match(record_id)
    return (found[1], int(found[2]), record_id) if found else (record_id.partition("-")[0] + "-", -1, record_id)
