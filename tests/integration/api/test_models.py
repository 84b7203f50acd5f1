"""Trained models over the real API, predicting in real cells."""

from pathlib import Path
from uuid import UUID, uuid4

import bokeh_sampledata
import pandas as pd
import pytest
from fastapi import FastAPI

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.preparation import split
from app.db.tables import ArtifactRow, SessionRow
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

from .conftest import NewUser, User

TITANIC = Path(bokeh_sampledata.__file__).parent / "_data" / "titanic_all.csv"
ROW = {"name": "Allen, Miss Elisabeth", "class": "1st", "age": 29, "sex": "female"}


@pytest.fixture
async def ada(new_user: NewUser) -> User:
    return await new_user()


def bench(folder: Path, **inputs: Path) -> CellWorkspace:
    folder.mkdir()
    return CellWorkspace(inputs, folder)


@pytest.fixture
async def model_id(app: FastAPI, ada: User, tmp_path: Path) -> UUID:
    """A model of Ada's, fitted on the Titanic."""
    table = tmp_path / "table.parquet"
    pd.read_csv(TITANIC).to_parquet(table)
    locked = bench(tmp_path / "split", table=table)
    facts = split.split_table(locked, {"target": "survived"})
    fitted = bench(tmp_path / "fit", frame=locked.output / "train.parquet")
    fit = train.fit_candidate(
        fitted,
        facts["problem"],
        "LogisticRegression",
        facts["folds"],
        [{"op": "mark_missing", "columns": ["age"]}],
    )
    resources = app.state.resources
    blob = await resources.blobs.put_file(fitted.output / "model.skops")
    async with resources.open_uow() as uow:
        row = ArtifactRow(
            owner_id=ada.id,
            seq=1,
            kind="model",
            name="LogisticRegression",
            media_type="application/vnd.skops",
            digest=blob.digest,
            size_bytes=blob.size_bytes,
            meta={"fit": fit},
        )
        uow.db.add(row)
        await uow.db.flush()
        return row.id


async def test_a_model_says_what_it_takes(ada: User, model_id: UUID) -> None:
    listed = (await ada.http.get("/models")).json()
    assert [model["name"] for model in listed["items"]] == ["LogisticRegression"]
    answer = await ada.http.get(f"/models/{model_id}")
    assert answer.status_code == 200, answer.text
    model = answer.json()
    assert [column["name"] for column in model["schema"]] == ["name", "class", "age", "sex"]
    assert model["problem"]["target"] == "survived"
    assert model["score"] > 0.75


async def test_a_model_predicts_rows_and_refuses_wrong_ones(ada: User, model_id: UUID) -> None:
    path = f"/models/{model_id}/predict"
    answer = await ada.http.post(path, json={"rows": [ROW, {**ROW, "sex": "male", "class": "9th", "tip": 1}]})
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert [row["prediction"] for row in said["predictions"]] == [1, 0]
    assert said["predictions"][0]["probabilities"]["1"] > 0.8
    assert {warning["kind"] for warning in said["warnings"]} == {"extra_column", "unseen_category"}

    missing = await ada.http.post(path, json={"rows": [{"name": "x", "klass": "1st", "age": 3, "sex": "male"}]})
    assert (missing.status_code, missing.json()["code"]) == (422, "missing_columns")
    assert missing.json()["nearest"] == {"class": ["klass"]}
    wrong = await ada.http.post(path, json={"rows": [{**ROW, "age": "old"}], "strict": True})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "wrong_type")
    taken = (await ada.http.post(path, json={"rows": [ROW, {**ROW, "age": "old"}]})).json()
    assert taken["problems"] == [{"row": 1, "column": "age", "value": "old", "taken_as": None}]
    assert len(taken["predictions"]) == 2
    for body in ({}, {"rows": []}, {"rows": [ROW], "dataset_id": str(model_id)}):
        assert (await ada.http.post(path, json=body)).status_code == 422


async def test_a_model_predicts_a_dataset_and_keeps_what_it_said(ada: User, model_id: UUID) -> None:
    sent = await ada.http.post("/datasets", files={"file": ("titanic.csv", TITANIC.read_bytes())})
    answer = await ada.http.post(f"/models/{model_id}/predict", json={"dataset_id": sent.json()["id"]})
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["rows"], len(said["predictions"])) == (1313, 1000)
    kept = await ada.http.get(f"/artifacts/{said['artifact_id']}")
    assert kept.content[:4] == b"PAR1"


