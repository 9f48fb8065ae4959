"""Runs the benchmark: `python -m tests.bench` from the repository's root; see `bench`."""

from __future__ import annotations

import sys

from tests.bench.bench import main

sys.exit(main())
