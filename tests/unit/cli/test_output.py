"""Tables and counts as people read them, and text that can't move their cursor."""

import json

from orbit_registry.formats.untrusted import json_text, visible


def test_control_characters_are_shown_not_sent() -> None:
    assert visible("a\tb\nc\x1b[31m\x07\u202e") == "a\tb\nc\\x1b[31m\\x07\\u202e"


def test_what_nobody_sees_or_no_output_takes_is_written_out() -> None:
    assert visible("a\U000e0072\u200b\ud800") == "a\\U000e0072\\u200b\\ud800"
    text = {"é\ud800": ["\udfff\x9b31m\u202e\u2028\U000e0072\x7f"]}
    stored = json_text(text)
    assert stored.encode().decode() == stored
    assert visible(stored) == stored
    assert json.loads(stored) == text
