"""Features and estimators: what no program may do they may not either, and besides they open no files."""

import sys

import joblib
import pytest

from app.errors import InvalidInput
from app.sandbox.policy.custom_functions import define

from .corpus import ESCAPES
from .test_programs import REFUSALS

OPENS = (
    "open('x')",
    "pd.read_parquet('x')",
    "pd.io.parsers.read_csv('x')",
    "pd.core.api.DataFrame",
    "pd.ExcelFile('x')",
    "pd.DataFrame({'a': [1]}).to_csv('x')",
    "getattr(pd.DataFrame({'a': [1]}), 'to_' + 'parquet')('x')",
    "getattr(pd, 'read_csv')('x')",
    "np.load('x')",
    "np.loadtxt('x')",
    "np.fromfile('x')",
    "np.memmap('x')",
    "np.lib.npyio",
    "np.save('x', 1)",
)
IMPORTS = (
    "from pandas import read_csv",
    "from numpy import load",
    "import numpy.lib.npyio",
    "import scipy.io",
    "from scipy import io",
    "import sklearn.datasets",
    "from sklearn.feature_extraction.text import CountVectorizer",
    "import joblib",
    "import io",
    "import csv",
    "import matplotlib.pyplot",
    "import xgboost",
    "import time",
    "import os",
)
ALLOWED = """
import math
import re
from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.preprocessing import SplineTransformer

def fit(frame, target):
    frame["x"] += 1
    load = frame.load.mean()
    return {"load": load, "month": pd.to_datetime(frame["day"]).dt.month.to_numpy(), "words": Counter("ab")}
"""


@pytest.fixture(autouse=True)
def _own_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(joblib.Memory, "__init__", joblib.Memory.__init__)


@pytest.mark.parametrize("name", sorted(ESCAPES))
def test_an_escape_from_custom_code_is_refused(name: str) -> None:
    with pytest.raises(REFUSALS):
        define(ESCAPES[name])


@pytest.mark.parametrize("expression", OPENS)
def test_functions_that_open_files_are_refused(expression: str) -> None:
    with pytest.raises((AttributeError, PermissionError), match=r"no files|not allowed"):
        define(f"import numpy as np\nimport pandas as pd\nx = {expression}")


@pytest.mark.parametrize("line", IMPORTS)
def test_modules_that_open_files_or_read_clocks_are_not_imported(line: str) -> None:
    with pytest.raises((ImportError, AttributeError), match="not allowed"):
        define(line)


def test_idiomatic_features_are_defined_in_a_fresh_namespace_each_time() -> None:
    first, second = define(ALLOWED), define(ALLOWED)
    assert callable(first["fit"])
    assert first["fit"] is not second["fit"]


def test_custom_code_that_cannot_be_parsed_is_invalid_input() -> None:
    with pytest.raises(InvalidInput, match="Line 1"):
        define("def f(:")
