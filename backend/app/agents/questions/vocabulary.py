"""The vocabulary of questions about data."""

import re

from app.agents.goals.vocabulary import FUNCTION_WORDS, word_set
from app.agents.questions.query import Comparison, Function

AGGREGATES: dict[str, Function] = {
    "mean": "mean",
    "average": "mean",
    "avg": "mean",
    "median": "median",
    "total": "total",
    "sum": "total",
    "combined": "total",
    "maximum": "highest",
    "max": "highest",
    "highest": "highest",
    "largest": "highest",
    "biggest": "highest",
    "greatest": "highest",
    "minimum": "lowest",
    "min": "lowest",
    "lowest": "lowest",
    "smallest": "lowest",
    "standard deviation": "spread",
    "std": "spread",
    "spread": "spread",
}
AGGREGATE = "|".join(sorted(AGGREGATES, key=len, reverse=True))

HIGH = ("highest", "largest", "biggest", "greatest", "most", "maximum", "max", "top", "best")
LOW = ("lowest", "smallest", "least", "fewest", "minimum", "min", "bottom", "worst")
SUPERLATIVE = "|".join((*HIGH, *LOW))

ADJECTIVES: dict[str, tuple[Function, str]] = {
    "oldest": ("highest", "age"),
    "youngest": ("lowest", "age"),
    "heaviest": ("highest", "weight mass"),
    "lightest": ("lowest", "weight mass"),
    "tallest": ("highest", "height"),
    "longest": ("highest", "length duration"),
    "shortest": ("lowest", "length duration height"),
    "most expensive": ("highest", "price fare cost"),
    "priciest": ("highest", "price fare cost"),
    "cheapest": ("lowest", "price fare cost"),
    "fastest": ("highest", "speed"),
    "slowest": ("lowest", "speed"),
    "hottest": ("highest", "temperature tmax temp"),
    "warmest": ("highest", "temperature tmax temp"),
    "coldest": ("lowest", "temperature tmin temp"),
    "earliest": ("lowest", "date"),
    "first": ("lowest", "date"),
    "latest": ("highest", "date"),
    "last": ("highest", "date"),
    "newest": ("highest", "date"),
    "most recent": ("highest", "date"),
}
"""Superlatives with a subject, and the words of which its column's name must have one; `date`: any date."""

COMPARATIVES: dict[str, tuple[Comparison, str]] = {
    "older than": ("above", "age"),
    "younger than": ("below", "age"),
    "aged": ("is", "age"),
    "heavier than": ("above", "weight mass"),
    "lighter than": ("below", "weight mass"),
    "taller than": ("above", "height"),
    "longer than": ("above", "length duration"),
    "shorter than": ("below", "length duration height"),
    "cheaper than": ("below", "price fare cost"),
    "more expensive than": ("above", "price fare cost"),
    "faster than": ("above", "speed"),
    "slower than": ("below", "speed"),
    "warmer than": ("above", "temperature tmax temp"),
    "colder than": ("below", "temperature tmin temp"),
}

COMPARISONS: tuple[tuple[str, Comparison], ...] = (
    (r"at least|no less than|not less than|>=|or more|or older", "at least"),
    (r"at most|no more than|not more than|<=|up to", "at most"),
    (r"above|over|more than|greater than|larger than|higher than|bigger than|exceeding|exceeds|>", "above"),
    (r"below|under|less than|fewer than|smaller than|lower than|<", "below"),
    (r"is not|are not|was not|were not|not|other than|!=|<>", "is not"),
    (r"is|are|was|were|equals|equal to|exactly|=|of", "is"),
)

ALIASES: dict[str, str] = {
    **dict.fromkeys(("women", "woman", "females", "ladies", "girls"), "female"),
    **dict.fromkeys(("men", "man", "males", "gentlemen", "boys"), "male"),
    "first": "1st",
    "second": "2nd",
    "third": "3rd",
}
"""Synonyms of values."""

INITIALS = {"female": "f", "male": "m"}

OPPOSITES: dict[str, str] = {
    **dict.fromkeys(("died", "dead", "deaths", "death", "perished", "drowned", "die"), "surviv"),
    **dict.fromkeys(("stayed", "retained"), "churn"),
}
"""Words that negate a yes/no column whose name has this stem."""

GENERIC_ROWS = frozenset(
    ("rows", "row", "records", "record", "entries", "entry", "observations", "samples", "cases")
)
ROW_WORDS = frozenset(
    (
        "items",
        "people",
        "persons",
        "passengers",
        "patients",
        "customers",
        "users",
        "clients",
        "employees",
        "students",
        "orders",
        "houses",
        "homes",
        "cars",
        "flights",
        "trips",
        "transactions",
        "visits",
        "players",
    )
)
"""Nouns that often name the rows of a table."""

STOP = FUNCTION_WORDS | word_set(
    """
    at was were been being does did has have had having there their his her who whom whose how much many show
    tell list compute calculate determine see would like want know among amongst each every per between when
    where within over only also together than out about paid compare compared place placed made single took
    board aboard
    """
)
"""Stop words, which may remain unparsed."""

NOT_OF_DATA = re.compile(
    r"\b(?:will|would|should|shall|tomorrow|likel\w+|probab\w+|chances?|risk|odds|expect\w*|importan\w+|factors?"
    r"|drivers?|influenc\w+|affect\w*|caus\w+|why|train\w*|models?|classifier|regress\w*|machine|learn\w*|explain\w*"
    r"|build|anomal\w*|outliers?|clusters?|segments?|interesting)\b",
    re.IGNORECASE,
)
"""Words of goals that go beyond the existing rows."""

SIGNS = re.compile(
    rf"\b(?:{AGGREGATE}|how many|number of|count(?:s|ed)?|share|percent(?:age)?|proportion|fraction|rate"
    r"|correlat\w+|(?:most|least) (?:common|frequent\w*|popular|often)|commonest|rarest|different|distinct"
    r"|unique|missing|nulls?|percentile|quantile|top|bottom|fewest|most|least|range|time span|period"
    r"|ratio|odds|distribution|histogram|cumulative|running (?:total|sum)|pareto|crosstab|ranking|percentages"
    r"|when (?:was|were|did)|(?:what|how|who|which)(?: \w+){0,3} (?:was|were|did)|nobody|none of"
    r"|(?:which|what)(?: \w+){1,3} are there|list (?:all |the )*\w+$"
    rf"|{'|'.join(ADJECTIVES)})\b",
    re.IGNORECASE,
)
"""Words of which a question that an aggregate answers has at least one."""
