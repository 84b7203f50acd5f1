"""Messages that ask the question before once more with another part: `versus 2023`, `color it by region`."""

import re
from collections.abc import Sequence

from app.agents.assistant.brief import EarlierTurn
from app.agents.questions.charts.chart_phrases import parse_chart_phrase

MAX_CHARS = 120
"""Characters of such a message: longer ones say all that they ask for."""
_YEAR = r"(?:19|20)\d\d"
_INTRODUCTION = re.compile(
    r"^\W{0,5}(?:(?:and|now|then|ok|okay|please|can you|could you)[\s,]{1,3}){0,3}", re.IGNORECASE
)
_COMPARED = re.compile(
    rf"(?:compare (?:it |that |this )?(?:with |to |against )?|compared (?:with|to) |versus |vs\.? |against )"
    rf"(?P<first>{_YEAR})(?: (?:with|to|and|versus|vs\.?|against) (?P<second>{_YEAR}))?",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    rf",? ?\b(?:(?:only |just )?(?:in|for|of|during|from) )?(?P<year>{_YEAR})\b", re.IGNORECASE
)
_COLORED = re.compile(
    r"(?:colou?r|shade|paint) (?:it|them|that|this|the (?:points?|dots?|bars?|lines?|chart|marks?)) "
    r"(?:by|per|for(?: each)?|according to) (?P<column>[\w` ]{1,60})"
    r"|(?:with )?(?:one|an?|separate|different|two|three) (?:line|bar|colou?r|curve|series)s?,? (?:one )?"
    r"(?:per|by|for (?:each|every)) (?P<group>[\w` ]{1,60})",
    re.IGNORECASE,
)
_LOOK = re.compile(
    r"(?:(?:make|set|give|turn|put|draw|use|add|change|with)\b.{0,40}?)?\b(?:\d{1,3} bins?|bins? of \d{1,6}"
    r"|log(?:arithmic)? (?:scale|axis)|horizontal(?:ly)?|vertical(?:ly)?|titled?\b.{1,60}|legend"
    r"|grid(?: ?lines)?"
    r"|bigger|smaller|larger|font\b.{0,30}|axis labels?"
    r"|(?:red|blue|green|orange|black|grey|gray|purple|yellow)(?: (?:bars?|lines?|points?))?)\b.{0,20}",
    re.IGNORECASE,
)
"""Wishes for the look of a chart: `with 10 bins`, `make the bars red`."""
_ONE_STYLE = (
    "Charts have one style, with its own scales, bins and colors. What words can change is the kind (`as "
    "a line chart`), the rows, the groups (`color it by ...`), the order and a moving average. The chart can "
    "be downloaded as Vega-Lite, in which everything can be set, and `PYTHON:` draws with matplotlib."
)


def rewrite_message(message: str, earlier: Sequence[EarlierTurn]) -> str | None:
    """Write the question of the last answer with the part that a message adds; None for other messages."""
    words = _strip(message)
    last = _find_last(earlier)
    if last is None or len(words) > MAX_CHARS:
        return None
    if match := _COMPARED.fullmatch(words):
        return _compare_years(last.message, match["first"], match["second"])
    match = _COLORED.fullmatch(words) if last.chart else None
    phrase = parse_chart_phrase(last.message) if match else None
    if match is None or phrase is None or phrase.shows_last_result:
        return None
    return f"{last.message.rstrip(' .?!')} colored by {match['column'] or match['group']}"


def _compare_years(question: str, first: str, second: str | None) -> str | None:
    """Put two years into a question, of which it may name one already."""
    period = _PERIOD.search(question)
    if second is None:
        if period is None or period["year"] == first:
            return None
        first, second = period["year"], first
    plain = _PERIOD.sub("", question).strip(" .?!")
    return f"{plain} in {min(first, second)} vs {max(first, second)}"


def describe_look(message: str, earlier: Sequence[EarlierTurn]) -> str | None:
    """Say what can be done about the look of a chart, which has a style of its own; None for other messages."""
    last = _find_last(earlier)
    if last is None or last.chart is None or not _LOOK.fullmatch(_strip(message)):
        return None
    return _ONE_STYLE


def _strip(message: str) -> str:
    return _INTRODUCTION.sub("", " ".join(message.split())).strip(" ,;:.?!")


def _find_last(earlier: Sequence[EarlierTurn]) -> EarlierTurn | None:
    """Find the newest result, if it has a plan."""
    last = next((turn for turn in reversed(earlier) if turn.has_result), None)
    return last if last is not None and last.plan else None
