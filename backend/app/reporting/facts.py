"""What the journal says about each part of a session: which tool recorded it, and the shape that it has.

Facts are found wherever the tool put them in its result. What other tools answer is never searched: an agent's
own code or a table's words could imitate an evaluation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.reporting.evidence import Fact, RecordedCall, proving

HOLD_OUT_NODE = "final_evaluation"
ANSWERING_NODE = "answering"
TUNING_NODE = "hyperparameter_tuning"
_DEEPEST = 5


@dataclass(frozen=True)
class Shape:
    """Facts of one kind: the tools that record them and the keys that they have."""

    tools: tuple[str, ...]
    keys: tuple[str, ...]


SPLIT = Shape(("lock_holdout",), ("train_rows", "holdout_rows"))
EDA = Shape(("perform_eda",), ("findings", "leaks"))
FRAME = Shape(
    ("clean_data", "create_features", "calculate_technical_indicators", "write_features"),
    ("effects", "recipe", "added"),
)
FIT = Shape(
    (
        "train_classification_model",
        "train_regression_model",
        "cross_validate_model",
        "tune_hyperparameters",
        "add_folds",
    ),
    ("fold_scores", "estimator", "score"),
)
BLEND = Shape(("build_ensemble",), ("weights", "members"))
COMPARISON = Shape(("compare_models",), ("leaderboard", "chosen", "metric"))
REFIT = Shape(("refit_model",), ("rows", "fits", "model"))
EXPLANATION = Shape(("explain_model",), ("importances", "segments"))
IMPORTANCE = Shape(("feature_importance",), ("importances", "metric"))
FORECAST = Shape(("forecast_future",), ("forecasts", "first", "last"))
BACKTEST = Shape(("backtest_model",), ("strategy", "baselines", "edge"))
ANSWER = Shape(("answer_by_sql", "answer_by_program"), ("columns", "rows", "language", "code"))
HOLD_OUT = Shape(("final_evaluation",), ("on", "metrics", "rows"))


@dataclass(frozen=True)
class Found:
    """None or empty where a session never came so far. `session` cites what is known of the session itself."""

    session: Fact
    split: Fact | None
    eda: Fact | None
    frames: Sequence[Fact]
    parts: Sequence[Fact]
    """Every fit. A candidate is fitted in parts: they share its name and differ in their folds."""
    fits: Sequence[Fact]
    """The first part of each candidate."""
    blends: Sequence[Fact]
    """Candidates put together: the newest of each name."""
    comparison: Fact | None
    explanation: Fact | None
    importance: Fact | None
    """The explanation's, on the hold-out; an earlier one out of fold where nothing was explained."""
    final: Fact | None
    """The evaluation on the hold-out, from the node that may open it."""
    refit: Fact | None
    """The chosen model learned again from all rows, after the hold-out had judged it."""
    backtest: Fact | None
    """What trading on the chosen model made of the hold-out."""
    forecast: Fact | None
    """What the delivered model expects after the last row."""
    final_calls: Sequence[RecordedCall]
    last_fit_step: int | None
    asks: bool = False
    """The session answered a question about the data, or tried to."""
    answer: Fact | None = None
    """The last answer, from the node that answers."""

    @property
    def problem(self) -> Fact | None:
        return self.split.at("problem") if self.split else None

    @property
    def metric(self) -> str:
        """The name of the metric that decided, or an empty string."""
        for fact in (self.final, self.comparison, self.problem):
            if fact and fact.text("metric"):
                return fact.text("metric")
        return ""

    @property
    def chosen(self) -> Fact | None:
        """The name of the model that was judged on the hold-out."""
        named = [self.final.at("model"), self.final.at("name")] if self.final else []
        if self.comparison:
            named += [self.comparison.at("chosen"), self.comparison.at("best")]
        return next((fact for fact in named if fact and isinstance(fact.value, str)), None)

    def fit_of(self, name: str) -> Fact | None:
        """What a model was made by: a blend, or the fit of a candidate."""
        return next((fit for fit in (*self.blends, *self.fits) if fit.text("name") == name), None)

    @property
    def blend(self) -> Fact | None:
        """The blend that was chosen, where it has more than one candidate."""
        found = next(
            (each for each in self.blends if self.chosen and each.text("name") == self.chosen.value), None
        )
        return found if found and len(found.value["weights"]) > 1 else None


def gather(calls: Sequence[RecordedCall], session: Fact) -> Found:
    proven = proving(calls)
    finals = [fact for fact in shaped(proven, HOLD_OUT) if _opened(fact)]
    fits, blends = shaped(proven, FIT), shaped(proven, BLEND)
    explanation = _newest(shaped(proven, EXPLANATION))
    asked = [call for call in calls if call.node == ANSWERING_NODE]
    return Found(
        session=session,
        split=_newest(shaped(proven, SPLIT)),
        eda=_newest(shaped(proven, EDA)),
        frames=shaped(proven, FRAME),
        parts=fits,
        fits=list({fit.text("name"): fit for fit in reversed(fits)}.values())[::-1],
        blends=list({each.text("name"): each for each in blends}.values()),
        comparison=_newest(shaped(proven, COMPARISON)),
        explanation=explanation,
        importance=explanation or _newest(shaped(proven, IMPORTANCE)),
        final=finals[-1] if finals else None,
        refit=next((each for each in shaped(proven, REFIT) if each.value["rows"]), None),
        backtest=_newest([each for each in shaped(proven, BACKTEST) if each.call.node == HOLD_OUT_NODE]),
        forecast=_newest([each for each in shaped(proven, FORECAST) if each.call.node == HOLD_OUT_NODE]),
        final_calls=[fact.call for fact in finals],
        asks=bool(asked),
        answer=_newest(shaped(proving(asked), ANSWER)),
        last_fit_step=max((fit.call.seq for fit in (*fits, *blends)), default=None),
    )


def shaped(calls: Sequence[RecordedCall], shape: Shape) -> list[Fact]:
    """The facts of that shape, in the order in which they were recorded."""
    return [
        fact
        for call in calls
        if call.tool in shape.tools
        for fact in _within(Fact(call, "", call.result), shape.keys, _DEEPEST)
    ]


def _opened(fact: Fact) -> bool:
    return fact.text("on") == "hold-out" and fact.call.node == HOLD_OUT_NODE


def _newest(facts: Sequence[Fact]) -> Fact | None:
    return facts[-1] if facts else None


def _within(fact: Fact, keys: Sequence[str], depth: int) -> Iterator[Fact]:
    if isinstance(fact.value, Mapping) and all(key in fact.value for key in keys):
        yield fact
    elif depth:
        for child in fact.items():
            if isinstance(child.value, (Mapping, list)):
                yield from _within(child, keys, depth - 1)
