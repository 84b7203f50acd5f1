"""Order of texts that are steps of a scale: `low` to `high`, `never` to `always`, sizes, `10-14`, `65+`."""

import re
from collections.abc import Sequence
from functools import lru_cache

from app.agents.goals.tables.profiles import Column

MIN_STEPS, MAX_STEPS = 2, 20
"""Steps from which values have an order, and up to which: more numbered texts are names rather than a scale,
and a plan sorts by so many branches at most."""
_SCALES = """
    never, hardly ever|almost never|very rarely, rarely|seldom, occasionally|now and then, sometimes
        , regularly, often|frequently, usually|mostly|very often|most of the time
        , almost always|nearly always, always
    none|no|nil|zero|absent, minimal|trace|negligible, very low|lowest|extremely low, low|lower|slight
        , below average, medium|moderate|mid|middle|average|normal|med, above average, high|higher|elevated
        , very high|extremely high, highest|extreme|severe|critical
    not at all, slightly|a little|a bit, somewhat, moderately, quite|quite a bit, very|very much|a lot
        , extremely
    strongly disagree|disagree strongly|completely disagree|totally disagree, disagree
        , somewhat disagree|rather disagree, neutral|neither|undecided|neither agree nor disagree|unsure
        , somewhat agree|rather agree, agree, strongly agree|agree strongly|completely agree|totally agree
    very dissatisfied|very unsatisfied, dissatisfied|unsatisfied, neutral|neither, satisfied, very satisfied
    very unhappy, unhappy, neutral, happy, very happy
    very unlikely, unlikely, neutral, likely, very likely
    very negative, negative, neutral, positive, very positive
    terrible|awful|very bad|very poor, bad|poor, below average, fair|average|ok|okay|acceptable|mediocre
        , above average, good, very good, excellent|great|outstanding|superb|perfect
    fail|failed, pass|passed, merit, distinction
    xxxs, xxs, xs, s, m, l, xl, xxl|2xl, xxxl|3xl, 4xl|xxxxl
    tiny|very small|extra small, small|little, medium|mid|middle|regular, large|big
        , very large|extra large|huge|giant
    small, standard, large
    none, mild|light|slight, moderate|medium, severe|serious|heavy, very severe|critical|life-threatening
    none, minor, moderate, major|serious, critical|fatal
    low, medium|normal, high, urgent, critical|blocker
    trivial, minor, major, critical, blocker
    info, warning, error, critical|fatal
    bronze, silver, gold, platinum, diamond
    free, basic|starter, standard|plus, premium|pro, enterprise|ultimate
    economy, premium economy, business, first
    none|no schooling, primary|primary school|elementary|basic
        , secondary|secondary school|high school|middle school, vocational|college|associate
        , university|bachelor|bachelors|bachelor's|graduate|tertiary, master|masters|master's|postgraduate
        , doctorate|phd|doctoral
    beginner|novice|basic, elementary, intermediate, advanced, expert|master|proficient
    trainee|intern, junior|entry, mid|intermediate|regular, senior, lead|principal, manager, director
        , executive
    infant|baby, toddler, child|kid, teen|teenager|adolescent|youth, adult, senior|elderly
    young, middle aged|middle-aged|middle, old
    very short, short, medium|average, long, very long|extra long
    very slow, slow, medium|moderate|normal, fast|quick, very fast
    freezing, very cold, cold, cool, mild, warm, hot, very hot
    very light, light, medium|moderate, heavy, very heavy
    very weak, weak, medium|moderate, strong, very strong
    very easy, easy, medium|moderate|normal, hard|difficult, very hard|very difficult
    dry, damp|moist, wet, flooded
    calm, light, breezy|moderate, windy|strong, stormy|storm
    very thin, thin, medium|normal, thick, very thick
    underweight, normal|normal weight, overweight, obese, severely obese
    worse, same|unchanged|no change, better
    worst, bad, ok|okay, good, best
    first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth
    monday|mon, tuesday|tue|tues, wednesday|wed, thursday|thu|thur|thurs, friday|fri, saturday|sat
        , sunday|sun
    january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, september|sep|sept
        , october|oct, november|nov, december|dec
    spring, summer, autumn|fall, winter
    night, early morning, morning, noon|midday, afternoon, evening
    rural, suburban, urban
"""
"""Scales from the lowest step to the highest; words of one step stand together."""
_CONTINUED = re.compile(r"\n {8},")
_NUMBERED = re.compile(
    r"(?P<below><|<=|under |below |less than |up to )?(?P<prefix>[^\W\d][^\d]{0,20}?)?\s?"
    r"(?P<number>\d+(?:[.,]\d+)?)(?P<above>\+| ?and over| ?or more| ?and older)?"
    r"(?:\s?(?:-|to|\u2013)\s?\d+(?:[.,]\d+)?)?[^\d]{0,12}"
)
"""Texts that begin with a number, perhaps behind a word that all of them share: `10-14`, `65+`, `Grade 7`."""


@lru_cache(maxsize=1)
def _read_scales() -> tuple[dict[str, int], ...]:
    """Return the place of each word in each scale."""
    lines = _CONTINUED.sub(",", _SCALES.strip()).splitlines()
    return tuple(
        {word.strip(): place for place, step in enumerate(line.split(",")) for word in step.strip().split("|")}
        for line in lines
    )


def order_steps(values: Sequence[str]) -> list[str] | None:
    """Return texts from the lowest step of their scale to the highest; None if they make no scale.

    Each must be a step of one scale, and none may have the place of another.
    """
    if not MIN_STEPS <= len(values) <= MAX_STEPS:
        return None
    spelled = {value: _spell(value) for value in values}
    for places in _read_scales():
        if all(text in places for text in spelled.values()):
            ranks = {value: places[text] for value, text in spelled.items()}
            if len({*ranks.values()}) == len(values):
                return sorted(values, key=lambda value: ranks[value])
    return _order_numbered(values)


def ordered_values(column: Column) -> list[str] | None:
    """Return the values of a text column in the order of their scale; None where it has none, or not all are
    known."""
    texts = [value for value in column.values if isinstance(value, str)]
    is_known = column.type == "text" and len(texts) == len(column.values) == column.distinct
    return order_steps(texts) if is_known else None


def _spell(value: str) -> str:
    """Return a value as scales spell it: `Very_Good` is `very good`, and `1 - low` is `low`."""
    text = re.sub(r"[_\s]+", " ", value.strip().casefold())
    return re.sub(r"^\d{1,2}\s?[-.:)]\s?", "", text)


def _order_numbered(values: Sequence[str]) -> list[str] | None:
    matches = {value: _NUMBERED.fullmatch(value.strip().casefold()) for value in values}
    ranks = {}
    for value, match in matches.items():
        if match is None:
            return None
        number = float(match["number"].replace(",", "."))
        ranks[value] = (number, 1 if match["above"] else -1 if match["below"] else 0)
    prefixes = {(match["prefix"] or "").strip() for match in matches.values() if match and not match["below"]}
    if len(prefixes) > 1 or len({*ranks.values()}) < len(values):
        return None
    return sorted(values, key=lambda value: ranks[value])
