"""Counts by bits: numbers with a bit for each place, added for all places at once; it knows not what a place is."""

from __future__ import annotations

from collections.abc import Iterator


def add(ranked: list[list[int]]) -> list[int]:
    """Return for each place the sum of 2 ** rank over the numbers that have a bit there, as binary digits.

    Three digits of one rank are added to one of that rank and one of the next, in five operations on whole numbers.
    """
    digits: list[int] = []
    carried: list[int] = []
    ranks = iter(ranked)
    while (numbers := next(ranks, None)) is not None or carried:
        numbers = [*(numbers or ()), *carried]
        total, carried = numbers.pop() if len(numbers) % 2 else 0, []
        each = iter(numbers)
        for a, b in zip(each, each, strict=True):
            either = a ^ b
            carried.append(a & b | either & total)
            total ^= either
        digits.append(total)
    while digits and not digits[-1]:
        digits.pop()
    return digits


def at_least(digits: list[int], least: int) -> int:
    """Return a number with a bit for each place whose sum, as `add` gives it, is `least` or more.

    It is the carry of the sum and what is missing from `least` to the next power of two.
    """
    if least <= 0:
        return -1
    if least >> len(digits):
        return 0
    missing, carry = (1 << len(digits)) - least, 0
    for digit in digits:
        carry = digit | carry if missing & 1 else digit & carry
        missing >>= 1
    return carry


def digit_sum(digits: list[int], place: int) -> int:
    """Return the count of one place."""
    return sum((digit >> place & 1) << rank for rank, digit in enumerate(digits))


def places_of(number: int) -> Iterator[int]:
    """Yield the places of the bits of a number, from the lowest on."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
