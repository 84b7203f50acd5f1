"""Values that a walk starts with: texts that name what is forbidden, data that libraries take, files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TEXTS = (
    "__class__", "__globals__", "__subclasses__", "__dict__", "__init__.__globals__", "f_globals",
    "func_globals", "__array_interface__", "__reduce_ex__", "__deepcopy__", "__getattr__", "mro", "gi_frame",
    "{0.__class__}", "{x.__class__}", "\uff3f\uff3fclass\uff3f\uff3f", "a.__class__", "@a.__class__", "@sys",
    "@re", "module://this", "os", "eval", "query", "agg", "sum", "mean", "a", "x", "a ~ __import__('os')",
    "/etc/passwd", "../x", "plot.csv", "''.__class__", "_IMMUTABLE_TYPES", "__builtins__",
)  # fmt: skip
"""Texts that would reach something if a library took them for a name, a template, an expression or a path."""

DATA = """
import io, types
import numpy as np, pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.utils import Bunch
frame = pd.DataFrame({'a': [1.0, 2.0, 3.0, 4.0], 'k': list('xyxy'), 'n': [4, 3, 2, 1]})
numbers = frame[['a', 'n']]
series = frame['a']
groups = frame.groupby('k')
array = np.arange(8.0).reshape(4, 2)
vector = np.array([1.0, 2.0, 3.0, 4.0])
labels = np.array([0, 1, 0, 1])
number, count, column, columns, none, yes = 0.5, 2, 'a', ['a', 'n'], None, True
estimator = LinearRegression().fit(array, vector)
text_buffer, byte_buffer = io.StringIO('a,b' + chr(10) + '1,2'), io.BytesIO(b'')
address = {'version': 3, 'shape': (1,), 'typestr': '|u1', 'data': (id(array), True)}
namespace = types.SimpleNamespace(a=1, fit=len, read=len, _fields=('a',))
bunch = Bunch(**{'__array_interface__': address, '__class__': 1})
labelled = pd.Series({'__array_interface__': address, '__dataframe__': len})
class Answers:
    def __init__(self): self.kept = 1
    def __getattr__(self, name): return address
    def __set_name__(self, owner, name): captured.append(owner)
    def __get__(self, instance, owner): return captured.append(instance)
class Holder(Answers):
    __slots__ = ('a',)
    __match_args__ = ('a',)
answers, holder, attributes = Answers(), Holder(), vars(Answers())
keep = make_callback(None)
keep_data = make_callback(vector)
"""
"""A program whose variables are held from the start."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POOLS = {
    "data frame df x obj objs X dataframe left right values self": ("frame", "numbers", "array", "series"),
    "y target labels label a b arr array vector sample endog exog weights": (
        "vector",
        "labels",
        "series",
    ),
    "columns column by on index subset hue names level levels usecols": ("column", "columns"),
    "func function callback key f fun converter object_hook default formatter": (
        "keep",
        "keep_data",
    ),
    "estimator model base_estimator transformer classifier": ("estimator",),
    "n axis n_components k size num window periods nrows ncols order degree": ("count",),
    "buf buffer fp stream file": ("text_buffer", "byte_buffer"),
}
_PATHS = _words(
    """
    path path_or_buf path_or_buffer filepath_or_buffer io fname filename file source target fmap excel_writer
    model_file buf cache_prefix fout f
    """
)
_NAMES = _words(
    """
    method how kind engine name func aggfunc metric scoring formula expr eval_env type mode win_type estimator
    response_method memory backend format fmt float_format template style interpolation attr getter
    verbose_feature_names_out importance_getter family font fontname
    """
)


def pools_of(parameter: str) -> list[str]:
    """Names of the variables of DATA that fit a parameter; `text:...` and `path:...` stand for those."""
    pool = [name for parameters, names in _POOLS.items() if parameter in parameters.split() for name in names]
    if parameter in _PATHS:
        pool += ["path:"] * 2
    if parameter in _NAMES:
        pool += ["text:"] * 2
    return pool


@dataclass(frozen=True)
class Ref:
    """A value that a walk holds, and the expression that led to it."""

    value: Any
    path: str


class Canaries:
    """Files in a folder that no program may reach. Reading one changes its time of access."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        table = pd.DataFrame({"a": [1.0, 2.0]})
        table.to_parquet(folder / "table.parquet")
        table.to_csv(folder / "table.csv")
        np.save(folder / "array.npy", table.to_numpy())
        (folder / "matrix.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4.0\n")
        (folder / "features.txt").write_text("0 a q\n1 b q\n")
        (folder / "table.json").write_text('{"a": [1]}')
        self._names = _names_in(folder)
        for path in folder.iterdir():
            os.utime(path, ns=(0, path.stat().st_mtime_ns))

    def paths(self) -> Iterator[str]:
        yield from (str(self._folder / name) for name in (*self._names, "new"))

    def change(self) -> str | None:
        """Return what happened to the folder; None if nothing did."""
        names = _names_in(self._folder)
        if names != self._names:
            return f"files made or removed outside: {sorted(set(names) ^ set(self._names))}"
        read = [name for name in names if (self._folder / name).stat().st_atime_ns]
        return f"files read outside: {read}" if read else None


def _names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
