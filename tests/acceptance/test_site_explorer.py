"""The path explorer in a real browser: the language of globs as everywhere, and the records of `orbit match`."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import yaml
from tests.acceptance.site_cases import site_of
from tests.bench import synthetic

from orbit_registry.push.reader import ID
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.explorer import form_of
from orbit_registry.site.serve import SiteServer
from orbit_registry.snapshot import matches
from orbit_registry.text.globs import Glob, parse_glob

CASES = Path(__file__).parents[1] / "cases"
SCRIPT = Path(__file__).parents[2] / "site-overrides/assets/orbit/explorer.js"
Look = Callable[[str], tuple[str, str]]
PAGE = """<!doctype html><meta charset="utf-8"><script src="explorer.js"></script>
<script type="application/json" id="given">{given}</script><pre id="answer"></pre>
<script>
const given = JSON.parse(document.getElementById("given").textContent);
const paths = globalThis.orbitPaths;
const answer = given.data
  ? given.paths.map((path) => paths.applying(given.data, path).map(({{ record, by }}) => [record.id, by]))
  : given.cases.map(([form, path]) => paths.matches(form, path));
document.getElementById("answer").textContent = JSON.stringify(answer);
</script>"""


def answered(look: Look, folder: Path, given: dict[str, Any]) -> Any:
    """Return what the explorer's script says in a browser."""
    shutil.copy(SCRIPT, folder)
    page = folder / "page.html"
    page.write_text(PAGE.format(given=json.dumps(given).replace("<", "\\u003c")), "utf-8")
    dom, console = look(page.as_uri())
    assert console == ""
    found = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    return json.loads(unescape(found[1]))


def test_a_browser_reads_globs_as_everything_else_does(look: Look, tmp_path: Path) -> None:
    """Every case of the vector file has the answer that Python and SQL give."""
    held = yaml.safe_load((CASES / "globs.yaml").read_text("utf-8"))["cases"]
    cases = []
    for text, path, wanted in held:
        glob = parse_glob(text)
        assert isinstance(glob, Glob)
        cases.append((text, path, wanted, form_of(glob)))

    said = answered(look, tmp_path, {"cases": [[form, path] for _, path, _, form in cases]})

    assert [(text, path) for (text, path, wanted, _), one in zip(cases, said, strict=True) if one is not wanted] == []
    assert len(cases) > 200


def test_a_browser_reads_scopes_as_everything_else_does(look: Look, tmp_path: Path) -> None:
    """Of several globs the first that matches is named, and one that excludes takes the path away."""
    held = yaml.safe_load((CASES / "globs.yaml").read_text("utf-8"))["scopes"]
    asked = []
    for number, (globs, path, by) in enumerate(held):
        forms = {text: form_of(glob) for text in globs if isinstance(glob := parse_glob(text), Glob)}
        data = {"globs": forms, "records": [{"id": f"L-{number}", "globs": list(forms)}]}
        asked.append((data, path, [[f"L-{number}", by]] if by is not None else []))

    said = [answered(look, tmp_path, {"data": data, "paths": [path]})[0] for data, path, _ in asked]

    assert said == [wanted for _, _, wanted in asked]
    assert any(text.startswith("!") for globs, _, _ in held for text in globs)


def test_the_explorer_and_the_command_line_agree(look: Look, tmp_path: Path) -> None:
    """For a thousand paths the same records, in the same order, by the same globs."""
    synthetic.make_repository(tmp_path / "repo", 300)
    registry = Registry.open(tmp_path / "repo")
    build_site(registry, tmp_path / "site", snapshot=False)
    data = json.loads((tmp_path / "site/paths.json").read_text("utf-8"))
    data["records"] = [one for one in data["records"] if one["group"] in ("must", "consider")]  # what is pushed
    chance = random.Random(3)
    starts = [re.sub(r"[*?\[{!].*", "", text) for text in chance.choices(list(data["globs"]), k=500)]
    wanted = [f"{start}{chance.choice(('x.py', 'a/b.ts', '', 'README.md'))}" for start in starts]
    wanted = list(filter(None, dict.fromkeys([*synthetic.paths(1000), *wanted])))[:1000]

    said = answered(look, tmp_path, {"data": data, "paths": wanted})

    for path, found in zip(wanted, said, strict=True):
        told = matches.match(registry.workspace, [path])
        assert [record for record, _ in found] == [one.row.values[ID] for one in told], path
        assert all(("/" + path, by) in one.ways for (_, by), one in zip(found, told, strict=True)), path
    assert sum(map(len, said)) > 200


def test_the_page_answers_its_address(look: Look, tmp_path: Path) -> None:
    """A path in the address is answered without a click, the landing page has the box, and no policy is broken."""
    site_of("demo", tmp_path)
    data = json.loads((tmp_path / "site/paths.json").read_text("utf-8"))
    record = next(one for one in data["records"] if one["group"] == "must")
    path = re.sub(r"[*?\[{!].*", "x", record["globs"][0])
    server = SiteServer(tmp_path / "site", 0)
    try:
        dom, console = look(f"{server.url}paths/?path={path}")
        landing, said = look(server.url)
        named, _ = look(f"{server.url}paths/?glob={record['globs'][0]}")
    finally:
        server.close()

    assert console == said == ""
    assert f'<span class="orbit-id">{record["id"]}</span>' in dom
    assert "applies to" in dom or "apply to" in dom
    assert f'<span class="orbit-id">{record["id"]}</span>' in named
    assert re.search(r'<form class="orbit-explorer"[^>]*data-orbit-most="8">', landing)
