"""The OpenMP library for LightGBM where the system lacks libgomp.so.1, as bare containers do.

scikit-learn's wheel bundles the same library under another name. A copy with the plain name is loaded from
memory, where LightGBM's loader finds it. Nothing is done if the system has the library, or there is no bundle.
"""

import ctypes
import os
import sys
from pathlib import Path

import sklearn

NAME = b"libgomp.so.1"


def lend_openmp() -> None:
    """Make `libgomp.so.1` loadable in this process (Linux)."""
    if not sys.platform.startswith("linux") or _loads(NAME.decode()):
        return
    for bundled in (Path(sklearn.__file__).parents[1] / "scikit_learn.libs").glob("libgomp-*.so*"):
        load_as(NAME, bundled)
        return


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def load_as(name: bytes, library: Path) -> None:
    """Load a copy of a library, its own name in the file replaced by a shorter one."""
    own_name = library.name.encode() + b"\0"
    copy = library.read_bytes().replace(own_name, name.ljust(len(own_name), b"\0"))
    memory = os.memfd_create(name.decode())
    try:
        os.write(memory, copy)
        ctypes.CDLL(f"/proc/self/fd/{memory}", mode=ctypes.RTLD_GLOBAL)
    finally:
        os.close(memory)
