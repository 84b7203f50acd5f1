"""Facts of a session from its journal, each identified by the tool that records it.

Results of other tools are never read: custom code or texts of a table could imitate an evaluation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from app.errors import InvalidInput
from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide
from app.modeling.facts.conversion import parse_facts
from app.recorded_call import RecordedCall
from app.reporting.evidence import (
    Content,
    RecordedFact,
    TypedFact,
    items_at,
    read_as,
    successful_calls,
    typed_items,
)
from app.reporting.fact_records import (
    AnswerRecord,
    BacktestRecord,
    BlendRecord,
    CandidateRow,
    ComparisonRecord,
    DriversRecord,
    EdaRecord,
    EvaluationRecord,
    ExplanationRecord,
    FitRecord,
    ForecastRecord,
    FrameRecord,
    ImportanceRecord,
    MeasuredAssumption,
    ReferenceForecast,
    RefitRecord,
    SessionRecord,
    SplitRecord,
    StatedAnswerRecord,
    UnlabelledRecord,
)
from app.reporting.figure_data import ImportanceEntry, SegmentRow
from app.reporting.stated_answer import ANSWERS

HOLD_OUT_NODE = "final_evaluation"
ANSWERING_NODE = "answering"
TUNING_NODE = "hyperparameter_tuning"


@dataclass(frozen=True)
class FactSource(Generic[Content]):
    """Tools that record facts of one kind. Without `lists`, the result of a call is the fact; else the items of
    those of its lists."""

    record: type[Content]
    tools: tuple[str, ...]
    lists: tuple[str, ...] = ()


SPLIT = FactSource(SplitRecord, ("lock_holdout",))
EDA = FactSource(EdaRecord, ("perform_eda",))
FRAME = FactSource(
    FrameRecord, ("clean_data", "create_features", "calculate_technical_indicators", "write_features")
)
FIT = FactSource(
    FitRecord,
    (
        "train_classification_model",
        "train_regression_model",
        "cross_validate_model",
        "tune_hyperparameters",
        "add_folds",
    ),
    # Journals of early versions have `candidates` and `tried` in place of `fits`.
    lists=("fits", "candidates", "tried"),
)
BLEND = FactSource(BlendRecord, ("build_ensemble",))
COMPARISON = FactSource(ComparisonRecord, ("compare_models",))
REFIT = FactSource(RefitRecord, ("refit_model",))
EXPLANATION = FactSource(ExplanationRecord, ("explain_model",))
IMPORTANCE = FactSource(ImportanceRecord, ("feature_importance",))
FORECAST = FactSource(ForecastRecord, ("forecast_future",))
UNLABELLED = FactSource(UnlabelledRecord, ("predict_unlabelled",))
BACKTEST = FactSource(BacktestRecord, ("backtest_model",))
ANSWER = FactSource(AnswerRecord, ANSWERS)
STATED_ANSWER = FactSource(StatedAnswerRecord, ("state_answer",))
HOLD_OUT = FactSource(EvaluationRecord, ("final_evaluation",))


@dataclass(frozen=True)
class ReportFacts:
    """The facts that a report is made of; None or empty for phases that the session did not reach.

    `session` points at the facts of the session itself (goal, seed, usage, versions).
    """

    session: RecordedFact
    split: TypedFact[SplitRecord] | None
    eda: TypedFact[EdaRecord] | None
    frames: Sequence[TypedFact[FrameRecord]]
    fit_parts: Sequence[TypedFact[FitRecord]]
    """Every fit. The parts of a candidate share its name and differ in their folds."""
    fits: Sequence[TypedFact[FitRecord]]
    """The first part of each candidate."""
    blends: Sequence[TypedFact[BlendRecord]]
    """Ensembles: the newest of each name."""
    comparison: TypedFact[ComparisonRecord] | None
    explanation: TypedFact[ExplanationRecord] | None
    importance: TypedFact[ExplanationRecord] | TypedFact[ImportanceRecord] | None
    """Importances of the explanation on the hold-out, else the newest ones out of fold."""
    final: TypedFact[EvaluationRecord] | None
    """The evaluation on the hold-out, from the node that may open it."""
    refit: TypedFact[RefitRecord] | None
    """The chosen model refitted on all rows, after its evaluation on the hold-out."""
    backtest: TypedFact[BacktestRecord] | None
    """The backtest of the chosen model on the hold-out."""
    forecast: TypedFact[ForecastRecord] | None
    """Forecasts of the delivered model after the last row."""
    unlabelled: TypedFact[UnlabelledRecord] | None
    """Predictions of the rows without a target."""
    final_calls: Sequence[RecordedCall]
    last_fit_step: int | None
    is_question: bool = False
    """True if the session answered a question about the data, or tried to."""
    answer: TypedFact[AnswerRecord] | None = None
    """The last answer, from the node that answers."""
    stated_answer: TypedFact[StatedAnswerRecord] | None = None
    """The words of the answer, or the reason why there is none."""
    answering_calls: Sequence[RecordedCall] = ()

    @property
    def problem(self) -> RecordedFact | None:
        """The problem as the split completed it; of a fork with other settings, as its models were fitted."""
        # The split was copied from the source, and recorded the problem before the settings were changed.
        if self.has_changed_settings and self.fit_parts:
            return self.fit_parts[-1].at("problem")
        return self.split.at("problem") if self.split else None

    @cached_property
    def assumptions(self) -> Sequence[TypedFact[MeasuredAssumption]]:
        """Measured conditions of the score: those that matter first, by the size of their effect."""
        measured = [
            *typed_items(MeasuredAssumption, self.split, "assumptions"),
            *typed_items(MeasuredAssumption, self.eda, "assumptions"),
        ]
        return sorted(measured, key=lambda fact: (not fact.content.matters, -fact.content.effect))

    def side_of(self, assumption: MeasuredAssumption) -> AssumptionSide:
        """Return the side that the delivered model takes: columns may be left out after they were measured."""
        if assumption.kind not in (AssumptionKind.COLUMN, AssumptionKind.JOINED_TABLE):
            return assumption.chosen_side
        fit = self.find_fit(str(self.chosen_model.value)) if self.chosen_model else None
        if fit is None:
            return assumption.chosen_side
        excluded = {str(name.value) for name in items_at(fit, "problem", "exclude")}
        # All of its columns: a joined table of which one column is read is still needed.
        is_left_out = set(assumption.columns) <= excluded
        return AssumptionSide.OTHERWISE if is_left_out else AssumptionSide.HOLDS

    @property
    def has_changed_settings(self) -> bool:
        """True for a fork whose settings differ from those that its copied steps recorded."""
        return bool((self.session_record.fork or {}).get("differ"))

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

    @cached_property
    def session_record(self) -> SessionRecord:
        return parse_facts(SessionRecord, self.session.value or {})

    @cached_property
    def leaderboard(self) -> Sequence[TypedFact[CandidateRow]]:
        """Rows of the comparison, best first."""
        return typed_items(CandidateRow, self.comparison, "leaderboard")

    @property
    def finished_folds(self) -> RecordedFact | None:
        """The number of folds that the scores of the compared candidates are of; None if none was compared."""
        if self.comparison is None or not self.leaderboard:
            return None
        compared = self.comparison.at("folds_compared") or self.leaderboard[0].at("folds")
        # Journals of early versions have the folds in the fits alone, which had all of them.
        fit = self.find_fit(self.leaderboard[0].content.name)
        return compared or (fit.at("fold_count") if fit else None)

    @property
    def has_one_fold(self) -> bool:
        """True if the candidates were judged on one fold alone: there is no mean over folds."""
        folds = self.finished_folds
        return folds is not None and folds.value == 1

    @cached_property
    def importances(self) -> Sequence[TypedFact[ImportanceEntry]]:
        """Columns by descending importance."""
        return typed_items(ImportanceEntry, self.importance, "importances")

    @property
    def helping_columns(self) -> list[TypedFact[ImportanceEntry]]:
        """Columns with a significant importance."""
        return [entry for entry in self.importances if entry.content.helps]

    @cached_property
    def drivers(self) -> TypedFact[DriversRecord] | None:
        """The columns that the target goes with, of an explanation on the hold-out."""
        fact = self.explanation.at("drivers") if self.explanation else None
        return read_as(DriversRecord, fact) if fact else None

    @property
    def wants_drivers(self) -> bool:
        """True if the goal asked for the drivers of its target, and they were measured."""
        return bool(self.explanation and self.explanation.content.wants_drivers and self.drivers)

    @cached_property
    def references(self) -> Sequence[TypedFact[ReferenceForecast]]:
        """Forecasts of the hold-out that need no model, best first."""
        return typed_items(ReferenceForecast, self.final, "references")

    @property
    def looks_ahead(self) -> bool:
        """True if the target is forecast from the rows of a series before it."""
        horizon = self.problem.at("horizon") if self.problem else None
        return horizon is not None or self.forecast is not None

    @property
    def is_forecast_by_methods(self) -> bool:
        """True if the classical methods make the forecast, since they were better than the model."""
        is_model = self.final.at("recommended", "is_model") if self.final else None
        return self.forecast is not None and is_model is not None and is_model.value is False

    @property
    def methods_name(self) -> RecordedFact | None:
        """The name of the classical methods, where they make the forecast and have scores."""
        is_scored = self.final is not None and self.final.at("methods") is not None
        return self.final.at("recommended", "name") if self.final and is_scored else None

    @cached_property
    def delivered(self) -> TypedFact[EvaluationRecord] | None:
        """The scores of the classical methods where they make the forecast, else those of the model."""
        methods = self.final.at("methods") if self.final and self.is_forecast_by_methods else None
        # Former releases have no scores of the methods.
        return read_as(EvaluationRecord, methods) if methods else self.final

    @cached_property
    def worst_segments(self) -> Sequence[TypedFact[SegmentRow]]:
        return typed_items(SegmentRow, self.explanation, "segments", "worst")

    def find_fit(self, name: str) -> RecordedFact | None:
        """Return the facts of a model: an ensemble, or the first fit of a candidate."""
        return next((fit for fit in (*self.blends, *self.fits) if fit.text("name") == name), None)

    @property
    def blend(self) -> TypedFact[BlendRecord] | None:
        """The chosen ensemble, if it has more than one member."""
        blend = next(
            (
                candidate
                for candidate in self.blends
                if self.chosen_model and candidate.text("name") == self.chosen_model.value
            ),
            None,
        )
        return blend if blend and len(blend.content.weights) > 1 else None


def article_of(reference: ReferenceForecast) -> str:
    """Return the article before the name of a reference; `the value 12 rows before` has its own."""
    return "" if reference.name.startswith("the ") else "the "


def is_right_more_often(final: TypedFact[EvaluationRecord]) -> bool:
    """Check if the model names the right class more often than the baseline, beyond the interval."""
    low = final.content.score("accuracy").low
    baseline = (final.content.baseline or {}).get("accuracy")
    return low is not None and baseline is not None and low > baseline


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
        # Reversed, so that of each name the first part stays.
        fits=list({fit.text("name"): fit for fit in reversed(fits)}.values())[::-1],
        blends=list({blend.text("name"): blend for blend in blends}.values()),
        comparison=_newest(find_facts(proven, COMPARISON)),
        explanation=explanation,
        importance=explanation or _newest(find_facts(proven, IMPORTANCE)),
        final=finals[-1] if finals else None,
        refit=next((fact for fact in find_facts(proven, REFIT) if fact.content.rows), None),
        backtest=_newest([fact for fact in find_facts(proven, BACKTEST) if fact.call.node == HOLD_OUT_NODE]),
        forecast=_newest([fact for fact in find_facts(proven, FORECAST) if fact.call.node == HOLD_OUT_NODE]),
        unlabelled=next((fact for fact in find_facts(proven, UNLABELLED) if fact.content.rows), None),
        final_calls=[fact.call for fact in finals],
        is_question=bool(answering_calls),
        answer=_newest(find_facts(successful_calls(answering_calls), ANSWER)),
        stated_answer=_newest(find_facts(successful_calls(answering_calls), STATED_ANSWER)),
        answering_calls=answering_calls,
        last_fit_step=max((fit.call.seq for fit in (*fits, *blends)), default=None),
    )


def find_facts(calls: Sequence[RecordedCall], source: FactSource[Content]) -> list[TypedFact[Content]]:
    """Return the facts of one kind, in recorded order."""
    return [
        fact
        for call in calls
        if call.tool in source.tools
        for part in _facts_in(RecordedFact(call, "", call.result), source.lists)
        if (fact := _read(source.record, part)) is not None
    ]


def _facts_in(result: RecordedFact, lists: Sequence[str]) -> Iterator[RecordedFact]:
    if not lists:
        yield result
    elif isinstance(result.value, Mapping):
        for name, part in result.children():
            if name in lists:
                yield from part.items()


def _read(record: type[Content], fact: RecordedFact) -> TypedFact[Content] | None:
    # A call may succeed without its facts (a tool that was denied, a list of skipped candidates). Then there
    # is nothing to report, and a report must not fail by it.
    try:
        return read_as(record, fact)
    except InvalidInput:
        return None


def _is_holdout_evaluation(fact: TypedFact[EvaluationRecord]) -> bool:
    return fact.content.on == "hold-out" and fact.call.node == HOLD_OUT_NODE


def _newest(facts: Sequence[TypedFact[Content]]) -> TypedFact[Content] | None:
    return facts[-1] if facts else None
