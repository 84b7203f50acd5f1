"""The libraries that every cell finds imported. One line here gives cells another one."""

import gc
import importlib
import io
import pkgutil
from pathlib import Path

import app.computations
from app.sandbox.kernel.calls import collapse_pages
from app.sandbox.policy.language import compile_code

# Not statsmodels and seaborn: every fork would pay for their 200 mappings, and few programs use them.
LIBRARIES = (
    "duckdb",
    "matplotlib.figure",
    "matplotlib.pyplot",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "skops.io",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.impute",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "xgboost",
)


def load_libraries() -> None:
    """Import what cells use, and let lazy parts settle, so that cells share the pages."""
    names = [*LIBRARIES, *(f"app.computations.{found.name}" for found in _computation_modules())]
    for name in names:
        importlib.import_module(name)
    _make_first_calls()
    gc.collect()
    gc.freeze()
    _use_large_pages()


def touch_common_pages() -> None:
    """What nearly every program does first. A cell that waits for its request copies the pages of it now."""
    compile_code("import pandas as pd\nframe = pd.DataFrame({'a': [1]})\nresult = int(frame['a'].sum())")
    pandas = importlib.import_module("pandas")
    pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})["a"].sum()


def _computation_modules() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(app.computations.__path__))


def _make_first_calls() -> None:
    """First calls are slow in pandas and matplotlib: make them here, once, on one thread."""
    pandas = importlib.import_module("pandas")
    figure = importlib.import_module("matplotlib.figure").Figure()
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.groupby("b")["a"].sum()
    repr(frame)
    figure.subplots().plot([1, 2])
    figure.savefig(io.BytesIO())
    compile_code("import pandas as pd\nresult = pd.DataFrame({'a': [1]}).sum()")


def _use_large_pages() -> None:
    """Forks copy the page table, not the memory: in pages of 2 MiB that is a third less work. Best effort."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, _, _, inode, *name = line.split()
        if access == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            collapse_pages(start, end)
