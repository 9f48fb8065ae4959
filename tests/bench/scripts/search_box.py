"""Prints how many ms a browser needs from a key in the search box to the records it finds, in a repository.

`first` is the first key on a page, with which the rows are fetched and read; `next` the median of the keys after it.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.serve import SiteServer

KEY = """(said) => new Promise((done) => {
    const input = document.querySelector("[data-md-component=search-query]");
    const box = document.querySelector(".orbit-hits");
    new MutationObserver((_, watch) => { watch.disconnect(); done(performance.now() - began); })
        .observe(box, { childList: true });
    input.value = said;
    const began = performance.now();
    input.dispatchEvent(new Event("input"));
})"""

registry = Registry.open()
build_site(registry, Path("site"), snapshot=False)
words = sorted({word for record in registry.records for word in record.title.split() if word.isalpha()})[::97][:20]
server = SiteServer(Path("site"), 0)
program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
    page = browser.new_page()
    page.goto(server.url)
    times = [page.evaluate(KEY, word[:length]) for word in words for length in range(1, len(word) + 1)]
    browser.close()
server.close()
print(round(times[0] if sys.argv[1] == "first" else statistics.median(times[1:]), 1))
