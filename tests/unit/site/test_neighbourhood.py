"""The drawing of a record among its neighbours: bounded, escaped, well-formed."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.drawing import MOST, neighbourhood

NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)
REFS = st.fixed_dictionaries({"id": NAMES, "title": NAMES, "word": NAMES, "url": st.none() | st.just("../X/")})


def view(replaces: list[Any], replaced_by: list[Any], links: list[Any]) -> dict[str, Any]:
    """Return as much of a record's view as is drawn."""
    return {"id": "ADR-0001", "replaces": replaces, "replaced_by": replaced_by, "links": links}


@given(st.lists(REFS, max_size=20), st.lists(REFS, max_size=20), st.lists(REFS, max_size=20))
def test_a_drawing_is_bounded_and_well_formed(old: list[Any], new: list[Any], linked: list[Any]) -> None:
    """Whatever neighbours say, the drawing is XML with at most twelve of them, and says how many are left."""
    html = neighbourhood(view(old, new, [("Amends", linked)] if linked else []))
    total = len(old) + len(new) + len(linked)
    if not total:
        assert html == ""
        return
    drawing = ElementTree.fromstring(html)
    boxes = list(drawing.iter("rect"))
    assert len(boxes) - 1 == min(total, MOST)
    assert ("in the list below" in html) == (total > MOST)
    lowest = max(float(box.attrib["y"]) + float(box.attrib["height"]) for box in boxes)
    texts = [float(one.attrib["y"]) for one in drawing.iter("text") if "in the list below" in (one.text or "")]
    height = float(next(drawing.iter("svg")).attrib["height"])
    assert all(lowest + 10 <= y < height for y in texts), "the words would stand in a box, or be cut"
    assert {element.tag for element in drawing.iter()} <= {"div", "svg", "path", "rect", "text", "a", "g", "title"}
