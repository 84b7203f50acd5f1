"""The libraries that every cell finds imported. One line here gives cells another one."""

import gc
import importlib
import io
import pkgutil

import app.computations
from app.sandbox.policy.language import compile_code

LIBRARIES = (
    "duckdb",
    "matplotlib.figure",
    "matplotlib.pyplot",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "seaborn",
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
    "statsmodels.api",
    "xgboost",
)


def load() -> None:
    """Import what cells use, and let lazy parts settle, so that cells share the pages."""
    names = [*LIBRARIES, *(f"app.computations.{found.name}" for found in _computations())]
    for name in names:
        importlib.import_module(name)
    _warm()
    gc.collect()
    gc.freeze()


def _computations() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(app.computations.__path__))


def _warm() -> None:
    """First calls are slow in pandas and matplotlib: make them here, once, on one thread."""
    pandas = importlib.import_module("pandas")
    figure = importlib.import_module("matplotlib.figure").Figure()
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.groupby("b")["a"].sum()
    repr(frame)
    figure.subplots().plot([1, 2])
    figure.savefig(io.BytesIO())
    compile_code("import pandas as pd\nresult = pd.DataFrame({'a': [1]}).sum()")
