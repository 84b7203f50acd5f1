"""Durations and times of day in text, as hours: `14:30`, `1:05:09`, `7:30 pm`, `1h 30m`, `9h15`, `2'58"`."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice

MIN_DURATION_SHARE = 0.95
"""Share of the values that must be durations."""
FEW_WORDS_SHARE = 0.8
MAX_WORDS = 3
"""With at most MAX_WORDS distinct other words, such as `DNF`, this smaller share of durations is enough."""
MIN_DISTINCT_VALUES = 3
"""Distinct values: fewer may be codes."""
MAX_PROBED_VALUES = 60
"""Distinct values that are parsed first, to rule out most columns early."""
MIN_DOTTED_SHARE = 0.3
"""Share of other spellings from which `8.30` is a time of day as well: alone it is a number."""
MIN_DAY_SPREAD_H = 4.0
"""Hours between the earliest and the latest of the times of a day; breaks and delays lie closer together."""

_CLOCK = re.compile(
    r"(?:(?P<days>\d{1,4}) ?d(?:ays?)?,? )?(?P<hours>\d{1,4})(?P<mark>[:h]) ?(?P<minutes>[0-5]\d)"
    r"(?:[:m'] ?(?P<seconds>[0-5]\d))?(?P<fraction>(?:[.,]\d{1,9})?)s?"
    r"(?: ?(?P<half>[ap])\.?m?\.?| (?:uhr|hrs?|h))?",
    re.IGNORECASE,
)
_DOTTED = re.compile(r"(?P<hours>\d{1,2})\.(?P<minutes>[0-5]\d)(?: ?(?P<half>[ap])\.?m\.?| ?uhr)", re.I)
_BARE_DOTTED = re.compile(r"(?P<hours>\d{1,2})\.(?P<minutes>[0-5]\d)")
_HALF_DAY = re.compile(r"(?P<hours>1?\d) ?(?P<half>[ap])\.?m\.?", re.IGNORECASE)
_STROKES = re.compile(
    r"(?P<minutes>\d{1,3}) ?' ?(?P<seconds>[0-5]?\d(?:\.\d{1,3})?) ?(?:\"|'')?(?: ?/ ?\w{1,5})?"
)
_DECIMAL = r"\d{1,6}(?:[.,]\d{1,6})?"
_SPELLED = re.compile(
    r"(?P<iso>p)?"
    r"(?:(?P<weeks>\d{1,4}) ?(?:w|wks?|weeks?|wochen?|semaines?|semanas?|settiman[ae]))?[ ,t]{0,3}"
    rf"(?:(?P<days>{_DECIMAL}) ?(?:d|days?|tage?|jours?|d[ií]as?|giorn[oi]))?[ ,t]{{0,3}}"
    rf"(?:(?P<hours>{_DECIMAL}) ?(?:h|hrs?|hours?|std\.?|stunden?|heures?|horas?|or[ae]))?[ ,]{{0,3}}(?:and )?"
    rf"(?:(?P<minutes>{_DECIMAL}) ?(?:m|mins?\.?|minut(?:es?|en?|os?|i)))?[ ,]{{0,3}}(?:and )?"
    rf"(?:(?P<seconds>{_DECIMAL}) ?(?:s|secs?|second(?:e?s?|[oi])|sek\.?|sekunden?|segundos?))?",
    re.IGNORECASE,
)
_HOURS_OF_WORDS = {
    **dict.fromkeys(("noon", "12 noon", "midday", "mittag", "mediod\u00eda", "midi"), 12.0),
    **dict.fromkeys(("midnight", "12 midnight", "mitternacht", "minuit", "medianoche"), 0.0),
}
_HOURS = {"weeks": 168.0, "days": 24.0, "hours": 1.0, "minutes": 1 / 60, "seconds": 1 / 3600}
_TIME_OF_DAY_NAME = re.compile(
    r"open|clos|start|begin|end$|arriv|depart|time of|hour|uhr|heure|hora|ora$|zeit|sunrise|sunset|check",
    re.IGNORECASE,
)
_SHORT_NAME = re.compile(
    r"pace|lap|split|duration|length|song|track|runtime|run time|dauer|dur\u00e9e", re.IGNORECASE
)
"""Names of durations of minutes and seconds where two parts may be hours and minutes as well."""


@dataclass(frozen=True)
class ClockFormat:
    """Reading of times. `is_minutes`: of two parts, the first are minutes. `is_dotted`: `8.30` is a time."""

    is_minutes: bool = False
    is_dotted: bool = False


@dataclass(frozen=True)
class DurationGuess:
    """`share` of the values are durations. `words`: the values that are none."""

    share: float
    example: str
    clock_format: ClockFormat = ClockFormat()
    is_time_of_day: bool = False
    words: tuple[str, ...] = ()


def parse_hours(text: str, clock_format: ClockFormat = ClockFormat()) -> float | None:
    """Parse a duration or a time of day; None for another text. The first number of `12:34` is hours, unless
    the format says minutes."""
    if (hours := _HOURS_OF_WORDS.get(text.casefold())) is not None:
        return hours
    if match := _CLOCK.fullmatch(text):
        return _parse_clock(match, clock_format)
    if clock_format.is_dotted and (match := _BARE_DOTTED.fullmatch(text)):
        return _sum_hours(match)
    if match := _DOTTED.fullmatch(text) or _HALF_DAY.fullmatch(text):
        return _on_half_day(match)
    match = _STROKES.fullmatch(text) or _SPELLED.fullmatch(text)
    has_unit = match is not None and any(match.groupdict().get(unit) for unit in _HOURS)
    return _sum_hours(match) if match is not None and has_unit else None


def _parse_clock(match: re.Match[str], clock_format: ClockFormat) -> float | None:
    fraction = float("0." + match["fraction"][1:]) / 3600 if match["fraction"] else 0.0
    # Fractions of a minute are not written: `1:23.4` are minutes and seconds.
    if match["seconds"] is None and match["mark"] == ":" and (clock_format.is_minutes or fraction):
        return float(match["hours"]) / 60 + float(match["minutes"]) / 3600 + fraction
    hours = _on_half_day(match)
    return None if hours is None else hours + fraction


def _on_half_day(match: re.Match[str]) -> float | None:
    """Hours since midnight of a time with am or pm; other times as they are."""
    hours = _sum_hours(match)
    if match["half"] is None:
        return hours
    if float(match["hours"]) > 12:
        return None
    # 12 am is midnight, and 12 pm noon.
    return hours % 12 + 12 * (match["half"].lower() == "p")


def _sum_hours(match: re.Match[str]) -> float:
    parts = match.groupdict()
    return sum(
        float(str(parts[unit]).replace(",", ".")) * factor for unit, factor in _HOURS.items() if parts.get(unit)
    )


def guess_durations(name: str, values: Mapping[str, int]) -> DurationGuess | None:
    """Infer durations from the counts of distinct values (trimmed text -> count).

    Durations in a single unit, such as `90 min`, are numbers and not durations here.
    """
    first = list(islice(values, MAX_PROBED_VALUES))
    likely = sum(parse_hours(text) is not None or _BARE_DOTTED.fullmatch(text) is not None for text in first)
    if len(values) < MIN_DISTINCT_VALUES or likely < min(
        MIN_DURATION_SHARE * len(first), len(first) - MAX_WORDS
    ):
        return None
    clock_format = _clock_format(name, values)
    durations = {text: hours for text in values if (hours := parse_hours(text, clock_format)) is not None}
    words = tuple(text for text in values if text not in durations)
    share = sum(values[text] for text in durations) / sum(values.values())
    are_words = len(words) <= MAX_WORDS and not any(re.search(r"\d", word) for word in words)
    if not durations or (share < MIN_DURATION_SHARE and not (share >= FEW_WORDS_SHARE and are_words)):
        return None
    is_time_of_day = _are_times_of_day(name, durations)
    return DurationGuess(share, next(iter(durations)), clock_format, is_time_of_day, words)


def _clock_format(name: str, texts: Collection[str]) -> ClockFormat:
    clocks = [match for text in texts if (match := _CLOCK.fullmatch(text))]
    pairs = [int(match["hours"]) for match in clocks if match["seconds"] is None and match["mark"] == ":"]
    triples = [int(match["hours"]) for match in clocks if match["seconds"] is not None]
    halves = any(match["half"] for match in clocks)
    # Below an hour the hours are left out: 59:48 before 1:00:12.
    continues = bool(pairs and triples) and sorted(pairs)[len(pairs) // 2] > max(triples)
    # No day has 25 hours, while songs and laps have more than 24 minutes.
    exceeds_a_day = bool(pairs) and not triples and max(pairs) > 24
    is_short = bool(pairs) and not triples and _SHORT_NAME.search(name) is not None
    is_minutes = not halves and (continues or exceeds_a_day or is_short)
    others = sum(parse_hours(text) is not None for text in texts)
    has_dots = any(_BARE_DOTTED.fullmatch(text) for text in texts)
    return ClockFormat(is_minutes, has_dots and others >= MIN_DOTTED_SHARE * len(texts))


def _are_times_of_day(name: str, durations: Mapping[str, float]) -> bool:
    """Test for times of a day: noon, am and pm, or clocks under a name of a time or spread over a day."""
    texts = [text.casefold() for text in durations]
    if any(text in _HOURS_OF_WORDS or re.search(r"\d ?[ap]\.?m\.?$|uhr$", text) for text in texts):
        return True
    clocks = [match for text in texts if (match := _CLOCK.fullmatch(text) or _BARE_DOTTED.fullmatch(text))]
    hours = sorted(durations.values())
    if len(clocks) < len(texts) or hours[-1] > 24:
        return False
    is_spread = hours[-1] >= 12 and hours[-1] - hours[0] >= MIN_DAY_SPREAD_H
    is_padded = all(len(match["hours"]) == 2 for match in clocks)
    return _TIME_OF_DAY_NAME.search(name) is not None or (is_spread and is_padded)
