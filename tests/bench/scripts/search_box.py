"""Prints how many ms a browser needs from a key in the search box to the records it finds, in a repository.

`first` is the first key on a page, at the median of some pages: in the moment in which the box gets the focus, a second
after the page has come, or `focused`, at once and a quarter of a second after the box got the focus; `next` is the
median of the keys after it.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from orbit_registry.registry import Registry
from orbit_registry.search.terms import STOP_WORDS
from orbit_registry.site.build import build_site
from orbit_registry.site.serve import SiteServer

KEY = """(said) => new Promise((done) => {
    const input = document.querySelector("[data-md-component=search-query]");
    const box = document.querySelector(".orbit-hits");
    new MutationObserver((_, watch) => { watch.disconnect(); done(performance.now() - began); })
        .observe(box, { childList: true });
    setTimeout(done, 3000, null); // nothing found, as before
    input.value = said;
    const began = performance.now();
    input.dispatchEvent(new Event("input"));
})"""

FOCUS = """document.querySelector("[data-md-component=search-query]").dispatchEvent(new Event("focus"))"""

registry = Registry.open()
build_site(registry, Path("site"), snapshot=False)
titles = (word for record in registry.records for word in record.title.split() if word.isalpha())
# A common word finds nothing, and what begins like one may be it.
words = sorted({word for word in titles if word[:2].lower() not in STOP_WORDS and len(word) > 3})[::97][:7]
server = SiteServer(Path("site"), 0)
program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
firsts, later = [], []
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
    for word in words:
        page = browser.new_context().new_page()
        page.goto(server.url)
        if sys.argv[1] == "first":
            page.wait_for_timeout(1000)
        if sys.argv[1] == "focused":
            page.evaluate(FOCUS)
            page.wait_for_timeout(250)
        lengths = [at for at in range(2, len(word) + 1) if word[:at].lower() not in STOP_WORDS]
        first, *rest = (page.evaluate(KEY, word[:length]) for length in lengths)
        firsts += [] if first is None else [first]
        later += [one for one in rest if one is not None]
        page.close()
    browser.close()
server.close()
print(round(statistics.median(later if sys.argv[1] == "next" else firsts), 1))
