"""Several tables become one: keys by name and values, no row multiplied, and what is left out is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.join_discovery.relate_tables import relate
from app.computations.queries.query import run_sql

Related = Callable[..., tuple[dict[str, Any], pd.DataFrame]]


@pytest.fixture
def related(tmp_path: Path) -> Related:
    """What `relate` answers, and the table that its SELECT makes under the policy of SQL."""

    def run(base: str, target: str, **tables: pd.DataFrame) -> tuple[dict[str, Any], pd.DataFrame]:
        inputs, folder = {}, tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, frame in tables.items():
            inputs[name] = folder / f"{name}.parquet"
            frame.to_parquet(inputs[name])
        found: dict[str, Any] = relate(CellWorkspace(inputs, folder), base, target)
        if found["sql"] is None:
            return found, tables[base]
        run_sql(CellWorkspace(inputs, folder), found["sql"])
        return found, pd.read_parquet(folder / "result.parquet")

    return run


def customers(rows: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer_id": np.arange(1000, 1000 + rows),
            "region": rng.choice(["north", "south", "west"], rows),
            "churn": rng.choice(["yes", "no"], rows),
        }
    )


def orders(rows: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "order_id": np.arange(rows) + 50_000,
            "customer_id": rng.integers(1000, 1090, rows),
            "product": rng.integers(1, 21, rows),
            "amount": [f"${value:,.2f}" for value in rng.uniform(5, 3000, rows)],
            "ordered_at": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), unit="D"),
        }
    )


def products() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": np.arange(1, 21), "name": [f"thing {n}" for n in range(20)], "weight": np.arange(20.0)}
    )


def test_a_table_with_several_rows_per_key_is_aggregated_and_no_row_multiplies(related: Related) -> None:
    found, whole = related("customers", "churn", customers=customers(), orders=orders())
    (join,) = found["joins"]
    assert (join["table"], join["kind"], join["on"]) == ("orders", "summed", [["customer_id", "customer_id"]])
    assert whole["customer_id"].tolist() == customers()["customer_id"].tolist()
    assert whole["orders_rows"].fillna(0).sum() == 500
    amounts = orders()["amount"].str.replace("[$,]", "", regex=True).astype(float)
    means = amounts.groupby(orders()["customer_id"]).mean()
    np.testing.assert_allclose(whole.set_index("customer_id")["orders_amount_mean"].dropna(), means)
    assert "orders_amount_last" not in whole
    assert whole["orders_ordered_at_last"].max() == orders()["ordered_at"].max()


def test_a_star_is_joined_from_the_table_of_the_target(related: Related) -> None:
    sales = orders().assign(returned=np.random.default_rng(2).choice(["y", "n"], 500))
    found, whole = related("sales", "returned", sales=sales, customers=customers(), products=products())
    kinds = {join["table"]: (join["kind"], join["on"]) for join in found["joins"]}
    assert kinds == {
        "customers": ("lookup", [["customer_id", "customer_id"]]),
        "products": ("lookup", [["product", "id"]]),
    }
    assert whole["order_id"].tolist() == sales["order_id"].tolist()
    assert {"region", "churn", "name", "weight"} <= set(whole.columns)
    columns = {join["table"]: join["columns"] for join in found["joins"]}
    assert columns == {"customers": ["region", "churn"], "products": ["name", "weight"]}


def test_a_table_two_steps_away_comes_by_the_one_between(related: Related) -> None:
    found, whole = related("customers", "churn", customers=customers(), orders=orders(), products=products())
    assert [(join["table"], join["to"]) for join in found["joins"]] == [
        ("orders", "customers"),
        ("products", "orders"),
    ]
    assert len(whole) == 100
    assert "orders_weight_mean" in whole
    columns = {join["table"]: join["columns"] for join in found["joins"]}
    assert set(columns["orders"]) == set(whole.columns) - set(customers().columns)
    assert columns["products"] == []


def test_two_columns_together_are_a_key_where_neither_is_one_alone(related: Related) -> None:
    days = pd.date_range("2024-01-01", periods=30)
    grid = pd.MultiIndex.from_product([range(1, 13), days], names=["store", "day"]).to_frame(index=False)
    sales = grid.assign(sales=np.arange(len(grid)) * 1.0)
    weather = grid.assign(rain=np.arange(len(grid)) % 7)
    found, whole = related("sales", "sales", sales=sales, weather=weather)
    assert found["joins"][0]["on"] == [["store", "store"], ["day", "day"]]
    assert whole["rain"].tolist() == weather["rain"].tolist()


def test_keys_that_differ_in_case_and_type_match(related: Related) -> None:
    left = pd.DataFrame({"country": [" de", "FR", "it"] * 10, "y": range(30)})
    right = pd.DataFrame({"code": ["DE", "fr", "IT"], "population": [84, 68, 59]})
    found, whole = related("left", "y", left=left, right=right)
    assert found["joins"][0]["on"] == [["country", "code"]]
    assert whole["population"].tolist() == [84, 68, 59] * 10
    numbers = pd.DataFrame({"shop_id": range(20), "y": range(20)})
    texts = pd.DataFrame({"shop_id": [str(n) for n in range(20)], "size": range(20)})
    _, whole = related("numbers", "y", numbers=numbers, texts=texts)
    assert whole["size"].tolist() == list(range(20))


def test_parts_are_appended_and_tables_to_predict_are_not_joined(related: Related) -> None:
    one, two = customers().head(60), customers().tail(40)
    found, whole = related(
        "part_1", "churn", part_1=one, part_2=two, new=customers().drop(columns="churn"), test=customers()
    )
    assert (found["appended"], found["to_predict"], found["rows"]) == (["part_2"], ["new"], 100)
    assert [one["table"] for one in found["left_out"]] == ["test"]
    assert len(whole) == 100


def test_unrelated_tables_are_left_out_with_a_reason(related: Related) -> None:
    weather = pd.DataFrame({"station": list("abcdefghijkl"), "rain": range(12)})
    elsewhere = pd.DataFrame({"customer_id": range(5_000_000, 5_000_100), "score": range(100)})
    found, _ = related("customers", "churn", customers=customers(), weather=weather, elsewhere=elsewhere)
    reasons = {one["table"]: one["reason"] for one in found["left_out"]}
    assert found["sql"] is None
    assert reasons["weather"] == "it shares no column with `customers`"
    assert "hardly any value in common" in reasons["elsewhere"]


def test_unrelated_running_numbers_are_not_a_key(related: Related) -> None:
    left = pd.DataFrame({"row": range(50), "age": range(20, 70), "y": [0, 1] * 25})
    right = pd.DataFrame({"number": range(50), "years": range(20, 70)})
    found, _ = related("left", "y", left=left, right=right)
    assert found["joins"] == []


def test_answers_in_another_table_are_not_joined_to_the_rows(related: Related) -> None:
    known = customers()
    found, _ = related("known", "churn", known=known, answers=known[["customer_id", "churn"]])
    assert found["joins"] == []
    history = known.assign(visits=3)
    _, whole = related("known", "churn", known=known, history=history)
    assert [name for name in whole.columns if "churn" in name] == ["churn"]


def visits(rows: int = 600) -> pd.DataFrame:
    """Each patient comes again and again; `y` is 1 where a stay follows within days."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "visit_id": np.arange(rows),
            "patient_id": rng.integers(100, 160, rows),
            "visited_at": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), unit="D"),
            "y": rng.integers(0, 2, rows),
        }
    )


