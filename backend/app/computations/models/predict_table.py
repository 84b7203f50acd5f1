"""Prediction of a whole table in batches, with bounded memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from app.computations.cell_files.frames import to_json_facts
from app.computations.cell_files.table_batches import BatchedTable, Format, TableWriter
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models.predict import MAX_ANSWERED, OpenModel, PredictedRows, open_model
from app.computations.queries.query import QUERY_MEMORY_BYTES, describe_result
from app.computations.uploads import sql
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.training.ensemble.average import first_recipe
from app.modeling.training.schema import DISTANCE, MAX_PROBLEMS, check_columns, conform_rows
from app.modeling.type_inference.parsers import parsers_by_column
from app.modeling.type_inference.unit_factors import find_factors

CHECKING_SHARE = 0.1
"""Share of the progress for checking columns before prediction."""

_SAFE = {
    "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean),
    "boolean": (pa.types.is_boolean,),
    "datetime": (pa.types.is_timestamp, pa.types.is_date),
}
"""Arrow types whose cells the model accepts without a check; column kinds that are absent accept anything."""


def predict_table(
    workspace: CellWorkspace,
    form: Format = "parquet",
    shown: int = MAX_ANSWERED,
    strict: bool = False,
    keep_columns: bool = False,
    units: dict[str, str] | None = None,
) -> JsonValue:
    """Predict the rows of a table; leaves `predictions.` + form, with the rows in the same order.

    Inputs `model` and `table` (Parquet). `keep_columns`: the table's columns come before those of the
    predictions. `units`: of columns of the table, which may be others than in training: they are converted.
    A forecast of every step has a row for each step after the last row of each series, and stands alone.
    Returns `computation_facts.PredictionFacts` with the first `shown` rows. Faults of columns are found before
    any prediction, and so are cells that cannot be read where they are refused: in all columns if `strict`,
    else in those that place the rows of a forecast. Raises InvalidInput `not_a_table`, `column_taken` for a
    table with a column of predictions, `other_unit` for a unit that is not converted, or as `predict.predict`;
    a model that uses earlier rows takes all rows at once.
    """
    model, table = open_model(workspace, strict), BatchedTable(workspace.inputs["table"])
    model.require_columns(table.schema.names)
    factors = find_factors(parsers_by_column(model.problem.parsers), units or {})
    warnings = _Warnings(check_columns(table.schema.names, table.rows, model.schema))
    warnings.add(_describe_conversions(factors, units or {}, table.rows))
    _check_cells(workspace, model, table)
    looks_back = model.problem.every_step or first_recipe(model.stored.pipeline).load_history() is not None
    columns = [column["name"] for column in model.schema if column["name"] in table.schema.names]
    is_beside = keep_columns and not model.problem.every_step
    input_names = table.schema.names if is_beside else []
    stored_form: Format = "parquet" if is_beside else form
    first: PredictedRows | None = None
    problems: list[dict[str, Any]] = []
    outside: list[dict[str, Any]] = []
    count = 0
    with TableWriter(workspace.output / f"predictions.{stored_form}", stored_form) as writer:
        # Lags of the first rows of a batch would miss those of the batch before.
        for rows in table.batches(columns, table.rows if looks_back else None):
            predicted = model.predictions(_convert_units(rows, factors))
            _check_names(predicted.predictions, input_names)
            warnings.add(predicted.warnings)
            problems += predicted.problems[: MAX_PROBLEMS - len(problems)]
            outside += predicted.outside[: MAX_PROBLEMS - len(outside)]
            writer.add(predicted.predictions)
            count += len(predicted.predictions)
            first = predicted if first is None else first
            _report_rows(workspace, CHECKING_SHARE, 1.0, rows, table)
    if first is None:
        raise InvalidInput("no_rows", "There are no rows to predict.")
    if is_beside:
        _add_columns(workspace, form)
    shown_rows = PredictedRows(first.predictions.head(shown), warnings.all, problems, outside)
    return to_json_facts(model.facts(count, shown_rows))


def _convert_units(rows: pd.DataFrame, factors: Mapping[str, float]) -> pd.DataFrame:
    """Convert columns of numbers to the units that the model learned; cells of text have theirs with them."""
    numbers = {
        name: rows[name] * factor
        for name, factor in factors.items()
        if name in rows and pd.api.types.is_numeric_dtype(rows[name])
    }
    return rows.assign(**numbers) if numbers else rows


def _describe_conversions(
    factors: Mapping[str, float], units: Mapping[str, str], rows: int
) -> list[dict[str, Any]]:
    return [
        {
            "kind": "converted_unit",
            "column": name,
            "text": f"{name} is in {units[name]} here, which is not its unit in training: it is multiplied "
            f"by {factor:g}.",
            "rows": rows,
        }
        for name, factor in factors.items()
    ]


def add_predictions(workspace: CellWorkspace, rows: int = 50, strict: bool = False) -> dict[str, JsonValue]:
    """Write the rows of a table beside their predictions to result.parquet.

    Inputs and faults as of `predict_table`; a forecast of every step stands alone. Returns what `query.run_sql`
    returns, with the `warnings`.
    """
    facts: Any = predict_table(workspace, shown=0, strict=strict, keep_columns=True)
    result = (workspace.output / "predictions.parquet").rename(workspace.output / "result.parquet")
    return {**describe_result(workspace, result, rows), "warnings": facts["warnings"]}


def _check_names(predictions: pd.DataFrame, input_names: Sequence[str]) -> None:
    """Raise InvalidInput for columns of predictions that the table has too: neither may pass for the other."""
    doubled = [name for name in predictions.columns if name in input_names]
    if doubled:
        raise InvalidInput(
            "column_taken",
            f"The table has a column {doubled[0]!r} already, as predictions do. Rename it before.",
            column=doubled[0],
        )


def _add_columns(workspace: CellWorkspace, form: Format) -> None:
    """Replace predictions.parquet by a file of the form with the columns of the table before them."""
    predictions, joined = workspace.output / "predictions.parquet", workspace.output / "joined"
    files = (workspace.inputs["table"], predictions)
    with sql.connect(workspace, workspace.output, QUERY_MEMORY_BYTES) as connection:
        # By position, since rows and predictions are in one order, and a table may have no key.
        pair = " POSITIONAL JOIN ".join(f"read_parquet({sql.text(path)})" for path in files)
        connection.execute(f"COPY (SELECT * FROM {pair}) TO {sql.text(joined)} (FORMAT {form})")  # noqa: S608 - quoted
    predictions.unlink()
    joined.rename(workspace.output / f"predictions.{form}")


def _check_cells(workspace: CellWorkspace, model: OpenModel, table: BatchedTable) -> None:
    """Check all cells of doubtful columns, in which an unreadable one is refused, before any prediction."""
    strict = model.strict_columns
    doubtful = [
        column for column in model.schema if column["name"] in strict and _is_doubtful(column, table.schema)
    ]
    # Cells of these types cannot be unreadable, and reading a large table once more takes its time.
    if not doubtful:
        return
    for rows in table.batches([column["name"] for column in doubtful]):
        conform_rows(rows, doubtful, model.problem.parsers, strict)
        _report_rows(workspace, 0.0, CHECKING_SHARE, rows, table)


def _is_doubtful(column: dict[str, Any], schema: pa.Schema) -> bool:
    safe = _SAFE.get(column["type"], ())
    return column["name"] in schema.names and bool(safe) and not _is_any(schema, column["name"], safe)


def _is_any(schema: pa.Schema, name: str, kinds: Iterable[Callable[[pa.DataType], bool]]) -> bool:
    return any(is_kind(schema.field(name).type) for is_kind in kinds)


def _report_rows(
    workspace: CellWorkspace, low: float, high: float, rows: pd.DataFrame, table: BatchedTable
) -> None:
    done = int(rows.index[-1]) + 1
    workspace.report(low + (high - low) * done / table.rows, f"{done:,} of {table.rows:,} rows")


class _Warnings:
    """Warnings of batches merged to those of the table: one per kind and column."""

    def __init__(self, first: Iterable[dict[str, Any]]) -> None:
        self._by_key: dict[tuple[str, str], dict[str, Any]] = {}
        self.add(first)

    def add(self, warnings: Iterable[dict[str, Any]]) -> None:
        for warning in warnings:
            key = (warning["kind"], warning["column"])
            before = self._by_key.get(key)
            if before is None:
                self._by_key[key] = warning
                continue
            # The text of the farthest value counts for all batches.
            worst = max(before, warning, key=lambda entry: entry.get(DISTANCE, 0.0))
            self._by_key[key] = {**worst, "rows": before["rows"] + warning["rows"]}

    @property
    def all(self) -> list[dict[str, Any]]:
        return list(self._by_key.values())
