"""The prediction problem: target, kind, metric, order and groups of rows, forecast horizon, costs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from app.errors import InvalidInput
from app.json_types import JsonScalar
from app.modeling.problem.forecast_steps import training_steps
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.metrics import QUANTILE_LEVELS


@dataclass(frozen=True)
class Problem:
    """A complete problem; `classes` are JSON scalars in sorted order, None for regression.

    With a `horizon` (rows ahead, within a group) the label of a row is its target's future, and the target's
    present value is one of the inputs. `time_column` alone only orders the split.
    """

    target: str
    kind: ProblemKind
    metric: str
    classes: tuple[JsonScalar, ...] | None = None
    positive_class: JsonScalar = None
    time_column: str | None = None
    group_column: str | None = None
    group_with: tuple[str, ...] = ()
    """Further columns that tell groups apart, as the year does where names come again."""
    has_decimal_classes: bool = False
    """Classes are numbers that are written with decimals, such as `1.0`; `classes` holds them as 1."""
    class_spellings: tuple[str, ...] = ()
    """Classes that are numbers, as a table of texts writes them, in the order of `classes`; else empty."""
    horizon: int | None = None
    every_step: bool = False
    """Forecast each step from the next row to the horizon, not only the last."""
    outlook: Outlook | None = None
    exclude: tuple[str, ...] = ()
    barriers: tuple[float, float] | None = None
    """Take-profit and stop-loss of a direction problem, as relative moves of the price; 0 disables one.

    A row is then labelled `up` when its trade ends with a gain: at a barrier, or at the horizon at the latest.
    """
    parsers: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """Parsers of raw columns, as JSON of `type_inference.parsers`. A model applies them first to raw rows."""
    costs: tuple[float, float] | None = None
    """Costs of a false alarm and of a missed positive; binary problems only."""
    made_of: str = ""
    """Table of the rows that those of the problem are made of, such as orders of a customer; else empty."""

    @property
    def is_classification(self) -> bool:
        return self.kind is ProblemKind.CLASSIFICATION

    @property
    def written_classes(self) -> tuple[JsonScalar, ...]:
        """The classes as the table writes them, in the order of `classes`."""
        return self.class_spellings or tuple(
            # `type`, not `isinstance`: a class may be True, which is an int too.
            float(name) if self.has_decimal_classes and type(name) is int else name
            for name in self.classes or ()
        )

    def written_value(self, column: str, value: JsonScalar) -> JsonScalar:
        """A value of a column as the table writes it: yes and no in the words of its file."""
        words = self.truth_words(column) if isinstance(value, bool) else ()
        return words[bool(value)] if words else value

    def truth_words(self, column: str) -> tuple[str, ...]:
        """The words for no and yes of a column; empty where its table has none of its own."""
        parsers = (parser for parser in self.parsers if column in parser["columns"])
        return next((tuple(parser.get("words") or ()) for parser in parsers), ())

    @property
    def is_binary(self) -> bool:
        return self.classes is not None and len(self.classes) == 2

    @property
    def positive_index(self) -> int:
        """Position of the positive class in `classes`; 1 if none is named."""
        if self.classes and self.positive_class in self.classes:
            return self.classes.index(self.positive_class)
        return 1

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that tell groups apart; empty without groups."""
        return () if self.group_column is None else (self.group_column, *self.group_with)

    @property
    def default_threshold(self) -> float:
        """The probability of the positive class at which both mistakes have the same expected cost."""
        # There (1 - p) times the cost of a false alarm equals p times that of a miss.
        return 0.5 if self.costs is None else self.costs[0] / sum(self.costs)

    @property
    def forecasts_per_row(self) -> int:
        """Number of forecasts for one row."""
        return len(training_steps(self.horizon)) if self.every_step and self.horizon else 1

    @property
    def learns_difference(self) -> bool:
        """True for a forecast of a number: models learn its difference to the present value."""
        return not self.is_classification and self.outlook is Outlook.VALUE

    @property
    def quantile(self) -> float | None:
        """The quantile of the target that the model predicts; None for the mean."""
        return QUANTILE_LEVELS.get(self.metric)

    def without(self, columns: Iterable[str]) -> Self:
        """Return the problem with further columns left out."""
        return replace(self, exclude=tuple(dict.fromkeys((*self.exclude, *columns))))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "kind": self.kind.value,
            "metric": self.metric,
            "classes": list(self.classes) if self.classes is not None else None,
            "positive_class": self.positive_class,
            "has_decimal_classes": self.has_decimal_classes,
            "class_spellings": list(self.class_spellings),
            "time_column": self.time_column,
            "group_column": self.group_column,
            "group_with": list(self.group_with),
            "horizon": self.horizon,
            "every_step": self.every_step,
            "outlook": self.outlook.value if self.outlook else None,
            "exclude": list(self.exclude),
            "barriers": list(self.barriers) if self.barriers else None,
            "reading": [dict(parser) for parser in self.parsers],
            "costs": list(self.costs) if self.costs else None,
            **({"made_of": self.made_of} if self.made_of else {}),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read the JSON of `to_json`. Raises InvalidInput `bad_problem` if a field is missing or wrong."""
        try:
            classes, costs = document.get("classes"), document.get("costs")
            barriers = document.get("barriers")
            return cls(
                target=document["target"],
                kind=ProblemKind(document["kind"]),
                metric=document["metric"],
                classes=tuple(classes) if classes else None,
                positive_class=document.get("positive_class"),
                has_decimal_classes=bool(document.get("has_decimal_classes")),
                class_spellings=tuple(document.get("class_spellings") or ()),
                time_column=document.get("time_column"),
                group_column=document.get("group_column"),
                group_with=tuple(document.get("group_with") or ()),
                horizon=document.get("horizon"),
                every_step=bool(document.get("every_step")),
                outlook=Outlook(document["outlook"]) if document.get("outlook") else None,
                exclude=tuple(document.get("exclude") or ()),
                barriers=(float(barriers[0]), float(barriers[1])) if barriers else None,
                parsers=tuple(document.get("reading") or ()),
                costs=(float(costs[0]), float(costs[1])) if costs else None,
                made_of=str(document.get("made_of") or ""),
            )
        except (KeyError, ValueError) as error:
            raise InvalidInput("bad_problem", f"This is not a complete problem: {error}.") from error