def stays(visits: pd.DataFrame) -> pd.DataFrame:
    later = visits.loc[visits["y"] == 1]
    when = later["visited_at"] + pd.Timedelta(days=3)
    return pd.DataFrame({"patient_id": later["patient_id"], "began": when, "days": 4.0}).reset_index(drop=True)


def test_later_rows_are_not_aggregated(related: Related) -> None:
    base = visits()
    known = stays(base)
    found, whole = related("visits", "y", visits=base, stays=known)
    (join,) = found["joins"]
    assert (join["kind"], join["as_of"]) == ("summed", ["visited_at", "began"])
    assert "using rows whose `began` is before `visited_at`" in join["text"]
    assert whole["visit_id"].tolist() == base["visit_id"].tolist()
    expected = [
        int(((known["patient_id"] == row.patient_id) & (known["began"] < row.visited_at)).sum())
        for row in base.itertuples()
    ]
    assert whole["stays_rows"].fillna(0).astype(int).tolist() == expected
    assert (whole["stays_began_last"].dropna() < whole["visited_at"][whole["stays_began_last"].notna()]).all()


def test_a_start_date_leaves_nothing_out_but_gives_a_warning(related: Related) -> None:
    joined = customers().assign(joined_at=pd.Timestamp("2023-12-01"))
    found, whole = related("customers", "churn", customers=joined, orders=orders())
    (join,) = found["joins"]
    assert join["as_of"] is None
    assert "Warning: 100% of its rows are later than `joined_at`" in join["text"]
    assert whole["orders_rows"].fillna(0).sum() == 500


def test_aggregates_of_earlier_rows_give_no_warning(related: Related) -> None:
    asked = customers().assign(asked_at=pd.Timestamp("2025-06-01"))
    found, _ = related("customers", "churn", customers=asked, orders=orders())
    assert found["joins"][0]["as_of"] is None
    assert "Warning" not in found["joins"][0]["text"]


def test_aggregates_of_undated_rows_give_a_warning(related: Related) -> None:
    found, _ = related("visits", "y", visits=visits(), stays=stays(visits()).drop(columns="began"))
    assert "`stays` has no date" in found["joins"][0]["text"]


def test_a_lookup_of_later_rows_gives_a_warning(related: Related) -> None:
    base = visits()
    ends = pd.DataFrame({"visit_id": base["visit_id"], "left_at": base["visited_at"] + pd.Timedelta(days=9)})
    found, _ = related("visits", "y", visits=base, ends=ends)
    assert (found["joins"][0]["kind"], found["joins"][0]["as_of"]) == ("lookup", None)
    assert "Warning: 100% of its rows are later than `visited_at`" in found["joins"][0]["text"]
