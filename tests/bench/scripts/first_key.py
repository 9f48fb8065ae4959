"""Prints how long the site's search box takes at the first key in Chromium, with 1,000 records:
milliseconds.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from tests.acceptance.browsing import chromium, served, tab
from tests.bench.synthetic import make_repository

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

ROUNDS = 9
PAUSE = 300
"""Milliseconds between the focus and the first key: people take longer."""
FILES = ("search/titles.json", "assets/orbit/search.js", "assets/orbit/searchbox.js")
WATCH = """() => {
    const input = document.querySelector("[data-orbit-search] input"), list = document.getElementById("orbit-hits");
    input.addEventListener("keydown", () => (window.pressed = performance.now()), { once: true, capture: true });
    const drawn = () => requestAnimationFrame(() => (window.taken ??= performance.now() - window.pressed));
    new MutationObserver(drawn).observe(list, { childList: true });
}"""  # noqa: E501


def main(number: int) -> None:
    """Build a site of so many records, and open its box anew for each measurement."""
    with tempfile.TemporaryDirectory() as folder:
        root, site = Path(folder, "repo"), Path(folder, "site")
        make_repository(root, number)
        build_site(Registry.open(root), site, snapshot=False)
        before = sum((site / name).stat().st_size for name in FILES)
        taken = []
        with chromium() as browser, served(site) as url:
            for _ in range(ROUNDS):
                with tab(browser) as opened:
                    page = opened.go(url)
                    page.wait_for_load_state("networkidle")
                    page.evaluate(WATCH)
                    with page.expect_response("**/search/titles.json"):
                        page.keyboard.press("/")
                    page.wait_for_timeout(PAUSE)
                    page.keyboard.press("b")
                    page.wait_for_selector("[role=option]")
                    page.wait_for_timeout(100)
                    taken.append(float(page.evaluate("window.taken")))
        median, best = statistics.median(taken), min(taken)
        print(f"{median:.0f} ms, at best {best:.0f} ms; {before / 1000:.0f} kB at the focus")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
