"""Prints what searches cost in a repository, in ms of CPU:
opening the index, the slowest, and the median last.
"""

import json
import random
import statistics
import time

from orbit_registry.registry import Registry
from orbit_registry.search.query import Query

QUERIES = 300

started = time.process_time()
registry = Registry.open()
searcher = registry.searcher
loaded = time.process_time() - started
chance = random.Random(7)
words = sorted({word for record in registry.records for word in record.title.split()})
times = []
for number in range(QUERIES):
    text = " ".join(chance.choices(words, k=number % 5 + 1))
    began = time.process_time()
    searcher.search(Query(text))
    times.append(time.process_time() - began)
times.sort()
print(
    json.dumps(
        {
            "records": len(registry.collection.records),
            "load_ms": round(loaded * 1000),
            "p50_ms": round(statistics.median(times) * 1000, 2),
            "p99_ms": round(times[len(times) * 99 // 100] * 1000, 2),
        }
    ),
    round(statistics.median(times) * 1000, 2),
)
