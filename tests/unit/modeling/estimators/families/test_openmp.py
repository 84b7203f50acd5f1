"""A bundled OpenMP library can be loaded under the name that LightGBM needs."""

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
from pathlib import Path
import sklearn
from app.modeling.estimators.families.openmp import load_as

bundled = next((Path(sklearn.__file__).parents[1] / "scikit_learn.libs").glob("libgomp-*.so*"), None)
if bundled is None:
    print("not bundled")
    raise SystemExit
try:
    ctypes.CDLL("libgomp.so.77")
except OSError:
    load_as(b"libgomp.so.77", bundled)
    print("lent" if ctypes.CDLL("libgomp.so.77").omp_get_max_threads() > 0 else "broken")
"""


def test_a_copy_of_a_bundled_library_is_loaded_under_the_new_name() -> None:
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    if "not bundled" in process.stdout:
        pytest.skip("This build of scikit-learn brings no libgomp.")
    assert process.stdout.strip() == "lent"
