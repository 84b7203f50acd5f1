"""Small tables, equal on every call: customers who leave, sales of two shops, five-minute bars of one coin."""

import csv
import io
import math
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

Row = Mapping[str, str | int | float]

TARGET = "left"
CUSTOMERS, NEW_CUSTOMERS = 160, 12
"""Rows of the table to train on and of the table to predict."""
DAYS = 80
BARS = 288
_START = datetime(2024, 1, 1, tzinfo=UTC)


def customers() -> list[Row]:
    """Customers with a noisy rule: short stays and expensive plans leave."""
    return _customers(random.Random(7), CUSTOMERS)


def new_customers() -> list[Row]:
    """Rows in the form of `customers`, without the target."""
    rows = _customers(random.Random(8), NEW_CUSTOMERS)
    return [{name: value for name, value in row.items() if name != TARGET} for row in rows]


def sales() -> list[Row]:
    """Daily sales with a weekly season and a slow drift, of two shops."""
    noise = random.Random(9)
    return [
        {"day": (date(2024, 1, 1) + timedelta(day)).isoformat(), "shop": shop, "sales": round(value, 2)}
        for shop, level in (("north", 60), ("south", 120))
        for day in range(DAYS)
        for value in [level + 0.05 * day + 12 * math.sin(2 * math.pi * day / 7) + noise.gauss(0, 2)]
    ]


def bars() -> list[Row]:
    """One day of five-minute bars."""
    steps, close, rows = random.Random(10), 40_000.0, []
    for place in range(BARS):
        opening, close = close, round(close * (1 + steps.gauss(0, 0.001)), 2)
        rows.append(
            {
                "symbol": "BTC",
                "time": (_START + timedelta(minutes=5 * place)).strftime("%Y-%m-%d %H:%M:%S"),
                "open": opening,
                "high": round(max(opening, close) + 5, 2),
                "low": round(min(opening, close) - 5, 2),
                "close": close,
                "volume": steps.randint(1, 50),
            }
        )
    return rows


def as_csv(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _customers(draw: random.Random, count: int) -> list[Row]:
    return [_customer(draw) for _ in range(count)]


def _customer(draw: random.Random) -> Row:
    months, plan = draw.randint(1, 60), draw.choice(["basic", "plus", "pro"])
    price = round({"basic": 10, "plus": 20, "pro": 40}[plan] + draw.random(), 2)
    risk = 2 - months / 12 + price / 30 + draw.gauss(0, 1)
    visits = draw.randint(0, 30)
    return {
        "months": months,
        "plan": plan,
        "price": price,
        "visits": visits,
        TARGET: "yes" if risk > 1 else "no",
    }
