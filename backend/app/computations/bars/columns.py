"""Which column of a file is which of a bar, by the names that exchanges and data sellers use. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.computations.bars.record import MEASURES
from app.errors import InvalidInput

# Our column -> what others call it, in lower case without punctuation; the first that is there is taken.
_ALIASES: dict[str, tuple[str, ...]] = {
    "coin": (
        "cointype",
        "coin",
        "symbol",
        "ticker",
        "asset",
        "pair",
        "instrument",
        "instid",
        "market",
        "productid",
        "code",
    ),
    "ts": (
        "ts",
        "timestamp",
        "opentime",
        "opentimestamp",
        "timeopen",
        "starttime",
        "timeperiodstart",
        "unix",
        "unixtime",
        "unixtimestamp",
        "epoch",
        "datetime",
        "time",
        "t",
        "date",
        "start",
        "startat",
        "bartime",
        "index",
        "indexlevel0",
    ),
    "open": ("open", "o", "openprice", "priceopen", "opening"),
    "high": ("high", "h", "highprice", "pricehigh", "max"),
    "low": ("low", "l", "lowprice", "pricelow", "min"),
    "close": ("close", "c", "closeprice", "priceclose", "last", "price", "closing"),
    "volume": ("volume", "v", "vol", "basevolume", "volumefrom", "volumetraded", "tickvol", "tickvolume"),
}
_UNNAMED = re.compile(r"column_\d+")

# Arrays of exchanges, by position. The first whose highs and lows hold is meant.
_ORDERS: tuple[tuple[str, ...], ...] = (
    ("open", "high", "low", "close"),
    ("low", "high", "open", "close"),
    ("open", "close", "high", "low"),
)
_WITH_AVERAGE = 8
"""Fields of a Kraken bar: a mean price stands before the volume."""


@dataclass(frozen=True)
class Found:
    """Our columns by the file's names. `time`: a column with the time of day, where `ts` holds only dates."""

    names: Mapping[str, str]
    time: str | None = None
    notes: tuple[str, ...] = ()


def find_columns(names: Sequence[str], coin: str | None) -> Found:
    """By name; raises InvalidInput naming what is missing. `coin`: of a file that has no such column."""
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(re.sub(r"[^a-z0-9]", "", name.lower()), name)
    found = {ours: next((plain[a] for a in aliases if a in plain), "") for ours, aliases in _ALIASES.items()}
    if not found["ts"] and names and _UNNAMED.fullmatch(names[0]):
        found["ts"] = names[0]  # the index of a frame that pandas wrote
    found["volume"] = found["volume"] or next((plain[p] for p in plain if p.startswith("volume")), "")
    needed = [ours for ours in _ALIASES if ours != "volume" and not (ours == "coin" and coin)]
    missing = [ours for ours in needed if not found[ours]]
    if missing:
        raise InvalidInput(
            "missing_columns",
            f"The file has no column for {', '.join(missing)}; it has {', '.join(names[:30])}."
            + (" Name the coin with `coin`." if missing == ["coin"] else ""),
            missing=missing,
        )
    if coin is not None:
        found["coin"] = ""
    split = "date" in plain and "time" in plain and found["ts"] in (plain["date"], plain["time"])
    if split:
        found["ts"] = plain["date"]
    notes = [] if found["volume"] else ["The file has no volume: it is 0 everywhere."]
    if "adjclose" in plain:
        notes.append(f"{plain['adjclose']} is not used: bars are kept as they were traded.")
    return Found(found, plain["time"] if split else None, tuple(notes))


def are_unnamed(names: Sequence[str]) -> bool:
    """A file without a header, as exchanges send arrays."""
    return len(names) >= len(MEASURES) and all(_UNNAMED.fullmatch(name) for name in names)


def orders(names: Sequence[str]) -> list[dict[str, str]]:
    """Ways to take unnamed columns: time first, four prices, then the volume."""
    at = 6 if len(names) == _WITH_AVERAGE else 5
    rest = {"ts": names[0], "volume": names[at] if len(names) > at else ""}
    return [dict(zip(order, names[1:5], strict=True)) | rest for order in _ORDERS]
