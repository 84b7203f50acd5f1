"""Kinds of quantities by the words of names: `fare` is money, `tenure` is time."""

from collections.abc import Sequence

from app.agents.goals.words.concepts import expand
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.vocabulary import word_set

_NAMES_BY_KIND = {
    "time": word_set(
        "duration dur minutes min mins hours hrs hour days day time delay late wait tenure age los sec"
    ),
    "money": word_set(
        "price cost amount fee fare revenue income salary pay paid charge charges value budget spend spent"
        " premium rent bill tip wage earnings sales turnover profit margin balance loan debt usd eur gbp"
        " gross net total"
    ),
    "count": word_set("count number quantity units visits orders items goals attempts calls clicks sessions n"),
    "mass": word_set("weight mass tonnage kg load"),
    "length": word_set("distance length width depth height range mileage km"),
    "temperature": word_set("temperature temp tmax tmin heat celsius"),
    "share": word_set("rate share percent ratio pct yield efficiency occupancy"),
    "rating": word_set("rating score grade mark points quality rank stars satisfaction result"),
    "place": word_set(
        "city town region district station country state area location branch store site ward zone"
    ),
}
_STEMS_BY_KIND = {kind: frozenset(map(stem, names)) | names for kind, names in _NAMES_BY_KIND.items()}


def quantities_of_name(parts: Sequence[str]) -> frozenset[str]:
    own = {*parts, *map(expand, parts)}
    return frozenset(kind for kind, names in _STEMS_BY_KIND.items() if own & names)
