"""Units of a table: by its times, its groups or its copies."""

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import UnitKind
from app.modeling.splits.unit_finding import find_units

NUMBER = Problem("y", ProblemKind.REGRESSION, "mae")


def measurements(rows: int, seed: int = 0) -> pd.DataFrame:
    columns = np.random.default_rng(seed).normal(size=(rows, 4))
    return pd.DataFrame(columns, columns=["a", "b", "c", "y"])


def test_copies_are_one_unit_unless_they_are_not_kept_together() -> None:
    distinct = measurements(100)
    units = find_units(pd.concat([distinct, distinct.head(40)], ignore_index=True), NUMBER)
    assert (units.kind, units.count) == (UnitKind.COPIES, 100)
    assert units.unit_of_row[0] == units.unit_of_row[100]
    assert find_units(pd.concat([distinct, distinct]), NUMBER, equal_rows_together=False).count == 200
    assert find_units(distinct, NUMBER).kind is UnitKind.ROWS


def test_groups_are_units_and_rows_without_one_are_a_further_group() -> None:
    problem = Problem("y", ProblemKind.REGRESSION, "mae", group_column="shop")
    units = find_units(measurements(6).assign(shop=["a", "a", None, "b", None, "b"]), problem)
    assert (units.kind, units.count) == (UnitKind.GROUPS, 3)


def test_a_horizon_of_a_panel_counts_moments_however_its_series_are_recorded() -> None:
    problem = Problem("y", ProblemKind.REGRESSION, "mae", time_column="day", group_column="shop", horizon=3)
    shops = np.tile(["a", "b", "c", "d"], 50)
    together = measurements(200).assign(shop=shops, day=np.repeat(np.arange(50), 4))
    in_turn = measurements(200).assign(shop=shops, day=np.arange(200))
    assert find_units(together, problem).overlap == 3
    assert find_units(in_turn, problem).overlap == 12


def test_persons_of_few_moments_are_units_and_moments_of_many() -> None:
    problem = Problem("y", ProblemKind.REGRESSION, "mae", time_column="cutoff", group_column="person")
    few = measurements(200).assign(cutoff=np.repeat([1, 2], 100), person=np.tile(np.arange(100), 2))
    units = find_units(few, problem)
    assert (units.kind, units.count) == (UnitKind.GROUPS, 100)
    many = measurements(300).assign(cutoff=np.repeat(np.arange(30), 10), person=np.tile(np.arange(30), 10))
    assert find_units(many, problem).kind is UnitKind.BLOCKS
    # Of few persons neither is enough.
    assert find_units(few.assign(person=few["person"] % 5), problem).kind is UnitKind.BLOCKS
