"""JSON is read whatever the interpreter's own parts for it are."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLING = Path(__file__).resolve().parents[3] / "tooling"
STRANGE = """
import types
real = __import__("_json")
strange = types.ModuleType("_json")
strange.__dict__.update(real.__dict__)
def make_scanner(context):
    context.memo  # the library's own decoder has it, and another may have more
    return real.make_scanner(context)
strange.make_scanner = make_scanner
"""


@pytest.mark.parametrize("insides", [f"{STRANGE}\nsys.modules['_json'] = strange", "sys.modules['_json'] = None"])
def test_json_is_read_by_the_library_as_fallback(insides: str) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(TOOLING)!r})\n{insides}\n"
        "from orbit_registry.hook.payload import parse_json, to_json\n"
        "print(parse_json('\\ufeff {\"a\": [1, NaN, \"x\\ty\"]} more'), to_json({'a': 'é'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "{'a': [1, nan, 'x\\ty']} {\"a\": \"\\u00e9\"}\n"
