"""The parser of Markdown stops at fewer signs than the library would, and reads the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orbit_registry.formats import markdown
from orbit_registry.formats.markdown_html import read_text

SIGNS = [*"\n!#$%&*+-:<=>@[]\\^_`{}~()|\"'", "**", "~~", "$$", "``", " ", "word", "w", "ww"]
ADDRESSES = ["www.a.org", "http://b.org/c?d=e", "mailto:a@b.org", "xmpp:a@b.org", "a@b.org"]
MARKS = ["![a](b)", "[a](b)", "[^1]", "[a]", "<a>", "</a>", "<http://c.org>", "&amp;", "&#35;", "é"]
TEXTS = st.lists(st.sampled_from([*SIGNS, *ADDRESSES, *MARKS]), max_size=20).map("".join)


@given(TEXTS)
def test_fewer_stops_read_the_same(text: str) -> None:
    fewer = read_text(text, lambda code, language: f"{language} {code}")
    library = MarkdownIt()
    library.inline.add_terminator_char("w")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "_STOPS", library.inline.terminator_re)
        # Each function that writes code has another parser.
        assert read_text(text, lambda code, language: f"{language} {code}") == fewer
