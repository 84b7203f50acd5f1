"""Prediction of the rows of a session's table that have no value of the target."""

from typing import NotRequired, TypedDict

import pandas as pd

from app.computations.cell_files.frames import read_frame, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models.predict import OpenModel, open_model
from app.json_types import JsonValue
from app.modeling.type_inference.parsers import parse_columns

FILE = "predictions.csv"
"""Table of the predicted rows, as they were sent, with their predictions behind them."""
ROW = "row"
"""Column with the number of a row in the table, from 1 on."""
MAX_FIRST = 5
"""Rows of a ranking that its facts name, as many as a sentence holds."""
MAX_ROWS = 100_000
"""Rows that are predicted: models of a minute predict them in seconds. More are left to `labcrew predict`."""


class UnlabelledFacts(TypedDict):
    """The number of rows that were predicted, of those without a target, and their file; empty for none."""

    rows: int
    unlabelled: int
    file: str
    first: NotRequired[list["RankedRow"]]
    """The highest predictions, of rows that were ranked."""


class RankedRow(TypedDict):
    """The name of a row and its prediction: a number, or the probability of the positive class."""

    name: str
    value: float


def predict_unlabelled(
    workspace: CellWorkspace, max_rows: int = MAX_ROWS, ranked_by: str | None = None
) -> JsonValue:
    """Predict the rows without a target; leaves predictions.csv; returns `UnlabelledFacts`.

    Inputs: `table`, the raw table of the session, and `model`. Rows beyond `max_rows` are only counted.
    `ranked_by`: column that names who is ranked; the highest predictions come first. Raises InvalidInput as
    `predict.predict`.
    """
    model, table = open_model(workspace), read_frame(workspace, "table").reset_index(drop=True)
    rows = _select_unlabelled(table, model)
    # Rows are left out of training for want of a time or a group, too, and have a target.
    if rows.empty:
        return to_json_facts(UnlabelledFacts(rows=0, unlabelled=0, file=""))
    predicted = model.predictions(rows.head(max_rows).reset_index(drop=True)).predictions
    columns = {name: _free_name(name, rows.columns) for name in predicted.columns}
    numbers = pd.DataFrame({_free_name(ROW, rows.columns): rows.index[: len(predicted)] + 1})
    inputs = rows.head(max_rows).drop(columns=model.problem.target).reset_index(drop=True)
    rows_with_predictions = pd.concat([numbers, inputs, predicted.rename(columns=columns)], axis=1)
    facts = UnlabelledFacts(rows=len(predicted), unlabelled=len(rows), file=FILE)
    if ranked_by:
        # Sorted by position: the names of predictions may have changed beside equal ones of the table.
        ranking = predicted[_ranking_column(model)].sort_values(ascending=False, kind="stable")
        rows_with_predictions = rows_with_predictions.loc[ranking.index]
        highest = ranking.head(MAX_FIRST)
        facts["first"] = [
            # A number of a person that is missing elsewhere is stored with decimals.
            RankedRow(name=str(name).removesuffix(".0"), value=float(value))
            for name, value in zip(inputs.loc[highest.index, ranked_by], highest, strict=True)
        ]
    rows_with_predictions.to_csv(workspace.output / FILE, index=False)
    return to_json_facts(facts)


def _select_unlabelled(table: pd.DataFrame, model: OpenModel) -> pd.DataFrame:
    """Select the rows whose target is missing as the model's training read it."""
    target = model.problem.target
    parsers = [parser for parser in model.problem.parsers if target in parser["columns"]]
    values = parse_columns(table[[target]], parsers)[target]
    return table.loc[values.isna()]


def _ranking_column(model: OpenModel) -> str:
    """Return the column that ranks rows: the predicted number, or the probability of the positive class."""
    problem = model.problem
    if not problem.is_classification:
        return "prediction"
    return f"probability_{problem.written_classes[problem.positive_index]}"


def _free_name(name: str, names: pd.Index) -> str:
    """Return a name that no column of the table has."""
    while name in names:
        name = f"{name}_"
    return name
