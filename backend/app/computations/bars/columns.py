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
        "datum",
    ),
    "open": ("open", "o", "openprice", "priceopen", "opening", "erffnung", "erster", "ouverture", "apertura"),
    "high": ("high", "h", "highprice", "pricehigh", "max", "hoch", "haut", "plushaut", "mximo"),
    "low": ("low", "l", "lowprice", "pricelow", "min", "tief", "bas", "plusbas", "mnimo"),
    "close": (
        "close",
        "c",
        "closeprice",
        "priceclose",
        "closelast",
        "last",
        "price",
        "closing",
        "schlusskurs",
        "schluss",
        "clture",
        "dernier",
        "cierre",
    ),
    "volume": (
        "volume",
        "v",
        "vol",
        "basevolume",
        "volumefrom",
        "volumetraded",
        "tickvol",
        "tickvolume",
        "volumen",
        "stcke",
    ),
}
_INTERVALS = ("interval", "timeframe", "resolution", "granularity", "per", "period")
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
    """Our columns by the file's names. `time`: a column with the time of day, where `ts` holds only dates.
    `comma`: it is the decimal mark of what was left as text."""

    names: Mapping[str, str]
    time: str | None = None
    notes: tuple[str, ...] = ()
    comma: bool = False


def find_columns(names: Sequence[str], coin: str | None) -> Found:
    """By name; raises InvalidInput naming what is missing. `coin`: of a file that has no such column."""
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(re.sub(r"[^a-z0-9]", "", name.lower()), name)
    found = {ours: next((plain[a] for a in aliases if a in plain), "") for ours, aliases in _ALIASES.items()}
    if not found["ts"] and names and names[0] not in found.values():
        found["ts"] = names[0]  # the index of a frame that pandas wrote, whatever it is called
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


def interval_column(names: Sequence[str]) -> str | None:
    """The column that says of each bar how long it lasts."""
    return next((name for name in names if re.sub(r"[^a-z]", "", name.lower()) in _INTERVALS), None)


def are_unnamed(names: Sequence[str]) -> bool:
    """A file without a header, as exchanges send arrays."""
    return len(names) >= len(MEASURES) and all(_UNNAMED.fullmatch(name) for name in names)


def orders(names: Sequence[str], types: Mapping[str, str]) -> list[Found]:
    """Ways to take unnamed columns: time first (a day and a clock may be two), four prices, then the volume."""
    time = names[1] if types[names[1]] in ("text", "datetime") and len(names) > len(MEASURES) else None
    rest = names[2:] if time else names[1:]
    at = 5 if len(names) == _WITH_AVERAGE and not time else 4
    given = {"coin": "", "ts": names[0], "volume": rest[at] if len(rest) > at else ""}
    return [Found(dict(zip(order, rest[:4], strict=True)) | given, time) for order in _ORDERS]
