"""CPU time of storing a file in the cache of a remote blob store: with an empty folder and with a full one.

python -m benchmarks.storage.cache --files 20000 --stores 200
"""

import argparse
import hashlib
import os
import tempfile
import time
from pathlib import Path

from app.storage.blobs import BlobLimits
from app.storage.cache import LocalCache

FILE_BYTES = 100


def store_cpu_s(folder: Path, stores: int) -> float:
    """CPU seconds a store, the folder's first reading included."""
    cache = LocalCache(folder, BlobLimits())
    source = folder.parent / "source"
    started = time.process_time()
    for _ in range(stores):
        data = os.urandom(FILE_BYTES)
        source.write_bytes(data)
        cache.adopt(source, hashlib.sha256(data).hexdigest())
    return (time.process_time() - started) / stores


def fill(folder: Path, files: int) -> None:
    folder.mkdir()
    for number in range(files):
        (folder / hashlib.sha256(str(number).encode()).hexdigest()).write_bytes(b"x" * FILE_BYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--stores", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        fill(home / "full", 0)
        empty = store_cpu_s(home / "full", options.stores)
        fill(home / "large", options.files)
        full = store_cpu_s(home / "large", options.stores)
    print(f"empty folder       {empty * 1e3:8.2f} ms of CPU a store")
    print(f"{options.files:,} files before {full * 1e3:8.2f} ms of CPU a store, {full / empty:.1f} times")


if __name__ == "__main__":
    main()
