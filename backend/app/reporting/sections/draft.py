"""What every section is given, and the few phrases that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.reporting.claims import Claim, Ledger
from app.reporting.document import Gallery, Name, Picture, Text
from app.reporting.evidence import Fact, RecordedCall
from app.reporting.found import Found
from app.reporting.metrics import Metric, metric_of

NOTHING: Text = ("\N{EN DASH}",)
"""What a cell of a table shows where nothing was recorded."""


@dataclass(frozen=True)
class FigureRef:
    """A figure artifact: its file's name without suffix, where it came from, the digest of its SVG."""

    name: str
    title: str
    digest: str
    step: int
    call: str
    node: str


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
        return metric_of(self.found.metric)

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


CAPTIONS = {
    "missing_values": "Which columns have gaps, in the training rows.",
    "distributions": "How the values of each column are distributed, in the training rows.",
    "target": "How the target is distributed, in the training rows.",
    "target_by_feature": "How the target moves with each column, in the training rows.",
    "association": "How strongly columns go together, in the training rows.",
    "leaderboard": "Every candidate's score on each fold beside the baseline.",
    "roc": "Hold-out rows: the closer to the upper left corner, the better positives are ranked.",
    "precision_recall": "Hold-out rows: what finding more positives costs in precision.",
    "confusion": "Hold-out rows: which classes are taken for which.",
    "calibration": "Hold-out rows: on the diagonal, a predicted probability means what it says.",
    "residuals": "Hold-out rows: errors should scatter around zero without a pattern.",
    "predicted_vs_actual": "Hold-out rows: the closer to the line, the better.",
    "importances": "How much worse it gets when a column is shuffled; grey bars cannot be told from zero.",
    "time_series": "The target over time and where the hold-out begins.",
}
_TITLES = {
    "roc": "ROC curve",
    "precision_recall": "Precision and recall",
    "confusion": "Confusion matrix",
    "predicted_vs_actual": "Predicted against actual",
    "importances": "Permutation importance",
    "association": "Association between columns",
    "time_series": "Over time",
}
_NARROW = frozenset({"roc", "precision_recall", "confusion", "calibration", "predicted_vs_actual", "residuals"})
_FALLBACK = "Drawn by the step that is linked here."


def title_of(name: str) -> str:
    """A figure's title by its name."""
    return _TITLES.get(name) or name.replace("_", " ").capitalize()


def picture(figure: FigureRef) -> Picture:
    title = title_of(figure.name)
    caption = CAPTIONS.get(figure.name, _FALLBACK)
    return Picture(
        figure.name, title, caption, figure.digest, figure.step, figure.call, figure.name not in _NARROW
    )


def listed(texts: Sequence[Text]) -> Text:
    """Pieces joined as `a, b and c`."""
    joined: list[str | Claim | Name] = []
    for place, text in enumerate(texts):
        if place:
            joined.append(" and " if place == len(texts) - 1 else ", ")
        joined.extend(text)
    return tuple(joined)
