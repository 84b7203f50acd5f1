"""Conversion of numeric times to the dates of a user's file."""

import pandas as pd

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def from_decimal_years(years: pd.Series, per_year: int) -> pd.Series:
    """First days of months or quarters that are counted in years, as `2000.083`."""
    periods = (years * per_year).round().astype(int)
    months = 12 // per_year
    dates = [f"{period // per_year}-{period % per_year * months + 1:02d}-01" for period in periods]
    return pd.Series(dates, index=years.index)


def from_parts(years: pd.Series, numbers: pd.Series, months: int = 1) -> pd.Series:
    """First days of months, or of quarters if `months` is 3, whose years and numbers are columns."""
    firsts = (numbers - 1) * months + 1
    return years.astype(str) + "-" + firsts.map("{:02d}".format) + "-01"


def stack_months(table: pd.DataFrame, year: str, value: str) -> pd.DataFrame:
    """A table of one row for each year and a column for each month, as one row for each month."""
    names = {column: column.lower() for column in table.columns}
    long = table.rename(columns=names).melt(year.lower(), MONTHS, "month", value).dropna(subset=[value])
    number = long["month"].map(MONTHS.index) + 1
    dates = from_parts(long[year.lower()], number)
    ordered: pd.DataFrame = pd.DataFrame({"date": dates, value: long[value]}).sort_values(
        "date", ignore_index=True
    )
    return ordered
