"""Explanation of one model on rows that it was not trained on, within a time limit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.explanation.contributions import Contributions, TreeMember, explain_contributions
from app.modeling.explanation.dependence import partial_dependence
from app.modeling.explanation.drivers import find_drivers
from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.explanation.explanation_facts import ExplanationFacts, SegmentFacts
from app.modeling.explanation.importance import ImportanceMeasurement, measure_importances
from app.modeling.explanation.segments import find_worst_segments
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.scores import Predicted
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_ROWS = 4000
"""Rows that segments, contributions and dependence are computed on: more narrow the intervals little."""
MIN_ROWS = 200
"""Rows that are predicted whatever the time, and that measure the time of a row."""
MIN_SEGMENT_ROWS = 100
"""Rows below which segments are not tested."""
WARM_UP_ROWS = 5
"""Rows of the first prediction, which takes longer: it loads the members of a stored model."""

_SEGMENTS_SHARE, _IMPORTANCES_SHARE, _EFFECTS_SHARE, _CONTRIBUTIONS_SHARE = 0.15, 0.7, 0.5, 0.4
"""Shares of the time left when each begins; dependence gets the rest."""

FindMember = Callable[[pd.DataFrame], TreeMember | None]
"""Returns the boosted tree model with the largest weight, with its features of these rows, or None."""


@dataclass(frozen=True)
class ModelExplanation:
    """The explanation: `facts` are stored; the SHAP values of single rows are only drawn."""

    facts: ExplanationFacts
    contributions: Contributions | None


def explain_predictions(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    find_member: FindMember,
    metadata: Mapping[str, Any],
    seed: int = 0,
    repeats: int = 5,
    deadline: Deadline | None = None,
    unused: Sequence[str] = (),
    units: IndependentUnits | None = None,
) -> ModelExplanation:
    """Explain a model by segments, importances with drivers, contributions and dependence.

    `rows`: raw inputs, `truth`: their labels, none missing; `metadata`: the stored model's (its name,
    threshold). Columns that order or group the rows are not shuffled, nor are `unused` ones, which the model
    does not read; segments may use both. `units`: those of the rows, see
    `find_units`.
    """
    deadline = deadline or Deadline(None)
    problem, threshold = subject.problem, metadata.get("threshold")
    holdout_rows = len(rows)
    segments, sampled, sampled_truth = _find_segments(subject, rows, truth, threshold, seed, deadline, units)
    columns = order_by_relation(rows, truth, [problem.time_column, problem.group_column, *unused])
    # Importances get all rows, since their intervals are claimed; the parts below are drawn from a sample.
    measurement = measure_importances(
        subject,
        rows,
        truth,
        columns,
        repeats,
        seed,
        deadline.within(_IMPORTANCES_SHARE),
        threshold,
        units,
    )
    importance = measurement.facts()
    drivers = find_drivers(measurement, holdout_rows, seed, deadline.within(_EFFECTS_SHARE))
    rows, truth = sampled, sampled_truth
    member = find_member(rows)
    shap = (
        explain_contributions(member, problem, truth, seed, deadline.within(_CONTRIBUTIONS_SHARE))
        if member
        else None
    )
    ranked = [entry for entry in importance["importances"] if entry["mean"] > 0]
    # On few rows no column is said to help, and a figure of the likeliest ones is still wanted.
    groups_to_draw = [entry for entry in ranked if entry["helps"]] or ranked
    columns_to_draw = [column for entry in groups_to_draw for column in entry["columns"]]
    facts: ExplanationFacts = {
        "model": metadata.get("name"),
        "on": "hold-out",
        "metric": importance["metric"],
        "base_score": importance["base_score"],
        "rows": importance["rows"],
        "repeats": importance["repeats"],
        "importances": importance["importances"],
        "left_out": importance["left_out"],
        "dependence": partial_dependence(subject, rows, columns_to_draw, seed, deadline),
        "drivers": drivers,
        "contributions": shap.facts if shap else None,
        "segments": segments,
        "explain_s": round_significant(deadline.spent_s, 3) or 0.0,
        "notes": _notes(measurement, repeats, member is not None and shap is None),
        "figures": [],
    }
    return ModelExplanation(facts, shap)


def _find_segments(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    threshold: float | None,
    seed: int,
    deadline: Deadline,
    units: IndependentUnits | None,
) -> tuple[SegmentFacts | None, pd.DataFrame, np.ndarray]:
    """Find the worst segments; return them with the sampled rows that they were found on."""
    # Before the clock of the share starts: loading members would make each row look slow.
    subject.predict(rows.iloc[:WARM_UP_ROWS])
    share = deadline.within(_SEGMENTS_SHARE)
    probe = rows.iloc[:MIN_ROWS]
    first = subject.predict(probe)
    seconds_per_row = share.spent_s / max(len(probe), 1)
    max_rows = MAX_ROWS if share.limit_s is None else int(max(share.left_s, 0.0) / max(seconds_per_row, 1e-9))
    positions = subject.sample(len(rows), min(max(max_rows, MIN_ROWS), MAX_ROWS), seed)
    rows, truth = rows.iloc[positions].reset_index(drop=True), truth[positions]
    if len(rows) < MIN_SEGMENT_ROWS:
        return None, rows, truth
    # A small table was predicted by the probe already.
    outputs = first if np.array_equal(positions, np.arange(len(probe))) else subject.predict(rows)
    predicted = Predicted.from_problem(subject.problem, truth, outputs, threshold)
    sampled_units = None if units is None else units.take(positions)
    return find_worst_segments(rows, predicted, subject.problem, sampled_units), rows, truth


def order_by_relation(rows: pd.DataFrame, truth: np.ndarray, excluded: Sequence[str | None]) -> list[str]:
    """Order the columns to shuffle by their correlation with the target: there may not be time for all."""
    names = [str(name) for name in rows.columns if name not in excluded]
    # Codes of categories are in no order; the correlation only decides what is left out first.
    coded = pd.DataFrame({name: _codes(rows[name]) for name in names}).rank()
    relation = coded.corrwith(pd.Series(truth).rank()).abs().fillna(0.0)
    return sorted(names, key=lambda name: -float(relation[name]))


def _codes(column: pd.Series) -> np.ndarray:
    if column_kind(column) in (ColumnKind.NUMBER, ColumnKind.BOOLEAN):
        return column.to_numpy(dtype="float64", na_value=np.nan)
    return np.asarray(pd.factorize(column)[0], dtype="float64")


def _notes(measurement: ImportanceMeasurement, requested: int, without_contributions: bool) -> list[str]:
    notes = []
    repeats = min((importance.repeats for importance in measurement.ranked), default=0)
    if repeats < requested:
        times = "once" if repeats == 1 else f"{repeats} times"
        notes.append(f"Columns were shuffled {times} instead of {requested} times to keep the time limit.")
    if measurement.screened:
        notes.append(
            f"{len(measurement.screened)} columns were shuffled on {measurement.screened[0].rows} rows only,"
            " which showed them to matter less; they come after the others."
        )
    if measurement.left_out > 0:
        notes.append(
            f"{measurement.left_out} columns with the least correlation with the target were not shuffled."
        )
    if without_contributions:
        notes.append("SHAP values of single features would have exceeded the time limit.")
    return notes
