"""What every section is given, and the few phrases that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.modeling.problem.metrics import Metric
from app.reporting.claims import Claim, Ledger
from app.reporting.document import Gallery, Name, Text
from app.reporting.evidence import Fact, RecordedCall
from app.reporting.facts import Found
from app.reporting.gallery import FigureRef, picture
from app.reporting.metrics import describe_metric

NOTHING: Text = ("\N{EN DASH}",)
"""What a cell of a table shows where nothing was recorded."""


@dataclass(frozen=True)
class Draft:
    """`remarks`: words of the reporter, without numerals."""

    calls: Sequence[RecordedCall]
    found: Found
    figures: Sequence[FigureRef] = ()
    remarks: Sequence[str] = ()
    ledger: Ledger = field(default_factory=Ledger)

    @property
    def metric(self) -> Metric:
        return describe_metric(self.found.metric)

    @property
    def metric_name(self) -> Name:
        return Name(self.metric.label, code=False)

    def read(self, fact: Fact, style: str = "text") -> Claim:
        return self.ledger.read(fact, style)

    def score(self, fact: Fact | None, style: str | None = None) -> Text:
        """A number in the style of the deciding metric, a dash where there is none."""
        return (self.read(fact, style or self.metric.style),) if fact else NOTHING

    def shown(self, fact: Fact | None, style: str = "text") -> Text:
        return (self.read(fact, style),) if fact else NOTHING

    def interval(self, fact: Fact, style: str) -> Text:
        """`low to high` of an interval fact, nothing where it has no bounds."""
        low, high = fact.at("low"), fact.at("high")
        if low is None or high is None:
            return ()
        return (self.read(low, style), " to ", self.read(high, style))

    def pictures(self, *names: str) -> list[Gallery]:
        """The figures of these names that exist, in this order: one gallery, or none."""
        made = {figure.name: figure for figure in self.figures}
        found = [picture(made[name]) for name in names if name in made]
        return [Gallery(found)] if found else []


def listed(texts: Sequence[Text]) -> Text:
    """Pieces joined as `a, b and c`."""
    joined: list[str | Claim | Name] = []
    for place, text in enumerate(texts):
        if place:
            joined.append(" and " if place == len(texts) - 1 else ", ")
        joined.extend(text)
    return tuple(joined)
