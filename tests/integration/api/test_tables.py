"""Rows, distributions and figures of tables over the API: of datasets and artifacts, at a rate of their own."""

import csv
import io
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import bokeh_sampledata
import pandas as pd
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from app.db.tables import ArtifactRow, SessionRow

from .conftest import NewUser, User
from .test_size_limits import give

TITANIC = Path(bokeh_sampledata.__file__).parent / "_data" / "titanic_all.csv"
ENDPOINTS = ("query", "summary", "aggregate")


@pytest.fixture
async def source(ada: User) -> dict[str, str]:
    made = await ada.http.post("/datasets", files={"file": ("titanic.csv", TITANIC.read_bytes())})
    return {"dataset_id": made.json()["id"]}


@pytest.fixture(scope="module")
def passengers() -> pd.DataFrame:
    return pd.read_csv(TITANIC)


async def ask(user: User, endpoint: str, **body: Any) -> dict[str, Any]:
    answer = await user.http.post(f"/tables/{endpoint}", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_page_is_sorted_by_keys_and_filtered_by_a_tree(
    ada: User, source: dict[str, str], passengers: pd.DataFrame
) -> None:
    young_or_old = {
        "or": [
            {"column": "age", "comparison": "between", "values": [1, 5]},
            {"and": [
                {"column": "age", "comparison": ">=", "value": 60},
                {"column": "sex", "comparison": "in", "values": ["female"]},
            ]},
        ]
    }  # fmt: skip
    page = await ask(
        ada,
        "query",
        source=source,
        columns=["sex", "age"],
        filter=young_or_old,
        sort=[{"column": "sex"}, {"column": "age", "descending": True}],
        offset=3,
        limit=5,
    )
    frame = passengers.rename(columns=str.lower)
    rows = frame[frame.age.between(1, 5) | ((frame.age >= 60) & (frame.sex == "female"))]
    rows = rows.sort_values(["sex", "age"], ascending=[True, False], kind="stable")
    assert page["rows"] == rows[["sex", "age"]].iloc[3:8].to_numpy().tolist()
    assert (page["matching"], page["total"]) == (len(rows), 1313)
    assert [column["name"] for column in page["columns"]] == ["sex", "age"]


async def test_a_summary_and_figures_are_of_the_filtered_rows(
    ada: User, source: dict[str, str], passengers: pd.DataFrame
) -> None:
    women = {"column": "sex", "value": "female"}
    frame = passengers.rename(columns=str.lower)
    frame = frame[frame.sex == "female"]
    summary = await ask(ada, "summary", source=source, columns=["age", "class"], filter=women, bins=10)
    age, class_ = summary["columns"]
    assert (sum(age["counts"]), age["missing"]) == (frame.age.notna().sum(), frame.age.isna().sum())
    assert {entry["value"]: entry["count"] for entry in class_["top"]} == frame[
        "class"
    ].value_counts().to_dict()
    measures = [{"function": "count"}, {"function": "mean", "column": "survived", "name": "saved"}]
    figures = await ask(
        ada, "aggregate", source=source, groups=[{"column": "class"}], measures=measures, filter=women
    )
    saved = frame.groupby("class").survived.mean()
    assert [[row[0], row[2]] for row in figures["rows"]] == [
        [name, pytest.approx(share)] for name, share in saved.items()
    ]
    assert figures["matching"] == len(frame)


@pytest.mark.parametrize(
    "filter_",
    [
        {"column": "age", "comparison": "between", "values": [1]},
        {"column": "age", "comparison": "in", "value": 1},
        {"column": "age", "comparison": "missing", "value": 1},
        {"column": "age", "comparison": ">"},
        {"and": []},
        {"and": [{"column": "age", "comparison": "missing"}], "or": []},
        {"or": [{"and": [{"column": "age", "value": 1}] * 51}] * 2},
    ],
)
async def test_a_filter_that_means_nothing_is_refused(ada: User, filter_: dict[str, Any]) -> None:
    body = {"source": {"dataset_id": str(uuid4())}, "filter": filter_}
    answer = await ada.http.post("/tables/query", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text


async def test_conditions_are_not_nested_without_end(ada: User) -> None:
    filter_: dict[str, Any] = {"column": "age", "value": 1}
    for _ in range(20):
        filter_ = {"and": [filter_]}
    answer = await ada.http.post(
        "/tables/query", json={"source": {"dataset_id": str(uuid4())}, "filter": filter_}
    )
    assert answer.status_code == 422


async def test_an_unknown_column_is_named(ada: User, source: dict[str, str]) -> None:
    answer = await ada.http.post("/tables/query", json={"source": source, "columns": ["agee"]})
    assert (answer.status_code, answer.json()["code"]) == (422, "column_not_found")
    assert "age" in answer.json()["columns"]


async def _store(app: FastAPI, user: User, frame: pd.DataFrame, **values: Any) -> tuple[UUID, UUID]:
    """Store a frame as an artifact of a session that runs; the ids of both."""
    data = io.BytesIO()
    frame.to_parquet(data)
    blob = await app.state.resources.blobs.put_bytes(data.getvalue())
    session, artifact = uuid4(), uuid4()
    async with app.state.resources.open_uow() as uow:
        common = {"goal": "g", "preferences": {}, "dataset_ids": [], "seed": 1, "graph_version": 1}
        uow.db.add(SessionRow(id=session, owner_id=user.id, **common))
        await uow.db.flush()
        facts = {"kind": "frame", "name": "result", "media_type": "application/vnd.apache.parquet", **values}
        size = {"digest": blob.digest, "size_bytes": blob.size_bytes}
        uow.db.add(ArtifactRow(id=artifact, owner_id=user.id, session_id=session, seq=1, **facts, **size))
    return session, artifact


async def test_an_artifact_is_a_table_with_the_types_of_programs(app: FastAPI, ada: User) -> None:
    frame = pd.DataFrame(
        {
            "small": pd.Series([3, 1, 2], dtype="int8"),
            "half": pd.Series([0.5, 1.5, 2.5], dtype="float32"),
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01"]),
        }
    )
    _, artifact = await _store(app, ada, frame)
    page = await ask(
        ada,
        "query",
        source={"artifact_id": str(artifact)},
        sort=[{"column": "small"}],
        columns=["small", "half"],
    )
    assert page["rows"] == [[1, 1.5], [2, 2.5], [3, 0.5]]
    assert [column["type"] for column in page["columns"]] == ["integer", "number"]
    months = [{"column": "day", "unit": "month"}]
    figures = await ask(ada, "aggregate", source={"artifact_id": str(artifact)}, groups=months)
    assert figures["rows"] == [["2024-01-01T00:00:00", 2], ["2024-02-01T00:00:00", 1]]


async def test_a_locked_hold_out_is_no_table_and_an_opened_one_is_a_look(app: FastAPI, ada: User) -> None:
    frame = pd.DataFrame({"value": [1, 2]})
    session, artifact = await _store(app, ada, frame, kind="holdout", name="holdout")
    body = {"source": {"artifact_id": str(artifact)}}
    for endpoint in ENDPOINTS:
        answer = await ada.http.post(f"/tables/{endpoint}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "artifact_not_found")
    async with app.state.resources.open_uow() as uow:
        ended = update(SessionRow).where(SessionRow.id == session).values(ended_at=SessionRow.created_at)
        await uow.db.execute(ended)
    for endpoint in ENDPOINTS:
        await ask(ada, endpoint, **body)
    looks = await app.state.resources.database.value(
        "SELECT count(*) FROM holdout_looks WHERE session_id = $1", session
    )
    assert looks == 1


async def test_what_is_no_table_or_somebody_elses_is_refused(
    app: FastAPI, ada: User, new_user: NewUser, source: dict[str, str]
) -> None:
    bob = await new_user()
    _, report = await _store(app, ada, pd.DataFrame({"a": [1]}), media_type="text/html")
    for endpoint in ENDPOINTS:
        answer = await bob.http.post(f"/tables/{endpoint}", json={"source": source})
        assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")
        answer = await bob.http.post(f"/tables/{endpoint}", json={"source": {"artifact_id": str(report)}})
        assert (answer.status_code, answer.json()["code"]) == (404, "artifact_not_found")
        answer = await ada.http.post(f"/tables/{endpoint}", json={"source": {"artifact_id": str(report)}})
        assert (answer.status_code, answer.json()["code"]) == (422, "not_a_table")


LONG = "word " * 1_000
FORMULAS = pd.DataFrame(
    {
        "=name": ["=1+1", "+49 30 1", "-5", "@all", LONG, "\n=1+1", "\uff1d1+1"],
        "count": pd.array([-5, 2**53 + 1, 0, 1, None, 2, 3], "Int64"),
    }
)


async def test_an_export_has_whole_cells_and_no_formula_that_a_spreadsheet_would_carry_out(
    app: FastAPI, ada: User, new_user: NewUser
) -> None:
    _, table = await _store(app, ada, FORMULAS)
    answer = await ada.http.get("/tables/csv", params={"artifact_id": str(table)})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert "attachment" in answer.headers["content-disposition"]
    assert list(csv.reader(io.StringIO(answer.text))) == [
        ["'=name", "count"],
        ["'=1+1", "-5"],
        ["'+49 30 1", "9007199254740993"],
        ["-5", "0"],
        ["'@all", "1"],
        [LONG, ""],
        ["'\n=1+1", "2"],
        ["'\uff1d1+1", "3"],
    ]
    tabs = await ada.http.get("/tables/csv", params={"artifact_id": str(table), "separator": "tab"})
    assert tabs.text.splitlines()[1] == "'=1+1\t-5"
    bob = await new_user()
    assert (await bob.http.get("/tables/csv", params={"artifact_id": str(table)})).status_code == 404


async def test_who_scrolls_uses_up_no_requests(app: FastAPI, ada: User, source: dict[str, str]) -> None:
    await give(app, ada, requests="20/hour", views="30/hour")
    pages = [await ada.http.post("/tables/query", json={"source": source, "offset": n}) for n in range(25)]
    pages += [await ada.http.get(f"/datasets/{source['dataset_id']}/preview") for _ in range(10)]
    assert [page.status_code for page in pages] == [200] * 30 + [429] * 5
    assert pages[-1].json()["of"] == "views"
    assert (await ada.http.get("/auth/me")).status_code == 200
