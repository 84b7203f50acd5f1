"""Readings over the real API: stored, described, corrected, and held against models trained before."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from fastapi import FastAPI

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.preparation import split
from app.datasets.session_datasets import SessionDatasets
from app.db.tables import ArtifactRow, SessionRow

from .conftest import User

LINES = [f"{n % 12 + 1:02}/{n % 11 + 1:02}/2010;{10 + n}.{n * 37 % 1000:03};{3 * n + 1},25" for n in range(80)]
CSV = "\n".join(["tag;umsatz;ziel", *LINES]) + "\n"


async def upload(user: User) -> dict[str, Any]:
    answer = await user.http.post("/datasets", files={"file": ("sales.csv", CSV.encode())})
    assert answer.status_code == 201, answer.text
    dataset: dict[str, Any] = answer.json()
    return dataset


def column(reading: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in reading["columns"] if entry["column"] == name)


async def test_a_dataset_describes_its_reading_with_examples(ada: User) -> None:
    dataset = await upload(ada)
    schema = (await ada.http.get(f"/datasets/{dataset['id']}/schema")).json()
    assert schema["reading"] == dataset["reading"]
    assert column(schema["reading"], "umsatz")["examples"][0] == {"cell": "10.000", "value": 10000}
    assert column(schema["reading"], "umsatz")["alternatives"][0]["choice"] == "decimal_point"
    assert column(schema["reading"], "tag")["confidence"] <= 0.5


async def test_a_correction_converts_the_table_for_later_sessions_only(app: FastAPI, ada: User) -> None:
    dataset = await upload(ada)
    open_uow, ids = app.state.resources.open_uow, [UUID(dataset["id"])]
    session = await store_session(app, ada, ids)
    before = await SessionDatasets(open_uow, ada.id, ids, session.created_at).get("sales")
    path = f"/datasets/{dataset['id']}/schema"
    answer = await ada.http.patch(path, json={"columns": {"tag": "day_first", "umsatz": "decimal_point"}})
    assert answer.status_code == 200, answer.text
    assert column(answer.json()["reading"], "umsatz")["chosen_by"] == "user"
    kinds = {entry["name"]: entry["type"] for entry in answer.json()["columns"]}
    assert (kinds["tag"], kinds["umsatz"]) == ("datetime", "number")
    first = (await ada.http.get(f"/datasets/{dataset['id']}/preview?limit=2")).json()["rows"]
    assert [row[1] for row in first] == [10.0, 11.037]
    assert await SessionDatasets(open_uow, ada.id, ids, session.created_at).get("sales") == before
    after = await SessionDatasets(open_uow, ada.id, ids).get("sales")
    assert after.digest != before.digest

    wrong = await ada.http.patch(path, json={"columns": {"nothing": "number"}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "unknown_column")
    unknown = await ada.http.patch(f"/datasets/{uuid4()}/schema", json={"columns": {"tag": "text"}})
    assert unknown.status_code == 404


async def test_a_model_of_before_answers_only_as_trained(app: FastAPI, ada: User, tmp_path: Path) -> None:
    dataset = await upload(ada)
    model = await train_model(app, ada, UUID(dataset["id"]), tmp_path)
    body = {"rows": [{"tag": "03.06.2010", "umsatz": "20.000"}]}
    path = f"/models/{model}/predict"
    assert (await ada.http.post(path, json=body)).status_code == 200
    await ada.http.patch(f"/datasets/{dataset['id']}/schema", json={"columns": {"tag": "day_first"}})
    refused = await ada.http.post(path, json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "reading_changed")
    table = await ada.http.post(f"/models/{model}/predictions", json={"dataset_id": dataset["id"]})
    assert (table.status_code, table.json()["code"]) == (409, "reading_changed")
    assert (await ada.http.post(f"{path}?as_trained=true", json=body)).status_code == 200


async def store_session(app: FastAPI, user: User, dataset_ids: list[UUID]) -> SessionRow:
    async with app.state.resources.open_uow() as uow:
        row = SessionRow(
            owner_id=user.id,
            goal="predict ziel",
            graph="pipeline",
            dataset_ids=dataset_ids,
            preferences={},
            seed=0,
        )
        uow.db.add(row)
        await uow.db.flush()
        await uow.db.refresh(row)
    return row


async def train_model(app: FastAPI, user: User, dataset_id: UUID, folder: Path) -> UUID:
    """A model of a session over the dataset, fitted on its stored table and reading."""
    session = await store_session(app, user, [dataset_id])
    resources = app.state.resources
    ref = await SessionDatasets(resources.open_uow, user.id, [dataset_id]).get("sales")
    table = folder / "table.parquet"
    table.write_bytes(b"".join([piece async for piece in resources.blobs.open(ref.digest)]))
    for name in ("split", "fit"):
        (folder / name).mkdir()
    facts: Any = split.split_table(
        CellWorkspace({"table": table}, folder / "split"), {"target": "ziel"}, readings=ref.reading.parsers()
    )
    fitted = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit")
    recipe = [{"op": "parse_dates", "columns": ["tag"], "parts": ["month"]}]
    fit: Any = train.fit_candidate(fitted, facts["problem"], "LinearRegression", facts["folds"], recipe)
    blob = await resources.blobs.put_file(folder / "fit" / "model.skops")
    async with resources.open_uow() as uow:
        row = ArtifactRow(
            owner_id=user.id,
            session_id=session.id,
            seq=1,
            kind="model",
            name="LinearRegression",
            media_type="application/vnd.skops",
            digest=blob.digest,
            size_bytes=blob.size_bytes,
            meta={"fit": fit},
        )
        uow.db.add(row)
        await uow.db.flush()
        return row.id


async def test_a_later_file_of_the_same_kind_is_read_as_the_earlier_one(ada: User) -> None:
    first = await upload(ada)
    correction = {"columns": {"tag": "day_first"}}
    await ada.http.patch(f"/datasets/{first['id']}/schema", json=correction)
    text = "tag;umsatz;ziel\n03/06/2010;1.500;7\n04/02/2010;2.250;8\n"
    answer = await ada.http.post("/datasets", files={"file": ("june.csv", text.encode())})
    assert answer.status_code == 201, answer.text
    later = answer.json()
    assert {entry["name"]: entry["type"] for entry in later["columns"]}["tag"] == "datetime"
    assert column(later["reading"], "umsatz")["chosen_by"] == "earlier_file"
    rows = (await ada.http.get(f"/datasets/{later['id']}/preview")).json()["rows"]
    assert [row[:2] for row in rows] == [["2010-06-03T00:00:00", 1500.0], ["2010-02-04T00:00:00", 2250.0]]
