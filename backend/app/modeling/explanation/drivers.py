"""Drivers of the target: the columns that it goes with, ranked only where the held-out rows tell them apart."""

from app.modeling.explanation.effects import measure_effects
from app.modeling.explanation.explanation_facts import Driver, DriverFacts, Effect
from app.modeling.explanation.importance import GroupImportance, ImportanceMeasurement
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_DRIVERS = 8
"""Drivers that are told with their effects; the importances of all columns are told besides."""


def find_drivers(
    measurement: ImportanceMeasurement,
    holdout_rows: int,
    seed: int = 0,
    deadline: Deadline | None = None,
) -> DriverFacts:
    """List the helpful groups of columns with their effects. Those that may be the first share the rank 1."""
    leaders, is_first_clear = measurement.leaders()
    helpful = [importance for importance in measurement.ranked if measurement.helps(importance)]
    ordered = [*leaders, *(importance for importance in helpful if importance not in leaders)][:MAX_DRIVERS]
    effects = measure_effects(measurement, [entry for entry in ordered if entry in helpful], seed, deadline)
    drivers: list[Driver] = [
        _make_driver(
            measurement,
            importance,
            1 if importance in leaders else place,
            effects.get(importance.group.label, []),
        )
        for place, importance in enumerate(ordered, 1)
    ]
    return {
        "drivers": drivers,
        "leaders": len(leaders),
        "is_first_clear": is_first_clear,
        "tested": len(measurement.measured),
        "rows": len(measurement.rows),
        "holdout_rows": holdout_rows,
        "repeats": min((importance.repeats for importance in measurement.ranked), default=0),
    }


def _make_driver(
    measurement: ImportanceMeasurement, importance: GroupImportance, rank: int, effects: list[Effect]
) -> Driver:
    half_width = measurement.quantile(0.025) * importance.std
    return {
        "columns": list(importance.group.columns),
        "grouped_by": importance.group.reason,
        "rank": rank,
        "importance": round_significant(importance.mean) or 0.0,
        "low": round_significant(importance.mean - half_width),
        "high": round_significant(importance.mean + half_width),
        "effects": effects,
    }
