"""What a record's prose names: the same whether the prose is read or the file that it stands in was."""

from __future__ import annotations

import pytest

from orbit_registry.formats.citations import IdForms
from orbit_registry.site.documents import RecordText
from orbit_registry.site.mentions import references_by
from orbit_registry.snapshot.edges import references_in_text

FORMS = IdForms(("ADR-",), ("L-",))
ABOVE = "---\nstatus: accepted\n---\n# ADR-0001: Above, see ADR-0009\n\n```\nADR-0008\n```\n\n"


@pytest.mark.parametrize(
    "prose",
    [
        "We use ADR-0002.\n\n- as [said](0003-third.md#why)\n- not L-shaped",
        "```\nADR-0002\n```\n\nADR-0003 and [a](a.md)\n\n    ADR-0004\n",
        "one line ADR-0002",
        "",
    ],
)
def test_the_file_says_what_the_prose_says(prose: str) -> None:
    """Ids and links with their lines in the prose, and nothing that stands above or below it."""
    file = f"{ABOVE}{prose}\n\n## ADR-0007: Below\n\n[b](b.md)\n"
    text = RecordText(prose, "docs/adr/log.md", ABOVE.count("\n") + 1)
    assert references_by(text, FORMS, references_in_text(file, text.path, FORMS)) == references_by(text, FORMS)
