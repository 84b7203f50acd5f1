"""The words of a message that ask for a chart, apart from those that say what it shows."""

import re
from dataclasses import dataclass, replace

from app.charts.chart_request import ChartKind
from app.number_words import ABOVE_ONE, read_number_words

_NOUN = r"(?:charts?|graphs?|plots?|diagrams?)"
_KINDS: tuple[tuple[ChartKind, str], ...] = (
    ("histogram", rf"histograms?|distribution {_NOUN}"),
    ("heatmap", rf"(?:correlation )?heat[ -]?maps?(?: {_NOUN})?|correlation matrix as a heat[ -]?map"),
    ("box", rf"box(?:es)?[ -]?(?:and[ -]whiskers?[ -]?)?{_NOUN}|boxplots?|box and whiskers?"),
    ("scatter", rf"scatter(?:ed)?[ -]?{_NOUN}|scatter|scatterplots?|bubble {_NOUN}"),
    ("area", rf"area[ -]?{_NOUN}"),
    ("line", rf"line[ -]?{_NOUN}|time[ -]?series(?: {_NOUN})?|timeline"),
    ("bar", rf"(?:stacked |grouped |horizontal |vertical )?(?:bar|column)[ -]?{_NOUN}|barcharts?|barplots?"),
    # A pie is drawn as bars, and a note says why.
    ("bar", rf"(?:pie|donut|doughnut)(?:[ -]?{_NOUN})?|treemaps?"),
)
_BARE_KINDS: tuple[tuple[ChartKind, str], ...] = (
    ("bar", r"bars|columns"),
    ("line", r"(?:a )?lines?"),
    ("area", r"areas?"),
)
"""Words that name a kind only after "as": `as bars`."""
_PIE = re.compile(r"\b(?:pie|donut|doughnut)\b", re.IGNORECASE)
# A phrase goes with the words that tie it to the rest: of `sales as a bar chart for 2024`, `as a bar chart
# for` is cut out, and `sales 2024` says what is shown.
_LINK = r"(?:,? ?\b(?:but )?(?:as|in|into|using|with|on|by|to|like) )?(?:\b(?:an?|the|one|another|my) )?"
_BEHIND = r"(?: ?(?:\b(?:of|for|showing|that shows|which shows|to show|displaying|from|please)\b|:))?"
_PATTERNS = tuple(
    (kind, re.compile(rf"{_LINK}\b(?:{words})\b{_BEHIND}", re.IGNORECASE)) for kind, words in _KINDS
)
_BARE_PATTERNS = tuple(
    (kind, re.compile(rf",? ?\bas (?:{words})\b{_BEHIND}", re.IGNORECASE)) for kind, words in _BARE_KINDS
)
_ANY_CHART = re.compile(
    r"(?:,? ?\b(?:as|in|into) an? |^\W{0,5}(?:\w{1,20} ){0,4}?(?:an?|the|some) )"
    rf"(?:{_NOUN}|figure|picture|visuali[sz]ation)\b{_BEHIND}",
    re.IGNORECASE,
)
"""A chart of any kind: `as a chart` anywhere, or `a figure of ...` near the beginning."""
_DRAW = re.compile(
    r"^\W{0,5}(?:(?:please|can you|could you|now|then|and|also|let's|let us) )*"
    r"(?:plot|graph|chart|draw|visuali[sz]e)\b",
    re.IGNORECASE,
)
"""A message that begins with a verb of drawing: `plot the sales`."""
_HEAD = re.compile(
    r"^[ ,;:.]{0,5}(?:please|can you|could you|would you|now|then|and|also|ok|okay|again|i want|i would like"
    r"|i'd like|i need|let me see|let's see|show|draw|plot|graph|chart|visuali[sz]e|make|create|give|display"
    r"|build|generate|produce|render|turn|change|switch|convert|put|redraw|do|see|want|me|us)\b",
    re.IGNORECASE,
)
"""A word at the beginning that says only that something is to be shown; it is cut off again and again."""
_UNITS = "day|week|month|quarter|year|hour"
_MOVING = re.compile(
    rf",? ?(?:\b(?:with|plus|and|including) )?(?:\b(?:an?|its|the) )?\b"
    rf"(\d{{1,3}}|{'|'.join(ABOVE_ONE)})[- ]?({_UNITS}|row|period|point)?s?"
    r"[- ]{1,3}(?:moving|rolling|running)[- ](?:average|mean)\b(?: of\b)?",
    re.IGNORECASE,
)
"""A moving average beside a line: its width, and the unit of the width if it has one."""
_COLOR = re.compile(r",? ?\bcolou?red (?:by|per|for) (?P<column>[\w` ]{1,100})$", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^\W{0,5}(?:(?:it|that|this|those|these|them"
    r"|the (?:result|results|same|table|answer|numbers|data|rows|above)"
    r"|the last (?:one|result|table|answer)|same|one|again|too|instead|now|please)\W{0,5})*$",
    re.IGNORECASE,
)
"""Words for the last result, which are all that is left of a message without a subject."""
MAX_CHARS = 1_000
"""Characters of a message that asks for a chart; longer ones are texts about something."""
_ASKS_ABOUT_CHARTS = re.compile(
    r"^\W{0,5}(?:what|why|how|who|when)\b(?:\W{1,5}\w{1,30}){0,3}\W{0,5}$", re.IGNORECASE
)
"""What is left of a question about charts: `what is a histogram?`."""


@dataclass(frozen=True)
class ChartPhrase:
    """A wish for a chart. `kind`: None where any will do. `subject`: what it shows, empty for the last result.

    `moving_average`: width of a mean, with the unit of its width where it has one. `color`: words of a column.
    """

    kind: ChartKind | None
    subject: str
    moving_average: int | None = None
    unit: str = ""
    color: str = ""
    is_pie: bool = False

    @property
    def shows_last_result(self) -> bool:
        return not self.subject


def parse_chart_phrase(message: str) -> ChartPhrase | None:
    """Parse the words that ask for a chart; None where a message asks for none."""
    text = " ".join(message.split())
    phrase = _find_kind(text) if len(text) <= MAX_CHARS else None
    if phrase is None:
        return None
    subject, width, unit = phrase.subject, None, ""
    moving = _MOVING.search(subject)
    # Only a line or an area has an order along which a mean moves.
    if moving is not None and phrase.kind in (None, "line", "area"):
        width = read_number_words(moving[1])
        unit = (moving[2] or "").casefold()
        subject = f"{subject[: moving.start()]} {subject[moving.end() :]}"
    color = _COLOR.search(subject)
    subject = _trim(subject[: color.start()] if color else subject)
    if _ASKS_ABOUT_CHARTS.match(subject):
        return None
    return replace(
        phrase,
        kind="line" if width else phrase.kind,
        subject="" if _PRONOUN.match(subject) else subject,
        moving_average=width if width and width > 1 else None,
        unit=unit if unit in _UNITS.split("|") else "",
        color=color["column"].strip() if color else "",
    )


def _find_kind(message: str) -> ChartPhrase | None:
    """Find the phrase that names a chart, the clearest kind first; its subject is the rest of the message."""
    for kind, pattern in _PATTERNS:
        if match := pattern.search(message):
            rest = f"{message[: match.start()]} {message[match.end() :]}"
            # The kind of the chart was cut out with the word that says what it shows.
            if "correlation" in match[0].casefold():
                rest = f"{rest} correlation"
            return ChartPhrase(kind, rest, is_pie=bool(_PIE.search(match[0])))
    for kind, pattern in _BARE_PATTERNS:
        if match := pattern.search(message):
            return ChartPhrase(kind, f"{message[: match.start()]} {message[match.end() :]}")
    if match := _ANY_CHART.search(message):
        return ChartPhrase(
            None, message[match.end() :] if not message[: match.start()].strip() else message[: match.start()]
        )
    if _DRAW.match(message):
        return ChartPhrase(None, message)
    return None


def _trim(subject: str) -> str:
    """Take the verbs off that only say that something is to be shown."""
    before = None
    while before != subject:
        before, subject = subject, _HEAD.sub("", subject, count=1)
    return " ".join(subject.split()).strip(" ,;:.!?")
