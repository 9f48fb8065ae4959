"""A test run says in one line which tests it left out for want of a program,
and passes without them.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = "tests/acceptance/test_first_steps.py"
IN_BROWSER = "tests/acceptance/test_site_console.py::test_a_browser_answers_from_the_snapshot"


def test_a_run_without_chromium_passes_and_says_so(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "git"):
        (programs / name).symlink_to(str(shutil.which(name)))
    variables = {"PATH": str(programs), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", IN_BROWSER, PAGES]
    done = subprocess.run(
        words, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    (line,) = re.findall(r"(?m)^left out: .*", done.stdout)
    pages = re.sub(r"\d+", "N", line)
    assert pages == "left out: the wheel (N tests), Chromium (N test)"
    assert done.returncode == 0