async def test_a_model_predicts_a_table_in_a_run_that_can_be_watched_and_fetched(
    app: FastAPI, ada: User, new_user: NewUser, model_id: UUID
) -> None:
    sent = await ada.http.post("/datasets", files={"file": ("titanic.csv", TITANIC.read_bytes())})
    wanted = {"dataset_id": sent.json()["id"], "format": "csv"}
    created = await ada.http.post(f"/models/{model_id}/predictions", json=wanted)
    assert created.status_code == 201, created.text
    run_id = created.json()["id"]
    assert created.headers["location"].endswith(f"/api/v1/runs/{run_id}")
    await WorkerServices.assemble(app.state.resources, pipeline_graphs(app.state.resources)).runner.advance(
        UUID(run_id)
    )

    seen = (await ada.http.get(f"/runs/{run_id}")).json()
    assert (seen["status"], seen["language"]) == ("succeeded", "prediction"), seen
    assert (seen["outcome"]["rows"], len(seen["outcome"]["predictions"])) == (1313, 20)
    [kept] = (await ada.http.get(f"/lab/agent/sessions/{run_id}/artifacts")).json()["items"]
    assert (kept["kind"], kept["name"]) == ("table", "predictions.csv")
    lines = (await ada.http.get(f"/artifacts/{kept['id']}")).text.splitlines()
    assert (lines[0], len(lines)) == ('"prediction","probability_0","probability_1"', 1314)

    beside = await ada.http.post(f"/models/{model_id}/predict", json={**wanted, "keep_columns": True})
    rows = (await ada.http.get(f"/artifacts/{beside.json()['artifact_id']}")).text.splitlines()
    assert rows[0].replace('"', "").endswith("survived,prediction,probability_0,probability_1")
    assert len(rows) == 1314

    bob = await new_user()
    assert (await bob.http.post(f"/models/{model_id}/predictions", json=wanted)).status_code == 404


async def test_an_artifact_is_predicted_only_if_it_is_a_table_of_ones_own(
    ada: User, new_user: NewUser, model_id: UUID
) -> None:
    sent = await ada.http.post("/datasets", files={"file": ("titanic.csv", TITANIC.read_bytes())})
    path = f"/models/{model_id}/predict"
    said = (await ada.http.post(path, json={"dataset_id": sent.json()["id"]})).json()
    again = await ada.http.post(path, json={"artifact_id": said["artifact_id"]})
    assert (again.status_code, again.json()["code"]) == (422, "missing_columns")
    model = await ada.http.post(path, json={"artifact_id": str(model_id)})
    assert (model.status_code, model.json()["code"]) == (422, "not_a_table")
    assert (await ada.http.post(path, json={"artifact_id": str(uuid4())})).status_code == 404


async def test_a_model_of_somebody_else_does_not_exist(ada: User, new_user: NewUser, model_id: UUID) -> None:
    bob = await new_user()
    assert (await bob.http.get(f"/models/{model_id}")).status_code == 404
    assert (await bob.http.post(f"/models/{model_id}/predict", json={"rows": [ROW]})).status_code == 404
    assert (await bob.http.get("/models")).json()["items"] == []


async def test_the_model_that_its_session_chose_shows_its_score_on_the_hold_out(
    app: FastAPI, ada: User, model_id: UUID
) -> None:
    sent = await ada.http.post("/datasets", files={"file": ("passengers.csv", TITANIC.read_bytes())})
    score = {"metric": "roc_auc", "value": 0.84, "low": 0.78, "high": 0.89, "rows": 263}
    async with app.state.resources.open_uow() as uow:
        session = SessionRow(
            owner_id=ada.id,
            graph_version=1,
            goal="Predict who survived",
            preferences={},
            dataset_ids=[UUID(sent.json()["id"])],
            seed=0,
            result={"model": str(model_id), "holdout": score},
        )
        uow.db.add(session)
        await uow.db.flush()
        model = await uow.db.get_one(ArtifactRow, model_id)
        model.session_id = session.id
        fit = model.meta["fit"]
        model.meta = {**model.meta, "fit": {**fit, "learned_rows": 1313}}
    assert (await ada.http.get(f"/models/{model_id}")).json()["rows"] == 1313
    for found in (
        (await ada.http.get(f"/models/{model_id}")).json(),
        (await ada.http.get(f"/models?session_id={session.id}")).json()["items"][0],
    ):
        assert found["chosen"]
        assert (found["goal"], found["datasets"]) == ("Predict who survived", ["passengers"])
        assert found["holdout"] == {"value": 0.84, "low": 0.78, "high": 0.89}
        assert (found["folds"], found["fold_count"]) == (fit["fold_count"], fit["folds"]["count"])
