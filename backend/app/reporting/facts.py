"""Facts of a session from its journal, each identified by the tool that records it and by its keys.

Facts are searched in the whole result of the tool. Results of other tools are never searched: custom code or
texts of a table could imitate an evaluation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.recorded_call import RecordedCall
from app.reporting.evidence import RecordedFact, successful_calls

HOLD_OUT_NODE = "final_evaluation"
ANSWERING_NODE = "answering"
TUNING_NODE = "hyperparameter_tuning"
_MAX_DEPTH = 5
"""Levels of nesting that are searched: no tool nests its facts deeper."""


@dataclass(frozen=True)
class FactShape:
    """Facts of one kind: the tools that record them and the keys that they have."""

    tools: tuple[str, ...]
    keys: tuple[str, ...]


SPLIT = FactShape(("lock_holdout",), ("train_rows", "holdout_rows"))
EDA = FactShape(("perform_eda",), ("findings", "leaks"))
FRAME = FactShape(
    ("clean_data", "create_features", "calculate_technical_indicators", "write_features"),
    ("effects", "recipe", "added"),
)
FIT = FactShape(
    (
        "train_classification_model",
        "train_regression_model",
        "cross_validate_model",
        "tune_hyperparameters",
        "add_folds",
    ),
    ("fold_scores", "estimator", "score"),
)
BLEND = FactShape(("build_ensemble",), ("weights", "members"))
COMPARISON = FactShape(("compare_models",), ("leaderboard", "chosen", "metric"))
REFIT = FactShape(("refit_model",), ("rows", "fits", "model"))
EXPLANATION = FactShape(("explain_model",), ("importances", "segments"))
IMPORTANCE = FactShape(("feature_importance",), ("importances", "metric"))
FORECAST = FactShape(("forecast_future",), ("forecasts", "first", "last"))
BACKTEST = FactShape(("backtest_model",), ("strategy", "baselines", "edge"))
ANSWER = FactShape(("answer_by_sql", "answer_by_program"), ("columns", "rows", "language", "code"))
HOLD_OUT = FactShape(("final_evaluation",), ("on", "metrics", "rows"))


@dataclass(frozen=True)
class ReportFacts:
    """The facts that a report is made of; None or empty for phases that the session did not reach.

    `session` points at the facts of the session itself (goal, seed, usage, versions).
    """

    session: RecordedFact
    split: RecordedFact | None
    eda: RecordedFact | None
    frames: Sequence[RecordedFact]
    fit_parts: Sequence[RecordedFact]
    """Every fit. The parts of a candidate share its name and differ in their folds."""
    fits: Sequence[RecordedFact]
    """The first part of each candidate."""
    blends: Sequence[RecordedFact]
    """Ensembles: the newest of each name."""
    comparison: RecordedFact | None
    explanation: RecordedFact | None
    importance: RecordedFact | None
    """Importances of the explanation on the hold-out, else the newest ones out of fold."""
    final: RecordedFact | None
    """The evaluation on the hold-out, from the node that may open it."""
    refit: RecordedFact | None
    """The chosen model refitted on all rows, after its evaluation on the hold-out."""
    backtest: RecordedFact | None
    """The backtest of the chosen model on the hold-out."""
    forecast: RecordedFact | None
    """Forecasts of the delivered model after the last row."""
    final_calls: Sequence[RecordedCall]
    last_fit_step: int | None
    is_question: bool = False
    """True if the session answered a question about the data, or tried to."""
    answer: RecordedFact | None = None
    """The last answer, from the node that answers."""

    @property
    def problem(self) -> RecordedFact | None:
        return self.split.at("problem") if self.split else None

    @property
    def metric(self) -> str:
        """The name of the deciding metric, or an empty string."""
        for fact in (self.final, self.comparison, self.problem):
            if fact and fact.text("metric"):
                return fact.text("metric")
        return ""

    @property
    def chosen_model(self) -> RecordedFact | None:
        """The name of the model evaluated on the hold-out, else of the one chosen in the comparison."""
        names = [self.final.at("model"), self.final.at("name")] if self.final else []
        if self.comparison:
            names += [self.comparison.at("chosen"), self.comparison.at("best")]
        return next((fact for fact in names if fact and isinstance(fact.value, str)), None)

    def find_fit(self, name: str) -> RecordedFact | None:
        """Return the facts of a model: an ensemble, or the first fit of a candidate."""
        return next((fit for fit in (*self.blends, *self.fits) if fit.text("name") == name), None)

    @property
    def blend(self) -> RecordedFact | None:
        """The chosen ensemble, if it has more than one member."""
        blend = next(
            (
                candidate
                for candidate in self.blends
                if self.chosen_model and candidate.text("name") == self.chosen_model.value
            ),
            None,
        )
        return blend if blend and len(blend.value["weights"]) > 1 else None


def gather_facts(calls: Sequence[RecordedCall], session: RecordedFact) -> ReportFacts:
    proven = successful_calls(calls)
    finals = [fact for fact in find_facts(proven, HOLD_OUT) if _is_holdout_evaluation(fact)]
    fits, blends = find_facts(proven, FIT), find_facts(proven, BLEND)
    explanation = _newest(find_facts(proven, EXPLANATION))
    answering_calls = [call for call in calls if call.node == ANSWERING_NODE]
    return ReportFacts(
        session=session,
        split=_newest(find_facts(proven, SPLIT)),
        eda=_newest(find_facts(proven, EDA)),
        frames=find_facts(proven, FRAME),
        fit_parts=fits,
        fits=list({fit.text("name"): fit for fit in reversed(fits)}.values())[::-1],
        blends=list({blend.text("name"): blend for blend in blends}.values()),
        comparison=_newest(find_facts(proven, COMPARISON)),
        explanation=explanation,
        importance=explanation or _newest(find_facts(proven, IMPORTANCE)),
        final=finals[-1] if finals else None,
        refit=next((fact for fact in find_facts(proven, REFIT) if fact.value["rows"]), None),
        backtest=_newest([fact for fact in find_facts(proven, BACKTEST) if fact.call.node == HOLD_OUT_NODE]),
        forecast=_newest([fact for fact in find_facts(proven, FORECAST) if fact.call.node == HOLD_OUT_NODE]),
        final_calls=[fact.call for fact in finals],
        is_question=bool(answering_calls),
        answer=_newest(find_facts(successful_calls(answering_calls), ANSWER)),
        last_fit_step=max((fit.call.seq for fit in (*fits, *blends)), default=None),
    )


def find_facts(calls: Sequence[RecordedCall], shape: FactShape) -> list[RecordedFact]:
    """Return the facts of a shape, in recorded order."""
    return [
        fact
        for call in calls
        if call.tool in shape.tools
        for fact in _search(RecordedFact(call, "", call.result), shape.keys, _MAX_DEPTH)
    ]


def _is_holdout_evaluation(fact: RecordedFact) -> bool:
    return fact.text("on") == "hold-out" and fact.call.node == HOLD_OUT_NODE


def _newest(facts: Sequence[RecordedFact]) -> RecordedFact | None:
    return facts[-1] if facts else None


def _search(fact: RecordedFact, keys: Sequence[str], depth: int) -> Iterator[RecordedFact]:
    if isinstance(fact.value, Mapping) and all(key in fact.value for key in keys):
        yield fact
    elif depth:
        for child in fact.items():
            if isinstance(child.value, (Mapping, list)):
                yield from _search(child, keys, depth - 1)
