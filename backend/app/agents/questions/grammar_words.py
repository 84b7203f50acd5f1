"""The words of the grammar of questions, by class."""

from app.agents.goals.words.vocabulary import MONTHS, WEEKDAYS, word_set

MONTH_NUMBERS = {
    **{name: number for number, name in enumerate(MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
WEEKDAY_NUMBERS = {
    **{name: number for number, name in enumerate(WEEKDAYS, 1)},
    **{f"{name}s": number for number, name in enumerate(WEEKDAYS, 1)},
    **dict(zip(("mon", "tue", "wed", "thu", "fri"), range(1, 6), strict=True)),
}
"""ISO numbers: 1 is Monday. `Sat` and `sun` are words of their own."""
ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "fifth": 5,
    "5th": 5,
    "sixth": 6,
    "6th": 6,
    "seventh": 7,
    "7th": 7,
    "eighth": 8,
    "8th": 8,
    "ninth": 9,
    "9th": 9,
    "tenth": 10,
    "10th": 10,
}
QUARTER_NUMBERS = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}
SCALES = {
    "dozen": 12.0,
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mio": 1e6,
    "billion": 1e9,
    "bn": 1e9,
}

AGGREGATE_WORDS = {
    **dict.fromkeys(("mean", "average", "avg", "averages", "means", "typical", "averaged"), "mean"),
    **dict.fromkeys(("median", "medians"), "median"),
    **dict.fromkeys(("total", "sum", "totals", "overall", "combined", "sums", "summed"), "sum"),
    **dict.fromkeys(
        ("maximum", "max", "highest", "largest", "biggest", "greatest", "peak", "top", "most"), "max"
    ),
    **dict.fromkeys(("minimum", "min", "lowest", "smallest", "least", "fewest"), "min"),
    **dict.fromkeys(("std", "stdev", "sd", "deviation", "standard deviation"), "stddev"),
    **dict.fromkeys(("variance", "var"), "variance"),
}
HIGH = word_set(
    """
    highest largest biggest greatest most maximum max top best strongest longest heaviest tallest oldest latest
    priciest fastest quickest hottest warmest wettest windiest busiest richest deepest widest farthest furthest
    newest
    peak deadliest steepest rainiest loudest brightest commonest thickest fullest costliest dearest fattest
    sweetest hardest sharpest healthiest happiest
    """
)
LOW = word_set(
    """
    lowest smallest least fewest minimum min bottom worst weakest shortest lightest youngest earliest cheapest
    slowest coldest coolest driest calmest quietest rarest scarcest poorest nearest closest narrowest shallowest
    thinnest emptiest
    """
)
SUPERLATIVES = HIGH | LOW
SIZES = ("biggest", "largest", "smallest")
"""Superlatives of sizes of any kind."""
ADJECTIVES = {
    **dict.fromkeys(("oldest", "older", "youngest", "younger", "aged"), "age"),
    **dict.fromkeys(("heaviest", "heavier", "lightest", "lighter"), "weight mass"),
    **dict.fromkeys(("tallest", "taller"), "height"),
    **dict.fromkeys(
        ("longest", "longer", "shortest", "shorter", "lasted"), "duration length time minutes hours pages"
    ),
    **dict.fromkeys(
        ("cheapest", "cheaper", "priciest", "expensive", "pricier", "costliest", "dearest"),
        "price fare cost fee rent amount",
    ),
    **dict.fromkeys(
        ("fastest", "faster", "slowest", "slower", "quickest", "quicker"), "speed pace time seconds"
    ),
    **dict.fromkeys(("hottest", "warmest", "hotter", "warmer"), "temperature tmax temp"),
    **dict.fromkeys(("coldest", "coolest", "colder", "cooler"), "temperature tmin temp"),
    **dict.fromkeys(
        ("wettest", "wetter", "driest", "drier", "rainiest", "rainier"), "precipitation rain rainfall"
    ),
    **dict.fromkeys(("windiest", "calmest", "windier", "calmer"), "wind"),
    **dict.fromkeys(("richest", "poorest", "richer", "poorer"), "income salary wage"),
    **dict.fromkeys(("earliest", "latest", "newest", "recent"), "date"),
    **dict.fromkeys(("farthest", "furthest", "farther", "further", "nearest"), "distance"),
    **dict.fromkeys(("deepest", "deeper", "shallowest"), "depth"),
    **dict.fromkeys(("widest", "wider", "narrowest"), "width"),
    **dict.fromkeys(("thickest", "thicker", "thinnest", "thinner"), "thickness diameter girth"),
    **dict.fromkeys(("fullest", "fuller", "emptiest", "emptier"), "occupancy load fill"),
    **dict.fromkeys(("sweetest", "sweeter"), "sweetness sugar"),
    **dict.fromkeys(("hardest", "harder"), "hardness difficulty"),
    **dict.fromkeys(("fattest", "fatter"), "fat weight"),
    **dict.fromkeys(("sharpest", "sharper"), "sharpness"),
    **dict.fromkeys(("healthiest", "healthier"), "health"),
    **dict.fromkeys(("happiest", "happier"), "happiness satisfaction"),
    **dict.fromkeys(("loudest", "louder", "quietest", "quieter"), "loudness noise volume"),
    **dict.fromkeys(("brightest", "brighter"), "brightness light"),
    **dict.fromkeys(("strongest", "stronger", "weakest", "weaker"), "strength force power"),
    **dict.fromkeys(("steepest", "steeper"), "slope gradient"),
    **dict.fromkeys(SIZES, "size area population"),
}
"""Adjectives with a subject: words of which the meant column has one, the likelier first."""
SMALL = word_set(
    "youngest younger lightest lighter shortest shorter cheapest cheaper coldest coolest colder cooler driest"
    " drier calmest calmer poorest poorer earliest nearest shallowest narrowest thinnest thinner emptiest"
    " emptier quietest quieter weakest weaker"
)
"""Adjectives for which less of the measure is more of the quality."""
PACE_WORDS = word_set("time seconds minutes pace duration reaction response latency delay")
"""Names of measures of which the fastest have the least."""

COMPARATIVES: dict[str, str] = {
    "at least": ">=",
    "no less than": ">=",
    "not less than": ">=",
    "no fewer than": ">=",
    ">=": ">=",
    "minimum of": ">=",
    "from at least": ">=",
    "at most": "<=",
    "no more than": "<=",
    "not more than": "<=",
    "up to": "<=",
    "<=": "<=",
    "maximum of": "<=",
    "more than": ">",
    "greater than": ">",
    "larger than": ">",
    "higher than": ">",
    "bigger than": ">",
    "above": ">",
    "over": ">",
    "exceeding": ">",
    "exceeds": ">",
    "exceed": ">",
    "beyond": ">",
    ">": ">",
    "older than": ">",
    "longer than": ">",
    "taller than": ">",
    "heavier than": ">",
    "stronger than": ">",
    "warmer than": ">",
    "hotter than": ">",
    "later than": ">",
    "expensive than": ">",
    "better than": ">",
    "faster than": ">",
    "wider than": ">",
    "deeper than": ">",
    "farther than": ">",
    "further than": ">",
    "less than": "<",
    "fewer than": "<",
    "smaller than": "<",
    "lower than": "<",
    "below": "<",
    "under": "<",
    "younger than": "<",
    "shorter than": "<",
    "lighter than": "<",
    "cheaper than": "<",
    "colder than": "<",
    "cooler than": "<",
    "worse than": "<",
    "slower than": "<",
    "earlier than": "<",
    "weaker than": "<",
    "<": "<",
    "exactly": "=",
    "equal to": "=",
    "equals": "=",
    "=": "=",
    "not equal to": "!=",
    "!=": "!=",
    "<>": "!=",
}
"""Comparison in words -> its sign."""

MONEY_SIGNS = {"$": "dollars", "\u20ac": "euros", "\u00a3": "gbp"}
"""Signs of currencies before a number, as units."""

BY_WORDS = word_set("by per each every across within versus")
FILLERS = word_set(
    "the a an all our my your their its his her this that these those ( ) please pls very any both"
)
"""Words between the elements of a phrase that change nothing."""
LINKS = word_set("is are was were be been of for in on at with to has have had having from who which that")
NEGATIONS = word_set("not never no non without except excluding outside neither nor un cannot isnt arent other")
ROW_NOUNS = word_set("row rows record records entry entries observation observations samples lines")
PERSON_NOUNS = word_set(
    """
    people persons person individuals respondents participants customers customer patients patient employees
    employee staff students student users user clients client members member passengers passenger players player
    subjects subject workers worker men women voters respondent colleagues colleague guests guest
    children child kids kid pupils pupil riders rider drivers driver
    winners winner champions champion adults adult
    """
)
ROW_WORDS = PERSON_NOUNS | word_set(
    """
    items item orders order houses house homes home cars car flights flight trips trip transactions transaction
    visits visit sales sale events event products product games game matches match animals animal tickets
    ticket invoices invoice measurements measurement readings
    shipments shipment bookings booking loans loan claims claim accounts account experiments trials runs
    """
)
"""Nouns that often name the rows of a table."""

IGNORED = (
    FILLERS
    | LINKS
    | word_set(
        """
    i we me us you it they he she there here do does did can could would should will may might am being
    what which who whom whose where when how much many and or but so then than as if while also just only
    show give list tell find get see want need know look display report return print compute calculate
    determine count name names identify select pull provide let make like about into onto over under out
    up down off s t m re ve ll d data dataset table tables file column columns value values number numbers
    figure figures amount amounts level levels result results answer each every per by within across between
    during given ever still yet now currently overall altogether together total exactly approximately around
    roughly generally usually actually really one ones some respectively among
    amongst against compared compare comparison versus vs split broken breakdown grouped group groups ordered
    sorted ranked rank ranking sort order descending ascending desc asc
    please thanks hi hello hey ok quick quickly simple simply entire whole full complete available existing
    recorded measured observed reported registered listed counted included contained exist exists existed
    happened happen happens occurred occur occurs took take takes taken made makes had has having gets
    got went go goes come comes came put using use used based according percent percentage percentages pct
    share shares proportion fraction ratio rate rates in's else rest others other kind kinds type types
    sorts such well away set sets both either own too once at's via through throughout regarding
    concerning terms detail details view looks looking seen side whatever whether
    anything something single saw experienced
    good great strong strongly closely typical typically question overview summary separately
    """
    )
)
"""Words that may stay unread: they carry no figure, condition or column of their own."""

CLASSES: dict[str, frozenset[str]] = {
    "@agg": frozenset(word for word in AGGREGATE_WORDS if word not in ("top", "most", "overall", "peak")),
    "@max": HIGH,
    "@sup": SUPERLATIVES,
    "@by": BY_WORDS,
    "@month": frozenset(MONTH_NUMBERS),
    "@weekday": frozenset(WEEKDAY_NUMBERS),
    "@quarter": frozenset(QUARTER_NUMBERS),
    "@ordinal": frozenset(ORDINALS),
    "@nth": frozenset(f"{number}{ending}" for number in range(1, 32) for ending in ("st", "nd", "rd", "th")),
    "@not": NEGATIONS,
    "@rows": ROW_NOUNS,
    "@share": word_set(
        "share shares percentage percentages percent proportion proportions fraction fractions pct %"
    ),
    "@is": word_set("is are was were be been"),
    "@have": word_set("has have had having with hold holds own owns"),
    "@adj": frozenset(ADJECTIVES),
    "@show": word_set("show list give display print see name find which what get tell return"),
    "@unit": word_set(
        """
        years year old days day hours hour minutes minute mins min seconds weeks week months month dollars
        dollar usd euro euros eur gbp pounds degrees degree celsius fahrenheit km kilometres kilometers miles m
        metres meters cm mm kg kilos kilograms grams g lb lbs ppb ppm percent % points times kcal calories kwh
        litres liters ms inches feet $ \u20ac \u00a3
        """
    ),
    "@period": word_set(
        """
        day days daily week weeks weekly month months monthly quarter quarters quarterly year years yearly
        annual annually hour hours hourly weekday weekdays date dates
        """
    ),
}
KNOWN_WORDS = IGNORED.union(*CLASSES.values())
"""All words of the grammar."""
OPERATORS = frozenset(ADJECTIVES) | word_set(
    """
    more less fewer greater lower higher above below over under beyond exceed exceeds exceeding exceeded than
    before after since until till during ago last latest next previous past recent recently following prior
    later earlier often frequent frequently common commonly rare rarely usual change changes changed changing
    growth grow grows grew increase increases increased decrease decreases decreased rise rises rose fall falls
    fell drop drops dropped improve improved worsen worsened trend trends evolve evolved minus plus difference
    differences gap versus correlation correlated correlate correlates relationship distribution spread high
    low highly cumulative running rolling moving distinct unique different missing empty null first second
    third top bottom least most twice double half
    """
)
"""Words that ask for a comparison, an order or a figure, and name nothing that a table would have to store."""
