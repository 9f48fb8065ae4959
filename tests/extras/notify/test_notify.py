"""What people are told is one plain line: it calls nobody, hides no address,
and holds no secret.
"""

import pytest

from orbit_notify.notify import plain


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Ask <b>before</b> a@b.example, @ada", "Ask <b>before</b> a@b.example, @ada"),
        ("@everyone <!channel> <@U1>", "@ everyone < !channel> < @U1>"),
        ("[Approve](http://x) <http://x|Approve>", "[Approve] (http://x) < http://x|Approve>"),
        ("one\r\nBcc: x\u202e\U000e0072", "one Bcc: x"),
        ("ghp_" + "a1B2" * 9, "[redacted: GitHub token]"),
    ],
)
def test_a_line_is_data(text: str, line: str) -> None:
    assert plain(text) == line
