"""Drivers of the target: the columns that it goes with, ranked only where the held-out rows tell them apart."""

from collections.abc import Mapping, Sequence

from app.modeling.explanation.effects import NO_EFFECTS, GroupEffects, measure_effects
from app.modeling.explanation.explanation_facts import Driver, DriverFacts
from app.modeling.explanation.importance import FALSE_ALARM_RATE, GroupImportance, ImportanceMeasurement
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_DRIVERS = 8
"""Drivers that are told with their effects; the importances of all columns are told besides."""
MAX_EFFECTS = 12
"""Groups of columns whose effects are measured: one may be clear where shuffling tells nothing."""


def find_drivers(
    measurement: ImportanceMeasurement,
    holdout_rows: int,
    seed: int = 0,
    deadline: Deadline | None = None,
) -> DriverFacts:
    """List the groups of columns that help, or have an effect beyond chance. Those that may be the first share
    the rank 1.

    A shuffled column is missed in proportion to the square of its effect, while the effect itself is seen on
    fewer rows: a driver that the shuffling cannot tell from chance may be clear by its effect.
    """
    leaders, is_first_clear = measurement.leaders()
    helpful = [importance for importance in measurement.ranked if measurement.helps(importance)]
    ordered = [*leaders, *(importance for importance in helpful if importance not in leaders)]
    # The largest importances first, so that what there is no time for is least likely a driver.
    others = [importance for importance in measurement.ranked if importance not in ordered]
    effects = measure_effects(measurement, [*ordered, *others][:MAX_EFFECTS], seed, deadline)
    if measurement.has_enough_rows:
        ordered += _select_clear(others, effects)
    drivers: list[Driver] = [
        _make_driver(
            measurement,
            importance,
            1 if importance in leaders else place,
            effects.get(importance.group.label, NO_EFFECTS),
        )
        for place, importance in enumerate(ordered[:MAX_DRIVERS], 1)
    ]
    return {
        "drivers": drivers,
        "leaders": len(leaders),
        "is_first_clear": is_first_clear,
        "tested": len(measurement.measured),
        "rows": len(measurement.rows),
        "holdout_rows": holdout_rows,
        "has_enough_rows": measurement.has_enough_rows,
        "repeats": min((importance.repeats for importance in measurement.ranked), default=0),
    }


def _select_clear(
    importances: Sequence[GroupImportance], effects: Mapping[str, GroupEffects]
) -> list[GroupImportance]:
    """Select the groups with an effect that is no chance, by the number of those looked at (Bonferroni)."""
    differences = sum(entry.differences for entry in effects.values())
    clear = [
        (effects[importance.group.label].chance, place)
        for place, importance in enumerate(importances)
        if importance.group.label in effects
    ]
    return [importances[place] for chance, place in sorted(clear) if chance * differences <= FALSE_ALARM_RATE]


def _make_driver(
    measurement: ImportanceMeasurement, importance: GroupImportance, rank: int, effects: GroupEffects
) -> Driver:
    low, high = measurement.bounds(importance)
    return {
        "columns": list(importance.group.columns),
        "grouped_by": importance.group.reason,
        "rank": rank,
        "importance": round_significant(importance.mean) or 0.0,
        "low": low,
        "high": high,
        "effects": list(effects.effects),
    }
