"""Prints how many points Lighthouse takes off a page of a repository's site: of its worst category, at the median.

The categories are performance (on a slow phone and network, as Lighthouse simulates them), accessibility and best
practices. The site is served compressed, as hosts of pages do. Needs Node; `npx` brings Lighthouse.
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CATEGORIES = ("performance", "accessibility", "best-practices")
RUNS = 3


class Compressed(http.server.SimpleHTTPRequestHandler):
    """Serves files compressed, for a while to be kept."""

    def do_GET(self) -> None:
        """Answer with a file."""
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            self.send_error(404)
            return
        body = gzip.compress(file.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


def scores(url: str, folder: Path) -> dict[str, float]:
    """Return the score of each category, from 0 to 100."""
    chrome = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    out = folder / "report.json"
    words = ["npx", "--yes", "lighthouse@13", url, "--quiet", "--output=json", f"--output-path={out}"]
    words += [f"--only-categories={','.join(CATEGORIES)}", "--chrome-flags=--headless=new --no-sandbox --disable-gpu"]
    environment = {**os.environ, "CHROME_PATH": chrome}
    subprocess.run(words, env=environment, cwd=folder, check=True, capture_output=True, timeout=300)
    held = json.loads(out.read_text("utf-8"))["categories"]
    return {name: 100 * held[name]["score"] for name in CATEGORIES}


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressed, directory="site"))
threading.Thread(target=server.serve_forever, daemon=True).start()
home = f"http://127.0.0.1:{server.server_port}/"
build_site(Registry.open(), Path("site"), base_url=home, snapshot=False)
with tempfile.TemporaryDirectory() as place:
    found = [scores(home + sys.argv[1], Path(place)) for _ in range(RUNS)]
server.shutdown()
medians = {name: statistics.median(one[name] for one in found) for name in CATEGORIES}
print(", ".join(f"{name} {score:.0f}" for name, score in medians.items()))
print(round(100 - min(medians.values())))
