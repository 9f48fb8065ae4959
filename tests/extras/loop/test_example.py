"""The example of a program for `capture.command`."""

import json
import sys
from pathlib import Path

import pytest
from tests.extras.loop.conftest import Project, stumble

EXAMPLE = Path(__file__).parents[3] / "docs/examples/capture"
REQUEST = json.loads((EXAMPLE / "request.json").read_text("utf-8"))
AGENT = """#!{python}
import pathlib, sys
pathlib.Path({told!r}).write_text(sys.stdin.read(), "utf-8")
assert sys.argv[-1] == pathlib.Path({prompt!r}).read_text("utf-8")
assert not pathlib.Path(".orbit").exists()
print("Here it is:\\n```json\\n" + pathlib.Path({answer!r}).read_text("utf-8") + "```")
"""


def shape_of(value: object) -> object:
    """Return the keys and types of a JSON value, of a list those of its first entry."""
    if isinstance(value, dict):
        return {key: shape_of(member) for key, member in value.items()}
    return [shape_of(entry) for entry in value[:1]] if isinstance(value, list) else type(value)


@pytest.mark.usefixtures("programs_on")
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_example_passes_a_session_on_and_its_answer_is_read(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    file = tmp_path / "told.json"
    names = {
        "told": str(file),
        "prompt": str(EXAMPLE / "prompt.md"),
        "answer": str(EXAMPLE / "answer.json"),
    }
    program = tmp_path / "bin" / agent
    program.parent.mkdir()
    program.write_text(AGENT.format(python=sys.executable, **names), "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    config = project.root / ".orbit/config.yaml"
    words = json.dumps([sys.executable, str(EXAMPLE / "lessons.py"), agent])
    config.write_text(config.read_text("utf-8") + f"\ncapture:\n  command: {words}\n", "utf-8")

    candidates = project.capture(
        project.transcript(stumble(project.root).edit("src/shop/cart.py").rows)
    )["candidates"]

    summary = json.loads((EXAMPLE / "answer.json").read_text("utf-8"))["candidates"][0]["summary"]
    (candidate,) = (entry for entry in candidates if entry["summary"] == summary)
    assert candidate["provenance"]["source"] == "tool"
    assert shape_of(json.loads(file.read_text("utf-8"))) == shape_of(REQUEST)
