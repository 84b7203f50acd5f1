"""The input of every section, and the phrases that sections share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.modeling.problem.metrics import Metric
from app.recorded_call import RecordedCall
from app.reporting.claims import Claim, ClaimCollector
from app.reporting.document import Gallery, Name, Text
from app.reporting.evidence import RecordedFact
from app.reporting.facts import ReportFacts
from app.reporting.gallery import FigureRef, make_picture
from app.reporting.metrics import describe_metric

EMPTY_CELL: Text = ("\N{EN DASH}",)
"""Content of a table cell without a recorded value."""


@dataclass(frozen=True)
class ReportDraft:
    """Calls, facts and figures of a report, and its claims so far. `remarks` hold no numerals."""

    calls: Sequence[RecordedCall]
    facts: ReportFacts
    figures: Sequence[FigureRef] = ()
    remarks: Sequence[str] = ()
    claims: ClaimCollector = field(default_factory=ClaimCollector)

    @property
    def metric(self) -> Metric:
        return describe_metric(self.facts.metric)

    @property
    def metric_name(self) -> Name:
        return Name(self.metric.label, code=False)

    def read(self, fact: RecordedFact, style: str = "text") -> Claim:
        return self.claims.read(fact, style)

    def score(self, fact: RecordedFact | None, style: str | None = None) -> Text:
        """Return a claim in the style of the deciding metric, or a dash."""
        return (self.read(fact, style or self.metric.style),) if fact else EMPTY_CELL

    def render(self, fact: RecordedFact | None, style: str = "text") -> Text:
        return (self.read(fact, style),) if fact else EMPTY_CELL

    def interval(self, fact: RecordedFact, style: str) -> Text:
        """Return `low to high` of an interval fact, or an empty text if it has no bounds."""
        low, high = fact.at("low"), fact.at("high")
        if low is None or high is None:
            return ()
        return (self.read(low, style), " to ", self.read(high, style))

    def galleries(self, *names: str) -> list[Gallery]:
        """Return a gallery of the existing figures among these names, or an empty list."""
        figures = {figure.name: figure for figure in self.figures}
        pictures = [make_picture(figures[name]) for name in names if name in figures]
        return [Gallery(pictures)] if pictures else []


def join_texts(texts: Sequence[Text]) -> Text:
    """Join texts as `a, b and c`."""
    joined: list[str | Claim | Name] = []
    for place, text in enumerate(texts):
        if place:
            joined.append(" and " if place == len(texts) - 1 else ", ")
        joined.extend(text)
    return tuple(joined)
