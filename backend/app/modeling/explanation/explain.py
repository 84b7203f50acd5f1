"""Everything that explains one model on rows that did not teach it, within a number of seconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.explanation.contributions import Contributions, TreeMember, contributions
from app.modeling.explanation.dependence import partial_dependence
from app.modeling.explanation.facts import ExplanationFacts, SegmentFacts
from app.modeling.explanation.importance import permutation_importance
from app.modeling.explanation.segments import errors_by_segment
from app.modeling.explanation.subject import Deadline, Subject
from app.modeling.problem.results import ImportanceFacts
from app.modeling.scoring.scores import Predicted
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant

MAX_ROWS = 4000
MIN_ROWS = 200
MIN_FOR_SEGMENTS = 100
WARM_UP_ROWS = 5
"""The first answer takes longer than all others: members of a stored model are opened for it."""

_TO_SEGMENTS, _TO_IMPORTANCES, _TO_CONTRIBUTIONS = 0.2, 0.6, 0.4
"""Shares of the time that is left when each begins; dependence has the rest."""

FindMember = Callable[[pd.DataFrame], TreeMember | None]
"""The weightiest boosted tree model with its features of these rows, where there is one."""


@dataclass(frozen=True)
class Explained:
    """`facts` go into the record; the SHAP values of single rows are for drawing only."""

    facts: ExplanationFacts
    contributions: Contributions | None


def explain(
    subject: Subject,
    rows: pd.DataFrame,
    truth: np.ndarray,
    find_member: FindMember,
    metadata: Mapping[str, Any],
    seed: int = 0,
    repeats: int = 5,
    deadline: Deadline | None = None,
    unread: Sequence[str] = (),
) -> Explained:
    """`rows`: raw inputs, `truth`: their labels, none missing; `metadata`: the stored model's (its name,
    threshold). A column that orders or groups the rows is not shuffled, nor is one of `unread`, which the model
    does not look at; segments may name both."""
    deadline = deadline or Deadline(None)
    problem = subject.problem
    segments, rows, truth = _segments(subject, rows, truth, metadata.get("threshold"), seed, deadline)
    columns = most_telling(rows, truth, [problem.time_column, problem.group_column, *unread])
    importance = permutation_importance(
        subject, rows, truth, columns, repeats, seed, deadline.within(_TO_IMPORTANCES)
    )
    member = find_member(rows)
    adds = contributions(member, problem, truth, seed, deadline.within(_TO_CONTRIBUTIONS)) if member else None
    ranked = [each for each in importance["importances"] if each["mean"] > 0]
    drawn = [each["column"] for each in ranked if each["helps"]] or [each["column"] for each in ranked]
    facts: ExplanationFacts = {
        "model": metadata.get("name"),
        "on": "hold-out",
        "metric": importance["metric"],
        "base_score": importance["base_score"],
        "rows": importance["rows"],
        "repeats": importance["repeats"],
        "importances": importance["importances"],
        "left_out": importance["left_out"],
        "dependence": partial_dependence(subject, rows, drawn, seed, deadline),
        "contributions": adds.facts if adds else None,
        "segments": segments,
        "explain_s": round_significant(deadline.spent_s, 3) or 0.0,
        "notes": _notes(importance, repeats, member is not None and adds is None),
        "figures": [],
    }
    return Explained(facts, adds)


def _segments(
    subject: Subject,
    rows: pd.DataFrame,
    truth: np.ndarray,
    threshold: float | None,
    seed: int,
    deadline: Deadline,
) -> tuple[SegmentFacts | None, pd.DataFrame, np.ndarray]:
    """Errors by segment, and the rows that everything else is drawn from."""
    subject.say(rows.iloc[:WARM_UP_ROWS])
    share = deadline.within(_TO_SEGMENTS)
    probe = rows.iloc[:MIN_ROWS]
    first = subject.say(probe)
    a_row_s = share.spent_s / max(len(probe), 1)
    most = MAX_ROWS if share.limit_s is None else int(max(share.left_s, 0.0) / max(a_row_s, 1e-9))
    places = subject.sample(len(rows), min(max(most, MIN_ROWS), MAX_ROWS), seed)
    rows, truth = rows.iloc[places].reset_index(drop=True), truth[places]
    if len(rows) < MIN_FOR_SEGMENTS:
        return None, rows, truth
    said = first if np.array_equal(places, np.arange(len(probe))) else subject.say(rows)
    predicted = Predicted.from_problem(subject.problem, truth, said, threshold)
    return errors_by_segment(rows, predicted, subject.problem), rows, truth


def most_telling(rows: pd.DataFrame, truth: np.ndarray, without: Sequence[str | None]) -> list[str]:
    """Columns to shuffle, those first that go with the outcome: there may not be the time to try all."""
    names = [str(name) for name in rows.columns if name not in without]
    coded = pd.DataFrame({name: _codes(rows[name]) for name in names}).rank()
    relation = coded.corrwith(pd.Series(truth).rank()).abs().fillna(0.0)
    return sorted(names, key=lambda name: -float(relation[name]))


def _codes(column: pd.Series) -> np.ndarray:
    if column_kind(column) in (ColumnKind.NUMBER, ColumnKind.BOOLEAN):
        return column.to_numpy(dtype="float64", na_value=np.nan)
    return np.asarray(pd.factorize(column)[0], dtype="float64")


def _notes(importance: ImportanceFacts, wanted: int, without_contributions: bool) -> list[str]:
    notes = []
    repeats, rows, left_out = importance["repeats"], importance["rows"], importance["left_out"]
    if repeats < wanted:
        notes.append(
            f"Columns were shuffled {repeats} instead of {wanted} times on {rows} rows to keep the time."
        )
    if left_out > 0:
        notes.append(f"{left_out} columns that go least with the target were not shuffled.")
    if without_contributions:
        notes.append("SHAP values of single features would have taken longer than there was time for.")
    return notes
