"""The SELECT of a table of persons, run over transactions whose outcome is clear."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.persons.person_features import list_features
from app.agents.goals.persons.person_sql import select_persons
from app.agents.goals.persons.person_table import PersonDetails, PersonTable
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import run_sql

ORDERS = pd.DataFrame(
    [
        ("ann", "2024-01-05 10:00", 10.0, "toys"),
        ("ann", "2024-02-20 09:30", 30.0, "books"),
        ("ann", "2024-03-30 23:59", 5.0, "toys"),
        ("ben", "2024-01-10 00:00", 100.0, "food"),
        ("ben", "2024-02-09 12:00", 50.0, "food"),
        ("cem", "2024-03-05 08:00", 7.0, None),
        (None, "2024-03-06 08:00", 999.0, "toys"),
    ],
    columns=["customer", "at", "amount", "kind"],
).assign(at=lambda frame: pd.to_datetime(frame["at"]))


def make_table(**changes: Any) -> PersonTable:
    fields: dict[str, Any] = {
        "person": "customer",
        "time": "at",
        "end": date(2024, 3, 31),
        "horizon_days": 30,
        "cutoffs": 2,
        "outcome": "active",
        "amounts": ["amount"],
        "categories": ["kind"],
    }
    return PersonTable.model_validate({**fields, **changes})


def select(table: PersonTable, orders: pd.DataFrame = ORDERS, **tables: pd.DataFrame) -> pd.DataFrame:
    with duckdb.connect() as connection:
        for name, frame in {"orders": orders, **tables}.items():
            connection.register(name, frame)
        return connection.execute(select_persons("SELECT * FROM orders", table)).df()


def outcomes(made: pd.DataFrame, name: str) -> dict[tuple[str, str], Any]:
    keys = zip(made["cutoff"].dt.strftime("%m-%d"), made["customer"], strict=True)
    values = (None if pd.isna(value) else value for value in made[name])
    return dict(zip(keys, values, strict=True))


def test_each_person_is_a_row_of_each_cutoff_after_its_first_row() -> None:
    assert outcomes(select(make_table()), "active within 30 days") == {
        ("01-31", "ann"): "yes",
        ("01-31", "ben"): "yes",
        ("03-01", "ann"): "yes",
        ("03-01", "ben"): "no",
        ("03-31", "ann"): None,
        ("03-31", "ben"): None,
        ("03-31", "cem"): None,
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"outcome": "sum", "amount": "amount"}, [30.0, 50.0, 5.0, 0.0]),
        ({"outcome": "count"}, [1, 1, 1, 0]),
        # Who was not there in the 30 days before a cutoff had stopped already.
        ({"outcome": "inactive"}, ["no", "no", "no", "yes"]),
    ],
)
def test_outcomes_are_those_of_the_days_after_a_cutoff(changes: dict[str, Any], expected: list[Any]) -> None:
    table = make_table(**changes)
    made = select(table)
    assert made.loc[made["cutoff"] < "2024-03-31", table.name].tolist() == expected


def test_who_had_stopped_before_a_cutoff_is_not_in_its_rows_of_those_who_may_stop() -> None:
    made = select(make_table(outcome="inactive"))
    assert made.loc[made["cutoff"] == "2024-03-31", "customer"].tolist() == ["ann", "cem"]


def test_inputs_describe_what_came_before_the_cutoff() -> None:
    made = select(make_table()).set_index(["cutoff", "customer"])
    ann = made.loc[(pd.Timestamp("2024-03-01"), "ann")]
    assert ann["days since last"] == pytest.approx(9 + 14.5 / 24)
    assert ann["days since first"] == pytest.approx(55 + 14 / 24)
    assert ann["mean days between"] == pytest.approx(46 - 0.5 / 24)
    assert (ann["rows so far"], ann["last 30-day rows"], ann["change of 30-day rows"]) == (2, 1, 0)
    assert (ann["sum of amount"], ann["mean amount"], ann["largest amount"], ann["last amount"]) == (
        40,
        20,
        30,
        30,
    )
    assert (ann["last 30-day sum of amount"], ann["different kind"], ann["latest kind"]) == (30, 2, "books")
    assert pd.isna(made.loc[(pd.Timestamp("2024-03-31"), "cem"), "mean days between"])


@pytest.mark.parametrize("outcome", ["active", "sum"])
def test_no_row_from_after_a_cutoff_reaches_an_input(outcome: str) -> None:
    table = make_table(outcome=outcome, amount="amount" if outcome == "sum" else None)
    inputs = [feature.name for feature in list_features(table)]
    for cutoff in map(pd.Timestamp, table.dates_of_cutoffs):
        later = ORDERS["at"] >= cutoff
        changed = ORDERS.assign(
            amount=ORDERS["amount"].where(~later, -1e6), kind=ORDERS["kind"].where(~later, "later")
        )
        invented = changed.loc[later].assign(at=lambda frame: frame["at"] + pd.Timedelta(hours=1))
        rows = []
        for orders in (ORDERS, pd.concat([changed, invented]), changed.loc[~later]):
            made = select(table, orders)
            rows.append(made.loc[made["cutoff"] == cutoff, ["customer", *inputs]].reset_index(drop=True))
        assert len(rows[0]) >= 2
        pd.testing.assert_frame_equal(rows[0], rows[1])
        pd.testing.assert_frame_equal(rows[0], rows[2])


def test_outcomes_of_two_cutoffs_share_no_row() -> None:
    made = select(make_table(outcome="count"))
    after_first_cutoff = ((ORDERS["at"] >= "2024-01-31") & (ORDERS["at"] < "2024-03-31")).sum()
    without_person, not_seen_before = 1, 1
    assert made["30-day number of rows"].sum() == after_first_cutoff - without_person - not_seen_before


def test_rows_that_take_back_others_are_no_activity() -> None:
    back = pd.DataFrame([("ben", pd.Timestamp("2024-03-10"), -50.0, "food")], columns=ORDERS.columns)
    orders = pd.concat([ORDERS, back])
    made = outcomes(select(make_table(returns="amount"), orders), "active within 30 days")
    assert made["03-01", "ben"] == "no"
    spent = outcomes(select(make_table(outcome="sum", amount="amount"), orders), "30-day sum of amount")
    assert spent["03-01", "ben"] == -50
    returned = outcomes(select(make_table(returns="amount"), orders), "returns so far")
    assert (returned["03-31", "ben"], returned["03-31", "ann"]) == (1, 0)


def test_columns_of_persons_are_joined_and_their_dates_count_from_their_day_on() -> None:
    persons = pd.DataFrame(
        {
            "id": ["ann", "ben", "ben", "dan"],
            "city": ["Bern", "Basel", "Basel", "Zug"],
            "card_since": pd.to_datetime(["2023-12-31", "2024-02-10", "2024-02-10", "2024-01-01"]),
        }
    )
    details = PersonDetails(table="persons", key="id", columns=["city"], dates=["card_since"])
    made = select(make_table(details=details), persons=persons)
    assert len(made) == len(select(make_table()))
    assert outcomes(made, "city")["03-31", "ben"] == "Basel"
    since = outcomes(made, "days since card_since")
    assert (since["01-31", "ann"], since["01-31", "ben"], since["03-01", "ben"]) == (31, None, 20)


def test_persons_who_do_not_meet_a_condition_on_their_table_are_left_out() -> None:
    persons = pd.DataFrame({"id": ["ann", "ben", "cem"], "city": ["Bern", "Basel", None]})
    only = RowCondition(column="city", values=["Bern"])
    details = PersonDetails(table="persons", key="id", columns=["city"], filter=[only])
    assert set(select(make_table(details=details), persons=persons)["customer"]) == {"ann"}
    others = details.model_copy(update={"filter": [only.model_copy(update={"operator": "not_in"})]})
    assert set(select(make_table(details=others), persons=persons)["customer"]) == {"ben", "cem"}


def test_the_select_is_admitted_where_queries_run(tmp_path: Path) -> None:
    ORDERS.to_parquet(tmp_path / "orders.parquet")
    (tmp_path / "output").mkdir()
    workspace = CellWorkspace({"orders": tmp_path / "orders.parquet"}, tmp_path / "output")
    facts: Any = run_sql(workspace, select_persons("SELECT * FROM orders", make_table()), 20)
    assert facts["row_count"] == 7
