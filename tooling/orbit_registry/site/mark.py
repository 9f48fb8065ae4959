"""The mark of a project without a logo: its initials on a colour that its name gives; and the
picture that chats show next to a link.

Chats show no SVG, so the picture is a PNG: two colours, letters of squares.
"""

import hashlib
import re
import struct
import zlib
from html import escape

MARK, CARD = "assets/orbit/mark.svg", "assets/orbit/card.png"
WIDTH, HEIGHT = 1200, 630
"""Pixels of the picture: what chats ask for."""
SQUARE, SMALLEST = 48, 5
"""Pixels of a square of the initials, and at least of the name."""
CONTRAST = 4.6
"""What white letters need at least on the colour; a dark page leaves it more than 3."""
SATURATION = 0.55
_WORD = re.compile(r"[^\W_]+")
_DRAWN = """
A0E11111F111111 B1E11111E11111E C0E11101010110E D1E11111111111E E1F10101E10101F
F1F10101E101010 G0E11101711110F H1111111F111111 I0E04040404040E J0702020202120C
K11121418141211 L1010101010101F M111B1515111111 N11191513111111 O0E11111111110E
P1E11111E101010 Q0E11111115120D R1E11111E141211 S0F10100E01011E T1F040404040404
U1111111111110E V11111111110A04 W11111115151B11 X11110A040A1111 Y11110A04040404
Z1F01020408101F 00E11131519110E 1040C040404040E 20E11010608101F 31F02040201110E
402060A121F0202 51F101E0101110E 60608101E11110E 71F010204080808 80E11110E11110E
90E11110F01020C
"""
"""Letters, each with seven rows of five squares as bits."""
_LETTERS = {word[0]: bytes.fromhex(word[1:]) for word in _DRAWN.split()} | {" ": bytes(7)}
_OTHER = bytes.fromhex("0E11151B15110E")
"""What is drawn for letters of other scripts: a wheel."""

Colour = tuple[int, int, int]


def initials(name: str) -> str:
    """Return one or two letters for a name: of its first two words, or the first two of one."""
    words: list[str] = _WORD.findall(name)
    if not words:
        return "?"
    if len(words) > 1:
        return f"{words[0][0]}{words[1][0]}".upper()

    return words[0][:2].capitalize()


def colour(name: str) -> Colour:
    """Return the colour of a name: a hue that only it decides, dark enough for white letters."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    hue = int.from_bytes(digest, "big") % 360
    lightness = 60
    while contrast_with_white(_rgb(hue, lightness / 100)) < CONTRAST:
        lightness -= 1

    return _rgb(hue, lightness / 100)


def _rgb(hue: int, lightness: float) -> Colour:
    reach = SATURATION * min(lightness, 1 - lightness)
    channels = []
    for offset in (0, 8, 4):
        place = (offset + hue / 30) % 12
        share = max(-1.0, min(place - 3, 9 - place, 1.0))
        channels.append(round(255 * (lightness - reach * share)))

    return channels[0], channels[1], channels[2]


def contrast_with_white(rgb: Colour) -> float:
    """Return how much lighter white is, from 1 to 21, as WCAG counts it."""
    luminance = 0.0
    for channel, weight in zip(rgb, (0.2126, 0.7152, 0.0722), strict=True):
        value = channel / 255
        linear = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        luminance += weight * linear

    return 1.05 / (luminance + 0.05)


def mark_svg(name: str) -> str:
    """Return the mark, for the header and as the icon of the tab."""
    fill = "#" + bytes(colour(name)).hex()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="7" fill="{fill}"/>'
        # orbit: allow ADR-0084 because the mark is two letters, which never wrap.
        '<text x="16" y="21.5" text-anchor="middle" fill="#fff" font-size="15" font-weight="700" '
        f'font-family="system-ui,sans-serif">{escape(initials(name))}</text></svg>\n'
    )


def card_png(name: str) -> bytes:
    """Return the picture for links to the site in chats."""
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 1, 3, 0, 0, 0)
    palette = bytes(colour(name)) + b"\xff\xff\xff"
    rows = b"".join(b"\x00" + row.to_bytes(WIDTH // 8, "big") for row in _rows(name))
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _rows(name: str) -> list[int]:
    """Return the rows of pixels, a bit each: the initials, and the name if it has room."""
    rows = [0] * HEIGHT
    _draw(rows, initials(name).upper(), SQUARE, 110)

    words = " ".join(_WORD.findall(name.upper()))
    is_drawn = all(letter in _LETTERS for letter in words.replace(" ", ""))
    square = min(SMALLEST * 2, (WIDTH - 120) // (6 * max(len(words), 1)))
    if words and is_drawn and square >= SMALLEST:
        _draw(rows, words, square, 500)

    return rows


def _draw(rows: list[int], text: str, square: int, top: int) -> None:
    """Add a line of letters in the middle, each square so many pixels wide."""
    width = (6 * len(text) - 1) * square
    after = (WIDTH - width) // 2
    for number in range(7):
        letters = (_LETTERS.get(letter, _OTHER)[number] for letter in text)
        bits = "0".join(f"{row:05b}" for row in letters)
        pixels = int("".join(bit * square for bit in bits), 2) << after
        for y in range(top + number * square, top + (number + 1) * square):
            rows[y] |= pixels
