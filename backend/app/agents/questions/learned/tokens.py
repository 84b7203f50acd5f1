"""The tokens of the grammar: names of figures, parts, conditions, numbers and orders, and their numbers."""

OVER = ("mean", "median", "min", "max", "sum", "std")
SHOWS = (
    "figures",
    "table",
    "groups",
    "count_groups",
    *(f"over_{name}" for name in OVER),
    "rows",
    "values",
    "none",
)
OF_ANY = ("distinct", "min", "max")
OF_NUMBERS = ("sum", "mean", "median", "std")
FIGURES = (
    "count", "count_if", *OF_ANY, *(f"{name}_if" for name in OF_ANY), *OF_NUMBERS,
    *(f"{name}_if" for name in OF_NUMBERS), "quantile", "corr", "share", "part", "change", "cumulative",
    "ratio", "minus",
)  # fmt: skip
DATE_PARTS = (
    "year", "quarter", "month", "weekday", "hour", "yearquarter", "yearmonth", "week", "day"
)  # fmt: skip
ARITHMETIC = ("+", "-", "*", "/")
SPANS = ("days", "hours", "minutes")
SIGNS = ("==", "!=", "<", "<=", ">", ">=")
TESTS = (
    *SIGNS, "in", "between", "contains", "starts", "missing", "present", "last", "this", "previous", "not",
    "or", "within", "weekend", "workday",
)  # fmt: skip
STATISTICS = ("stat_mean", "stat_median", "stat_quantile")
SCALES = {
    "times_60": 60.0, "times_1/60": 1 / 60, "times_100": 100.0, "times_1/100": 0.01, "times_1000": 1000.0,
    "times_1/1000": 0.001, "times_24": 24.0, "times_1/24": 1 / 24, "times_7": 7.0, "times_12": 12.0,
    "times_3600": 3600.0, "times_1/3600": 1 / 3600, "times_365": 365.0, "times_30": 30.0, "times_-1": -1.0,
}  # fmt: skip
AFTERNOON = "plus_12"
CONSTANTS = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 17, 18, 20, 22, 24, 25, 30, 50, 60, 65, 100, 0.05, 0.1, 0.25, 0.5,
    0.75, 0.9, 0.95, 0.99,
)  # fmt: skip
GOALS = ("predict", "drivers", "forecast", "segment", "explore", "unserved", "nonsense")
"""Aims of goals beside questions about stored rows."""
UNITS = ("year", "quarter", "month", "week", "day", "hour")
ORDERS = ("top", "bottom", "sort", "sort_desc")
TOKENS = (
    "end", *SHOWS, *(f"figure_{name}" for name in FIGURES), *(f"part_{name}" for name in DATE_PARTS),
    "part_bins", *(f"term_{name}" for name in (*ARITHMETIC, *SPANS)), *(f"test_{name}" for name in TESTS),
    *STATISTICS, *SCALES, AFTERNOON, *(f"number_{number}" for number in CONSTANTS), "true", "false",
    "other_column", "mean_of_groups", *(f"unit_{name}" for name in UNITS),
    *(f"order_{name}" for name in ORDERS), "same_figure", *(f"goal_{name}" for name in GOALS),
)  # fmt: skip
TOKEN_NUMBERS = {name: number for number, name in enumerate(TOKENS)}
"""A fitted decoder knows tokens by their numbers: a change of them needs another fit."""
