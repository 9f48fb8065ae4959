"""Prints how long after a save of one record the served site has it: seconds of the clock, the median of several."""

from __future__ import annotations

import queue
import re
import statistics
import sys
import threading
import time
import urllib.request
from pathlib import Path

from orbit_registry.registry import Registry
from orbit_registry.site.serve import serve_site

EDITS = 5


def get(address: str) -> str:
    """Return what an address of this machine answers."""
    with urllib.request.urlopen(address, timeout=300) as answer:
        return str(answer.read().decode("utf-8"))


def main() -> None:
    """Serve the repository we stand in, edit one record again and again, and wait as an open page does."""
    lines: queue.Queue[str] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(target=serve_site, args=(Registry.open("."), 0, None, lines.put, stop))
    thread.start()
    try:
        url = ""
        while "Ctrl-C" not in url:
            url = lines.get(timeout=1800)
        url = url.split()[0]
        file = min(Path(".orbit/learnings").glob("*/learning.yaml"))
        taken = [edited(url, file, number) for number in range(EDITS)]
    finally:
        stop.set()
        thread.join()
    print(f"{statistics.median(taken):.2f}")


def edited(url: str, file: Path, number: int) -> float:
    """Return how long one edit takes to be on the record's page."""
    page = f"{url}learnings/{file.parent.name}/"
    (held,) = re.findall(r'data-build="(\d+)"', get(page))
    words = f"Seen at once, the {number}th time"
    text = re.sub(r"(?m)^summary:.*$", f"summary: {words} in {file.parent.name}", file.read_text("utf-8"))
    began = time.perf_counter()
    file.write_text(text, "utf-8")
    while get(f"{url}.orbit-live/{held}") == held:
        pass
    seen = words in get(page)
    if not seen:
        sys.exit("the page was loaded again without the edit")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
