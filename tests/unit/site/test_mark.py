"""The mark of a project without a logo, and the picture for its links."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.mark import (
    CONTRAST,
    HEIGHT,
    WIDTH,
    card_png,
    colour,
    contrast_with_white,
    initials,
    mark_svg,
)


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Orbit registry", "OR"),
        ("jabref", "Ja"),
        ("my-team__platform_9", "MT"),
        ("x", "X"),
        ("결제 서비스", "결서"),
        ("<b>", "B"),
        ("…", "?"),
        ("", "?"),
    ],
)
def test_a_mark_has_the_initials_of_a_name(name: str, letters: str) -> None:
    assert initials(name) == letters
    assert f">{letters}</text>" in mark_svg(name)


@given(st.text(max_size=20))
def test_white_letters_can_be_read_and_a_dark_page_shows_the_mark(name: str) -> None:
    contrast = contrast_with_white(colour(name))
    assert contrast >= CONTRAST
    assert 1.05 / contrast / (1.05 / contrast_with_white((20, 23, 31))) >= 3


@given(st.text(max_size=20))
def test_the_picture_is_a_png_of_two_colours(name: str) -> None:
    data = card_png(name)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(kind + content),)
        chunks[kind] = content
        at += 12 + length

    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (WIDTH, HEIGHT)
    assert len(zlib.decompress(chunks[b"IDAT"])) == HEIGHT * (1 + WIDTH // 8)
    assert len(data) < 4000
