"""Groups of made tables, of which it is known whether there are any."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from app.errors import InvalidInput
from app.modeling.analysis.row_structure.row_groups import find_row_groups

ROWS = 150
CENTRES = np.array([[25.0, 10.0], [45.0, 60.0], [65.0, 20.0]])


def make_members(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Members of three groups by age and visits, the second of which mostly has gold cards."""
    random = np.random.default_rng(seed)
    group = random.choice(3, ROWS, p=[0.5, 0.3, 0.2])
    points = CENTRES[group] + random.normal(0, 4, (ROWS, 2))
    card = np.where(random.random(ROWS) < np.array([0.1, 0.9, 0.1])[group], "gold", "plain")
    return pd.DataFrame({"age": points[:, 0], "visits": points[:, 1], "card": card}), group


def make_cloud(seed: int) -> pd.DataFrame:
    """One cloud of rows, whose columns go together."""
    random = np.random.default_rng(seed)
    age = random.normal(45, 10, ROWS)
    visits = age / 3 + random.normal(0, 2, ROWS)
    return pd.DataFrame({"age": age, "visits": visits, "card": random.choice(["gold", "plain"], ROWS)})


def test_groups_that_are_there_are_found_with_what_tells_them_apart() -> None:
    members, truth = make_members(seed=1)
    found = find_row_groups(members)
    assert (found.is_separated, found.is_stable) == (True, True)
    assert adjusted_rand_score(found.labels, truth) > 0.95
    assert [group.name for group in found.groups] == ["A", "B", "C"]
    assert [group.rows for group in found.groups] == [*np.bincount(truth)]
    second = {trait.column: trait for trait in found.groups[1].traits}
    assert second["visits"].difference > 1
    assert (second["card"].typical, second["card"].share) == ("gold", pytest.approx(0.9, abs=0.1))


def test_a_cloud_of_rows_is_not_said_to_have_groups() -> None:
    # One in twenty clouds looks like groups by chance.
    assert sum(find_row_groups(make_cloud(seed)).is_separated for seed in range(3)) <= 1


def test_as_many_groups_are_formed_as_were_asked_for() -> None:
    found = find_row_groups(make_members(seed=1)[0], count=5)
    assert len(found.groups) == 5
    assert sum(group.rows for group in found.groups) == ROWS


def test_a_cloud_that_is_divided_all_the_same_is_divided_differently_by_each_sample() -> None:
    found = find_row_groups(make_cloud(seed=2), count=6)
    assert (found.is_separated, found.is_stable) == (False, False)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="need 60 rows at least; the table has 40"):
        find_row_groups(make_cloud(1).head(40), count=12)
