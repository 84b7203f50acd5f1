"""The input of every section, and the phrases that sections share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.modeling.facts.column_units import find_unit
from app.modeling.problem.metrics import Metric
from app.recorded_call import RecordedCall
from app.reporting.claims import Claim, ClaimCollector
from app.reporting.document.elements import Gallery, Picture
from app.reporting.document.inline_elements import Name, Text
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.gallery import FigureRef, make_picture
from app.reporting.metrics import describe_metric
from app.reporting.session_facts import ReportFacts

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

    def unit(self, column: str) -> Text:
        """Return the words after an amount of this column, such as ` dollars`; empty without a unit."""
        unit = self._find_unit(column)
        if unit is None:
            return ()
        text = unit.text("text")
        return (f" {text}",) if unit.value.get("is_known") else (" ", Name(text, code=False))

    def is_money(self, column: str) -> bool:
        unit = self._find_unit(column)
        return unit is not None and unit.text("kind") == "currency"

    def _find_unit(self, column: str) -> RecordedFact | None:
        units = [unit for data in items_at(self.facts.session, "datasets") if (unit := data.at("units"))]
        # The column `mean price` of an answer has the unit of `price`.
        members = [
            member
            for names in units
            for name, member in names.children()
            if column == name or column.endswith(f" {name}")
        ]
        # Of several names at the end of the column's, the longest is the most specific.
        return max(members, key=lambda member: len(member.pointer), default=None)

    @property
    def target(self) -> RecordedFact | None:
        return self.facts.problem.at("target") if self.facts.problem else None

    @property
    def target_unit(self) -> Text:
        """Return the unit of predictions; empty where they are no values of the target itself."""
        problem = self.facts.problem
        is_value = problem is not None and problem.text("outlook") in ("", "value")
        if problem is None or not is_value:
            return ()
        # No file has the column of a computed target, such as days between two dates: its name has the unit.
        computed = find_unit(problem.text("target"))
        return self.unit(problem.text("target")) or ((f" {computed.text}",) if computed else ())

    def amount(self, fact: RecordedFact, style: str = "amount") -> Text:
        """Return an amount in the unit of the target."""
        return (self.read(fact, style), *self.target_unit)

    def pictures(self, *names: str) -> list[Picture]:
        """Return the existing figures among these names."""
        figures = {figure.name: figure for figure in self.figures}
        return [make_picture(figures[name]) for name in names if name in figures]

    def galleries(self, *names: str) -> list[Gallery]:
        """Return a gallery of the existing figures among these names, or an empty list."""
        pictures = self.pictures(*names)
        return [Gallery(pictures)] if pictures else []


def join_texts(texts: Sequence[Text]) -> Text:
    """Join texts as `a, b and c`."""
    joined: list[str | Claim | Name] = []
    for place, text in enumerate(texts):
        if place:
            joined.append(" and " if place == len(texts) - 1 else ", ")
        joined.extend(text)
    return tuple(joined)
