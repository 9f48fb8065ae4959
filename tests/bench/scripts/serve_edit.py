"""Prints how long after a save of one record an open page of a browser shows it:
seconds of the clock, the median.
"""

import queue
import re
import shutil
import statistics
import threading
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from orbit_registry.registry import Registry
from orbit_registry.site.serve import serve_site

EDITS = 7


def main() -> None:
    """Serve the repository we stand in, edit one record again and again,
    and look at its page in Chromium.
    """
    lines: queue.Queue[str] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(
        target=serve_site, args=(Registry.open("."), 0, None, lines.put, stop)
    )
    thread.start()
    file = min(Path(".orbit/learnings").glob("*/learning.yaml"))
    before = file.read_text("utf-8")
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    try:
        url = ""
        while "Ctrl-C" not in url:
            url = lines.get(timeout=1800)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            page.goto(f"{url.split()[0]}learnings/{file.parent.name}/")
            times = [edited(page, file, number) for number in range(EDITS)]
            browser.close()
    finally:
        stop.set()
        thread.join()
        file.write_text(before, "utf-8")
    print(f"{statistics.median(times):.2f}")


def edited(page: Page, file: Path, number: int) -> float:
    """Return how long one edit, of a title, takes to be on the record's open page."""
    words = f"Seen at once, the {number}th time"
    text = re.sub(
        r"(?m)^summary:.*$", f"summary: {words} in {file.parent.name}", file.read_text("utf-8")
    )
    began = time.perf_counter()
    file.write_text(text, "utf-8")
    page.locator("h1", has_text=words).wait_for(timeout=300_000)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
