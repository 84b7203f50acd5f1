"""Mapping of a file's columns to those of a bar, by the names that exchanges and data vendors use. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.computations.bars.copy_records import MEASURES
from app.errors import InvalidInput

# Our column -> names in files, in lower case without punctuation; the first one in the file is used.
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
    # Letters beyond a to z are removed before the comparison, so `Eröffnung` is `erffnung`.
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

# Orders of prices in arrays of exchanges. The first one whose highs and lows are consistent is used.
_ORDERS: tuple[tuple[str, ...], ...] = (
    ("open", "high", "low", "close"),
    ("low", "high", "open", "close"),
    ("open", "close", "high", "low"),
)
_KRAKEN_FIELDS = 8
"""Fields of a Kraken bar, which has a mean price before the volume."""


@dataclass(frozen=True)
class ColumnMapping:
    """Our columns by the file's names.

    `time`: a column with the time of day, if `ts` has only dates. `comma`: true if a comma is the decimal mark
    of numbers in text columns.
    """

    names: Mapping[str, str]
    time: str | None = None
    notes: tuple[str, ...] = ()
    comma: bool = False


def find_columns(names: Sequence[str], coin: str | None) -> ColumnMapping:
    """Map columns by name; raises InvalidInput that names the missing ones. `coin`: the coin of a file
    without such a column."""
    normalized: dict[str, str] = {}
    for name in names:
        normalized.setdefault(re.sub(r"[^a-z0-9]", "", name.lower()), name)
    mapping = {
        column: next((normalized[alias] for alias in aliases if alias in normalized), "")
        for column, aliases in _ALIASES.items()
    }
    if not mapping["ts"] and names and names[0] not in mapping.values():
        mapping["ts"] = names[0]  # the index of a frame that pandas wrote, whatever its name
    # Exchanges write `Volume BTC` and `Volume USDT`, first the one that counts coins.
    volumes = [name for key, name in normalized.items() if key.startswith("volume")]
    mapping["volume"] = mapping["volume"] or next(iter(volumes), "")
    required = [column for column in _ALIASES if column != "volume" and not (column == "coin" and coin)]
    missing = [column for column in required if not mapping[column]]
    if missing:
        raise InvalidInput(
            "missing_columns",
            f"The file has no column for {', '.join(missing)}; it has {', '.join(names[:30])}."
            + (" Name the coin with `coin`." if missing == ["coin"] else ""),
            missing=missing,
        )
    # A coin that the sender names holds for the whole file, whatever a column of it says.
    if coin is not None:
        mapping["coin"] = ""
    has_both = "date" in normalized and "time" in normalized
    is_split = has_both and mapping["ts"] in (normalized["date"], normalized["time"])
    if is_split:
        mapping["ts"] = normalized["date"]
    notes = [] if mapping["volume"] else ["The file has no volume: it is 0 everywhere."]
    if "adjclose" in normalized:
        notes.append(f"{normalized['adjclose']} is not used: bars keep the traded prices.")
    return ColumnMapping(mapping, normalized["time"] if is_split else None, tuple(notes))


def find_interval_column(names: Sequence[str]) -> str | None:
    """Find the column with the interval of each bar."""
    return next((name for name in names if re.sub(r"[^a-z]", "", name.lower()) in _INTERVALS), None)


def are_unnamed(names: Sequence[str]) -> bool:
    """Return true for a file without a header, such as the arrays of exchanges."""
    return len(names) >= len(MEASURES) and all(_UNNAMED.fullmatch(name) for name in names)


def list_column_orders(names: Sequence[str], types: Mapping[str, str]) -> list[ColumnMapping]:
    """List mappings of unnamed columns: time first (or a date and a time), four prices, then the volume."""
    time_column = names[1] if types[names[1]] in ("text", "datetime") and len(names) > len(MEASURES) else None
    rest = names[2:] if time_column else names[1:]
    volume_position = 5 if len(names) == _KRAKEN_FIELDS and not time_column else 4
    other_columns = {
        "coin": "",
        "ts": names[0],
        "volume": rest[volume_position] if len(rest) > volume_position else "",
    }
    return [
        ColumnMapping(dict(zip(order, rest[:4], strict=True)) | other_columns, time_column) for order in _ORDERS
    ]
