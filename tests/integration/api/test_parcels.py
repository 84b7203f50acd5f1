"""Taking a session along over the real API: notebook, script, archive, and its report checked again."""

import io
import json
import zipfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from app.cli.sessions.archive_check import check_archive
from app.db.tables import ArtifactRow, CallRow, DatasetRow, SessionRow, StepRow
from app.errors import InvalidInput
from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import build_draft, compose
from app.reporting.evidence import RecordedFact

from .conftest import User

RECORDED = Path(__file__).parents[2] / "unit" / "reporting" / "recorded" / "titanic.json"
TABLE = b"PAR1 the table" * 100_000
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "# Again\u2028import os"},
        {"cell_type": "code", "source": "found = 1 + 1"},
    ]
}
NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)

Make = Callable[..., Awaitable[UUID]]


@pytest.fixture
def calls() -> list[RecordedCall]:
    made = [RecordedCall(**call) for call in json.loads(RECORDED.read_text())]
    session = {"id": "s", "goal": "g", "seed": 7, "created_at": NOW.isoformat()}
    seq = made[-1].seq + 1
    own = RecordedCall(seq, "reporting", "tool:9.0", "generate_summary", "reporter", None, {"session": session})
    return [*made, own]


@pytest.fixture
def make(app: FastAPI, ada: User, calls: list[RecordedCall]) -> Make:
    """A session of Ada's as it lies in the database when it has ended."""
    resources = app.state.resources

    async def session(ended: bool = True, altered: bool = False) -> UUID:
        session_id, dataset_id = uuid4(), uuid4()
        last = calls[-1]
        report = compose(build_draft(calls, RecordedFact(last, "/session", last.result["session"])))
        document = report.to_json()
        if altered:
            document["claims"][0]["value"] = "RandomForest"
        files: list[tuple[str, str, bytes]] = [
            ("report", "report.json", b"old"),
            ("report", "report.json", json.dumps(document).encode()),
            ("report", "report.html", html.render(report.lay_out(), {}).encode()),
            ("report", "report.md", markdown.render(report.lay_out()).encode()),
            ("figure", "roc.png", b"\x89PNG"),
            ("model", "XGBoost", b"model"),
            ("model", "xgboost", b"another"),
            ("frame", "data", TABLE),
            ("frame", "train", b"train"),
            ("holdout", "holdout", b"held"),
            ("notebook", "notebook.ipynb", json.dumps(NOTEBOOK).encode()),
            ("file", "../../etc/passwd", b"mine"),
        ]
        rows: list[Any] = []
        for place, (kind, name, data) in enumerate(files):
            blob = await resources.blobs.put_bytes(data)
            at = NOW.replace(minute=place)
            rows.append(
                ArtifactRow(
                    id=uuid4(),
                    owner_id=ada.id,
                    session_id=session_id,
                    seq=place,
                    kind=kind,
                    name=name,
                    media_type="application/octet-stream",
                    digest=blob.digest,
                    size_bytes=blob.size_bytes,
                    created_at=at,
                )
            )
        table = await resources.blobs.put_bytes(TABLE)
        rows.append(
            DatasetRow(
                id=dataset_id,
                owner_id=ada.id,
                name="Titanic (1912)",
                filename="t.csv",
                note="Ask Kim about the fares.",
                digest=table.digest,
                size_bytes=table.size_bytes,
                source_digest=table.digest,
                source_size_bytes=1,
                rows=1,
                columns=[],
                format={},
                profile={},
            )
        )
        nodes = {call.seq: call.node for call in calls}
        rows += [
            StepRow(session_id=session_id, seq=seq, node=node, update={}, fence=1, started_at=NOW)
            for seq, node in nodes.items()
        ]
        rows += [
            CallRow(
                session_id=session_id,
                seq=call.seq,
                key=call.key,
                kind=call.kind,
                name=call.tool,
                agent=call.agent,
                request_digest="d",
                request=call.request,
                result=call.result,
                failed=call.failed,
                fence=1,
                started_at=NOW,
                duration_ms=1.0,
            )
            for call in calls
        ]
        async with resources.open_uow() as uow:
            uow.db.add(
                SessionRow(
                    id=session_id,
                    owner_id=ada.id,
                    goal="Predict it.",
                    preferences={},
                    dataset_ids=[dataset_id],
                    seed=7,
                    graph_version=1,
                    status="completed" if ended else "running",
                    ended_at=NOW if ended else None,
                    last_seq=max(nodes),
                )
            )
            await uow.db.flush()
            uow.db.add_all(rows)
        return session_id

    return session


async def test_the_archive_holds_everything_and_its_manifest_proves_each_file(
    ada: User, make: Make, calls: list[RecordedCall]
) -> None:
    session_id = await make()

    answer = await ada.http.get(f"/lab/agent/sessions/{session_id}/bundle")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert f"labcrew-{session_id}.zip" in answer.headers["content-disposition"]
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    names = set(archive.namelist())
    assert names >= {
        "README.txt",
        "report/report.html",
        "report/report.md",
        "report/report.json",
        "report/roc.png",
        "models/XGBoost.skops",
        "models/xgboost-2.skops",
        "data/titanic_1912.parquet",
        "data/train.parquet",
        "data/holdout.parquet",
        "notebook.ipynb",
        "session.py",
        "journal.jsonl",
        "audit.jsonl",
        "manifest.json",
    }
    assert "data/data.parquet" not in names, "the table as it came is there once"
    assert not [name for name in names if ".." in name.split("/") or name.startswith("/")]
    assert archive.read("report/report.json") != b"old"
    manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["session"], manifest["seed"]) == (str(session_id), 7)
    assert {each["path"] for each in manifest["files"]} == names - {"manifest.json"}
    for each in manifest["files"]:
        assert sha256(archive.read(each["path"])).hexdigest() == each["sha256"]
    (table,) = [each for each in manifest["files"] if each["path"] == "data/titanic_1912.parquet"]
    assert table["note"] == "Ask Kim about the fares."
    lines = [json.loads(line) for line in archive.read("journal.jsonl").splitlines()]
    assert [RecordedCall(**line).result for line in lines] == [call.result for call in calls]
    assert archive.read("session.py").decode() == "# # Again\n# import os\n\nfound = 1 + 1\n"


async def test_an_archive_with_the_hold_out_counts_as_a_download_of_it_once(
    app: FastAPI, ada: User, make: Make
) -> None:
    session_id = await make()
    for _ in range(2):
        assert (await ada.http.get(f"/lab/agent/sessions/{session_id}/bundle")).status_code == 200
        looks = await app.state.resources.database.rows("select session_id, kind, number from holdout_looks")
        assert [tuple(look.values()) for look in looks] == [(session_id, "download", 1)]


async def test_an_archive_is_checked_without_any_service(ada: User, make: Make, tmp_path: Path) -> None:
    sent = (await ada.http.get(f"/lab/agent/sessions/{await make()}/bundle")).content
    whole, altered = tmp_path / "whole.zip", tmp_path / "altered.zip"
    whole.write_bytes(sent)
    with zipfile.ZipFile(io.BytesIO(sent)) as source, zipfile.ZipFile(altered, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(
                name, data.replace(b"LogisticRegression", b"RandomForest") if name.endswith(".md") else data
            )
        target.writestr("extra.txt", "x")

    assert check_archive(whole).passes
    assert check_archive(whole).checked > 50
    places = [mismatch.where for mismatch in check_archive(altered).mismatches]
    assert places[:2] == ["report/report.md", "extra.txt"]
    assert "markdown" in places
    (tmp_path / "none.zip").write_bytes(b"PK")
    with pytest.raises(InvalidInput, match="no archive of a session"):
        check_archive(tmp_path / "none.zip")


async def test_a_session_that_runs_is_not_taken_along(ada: User, make: Make) -> None:
    answer = await ada.http.get(f"/lab/agent/sessions/{await make(ended=False)}/bundle")

    assert (answer.status_code, answer.json()["code"]) == (409, "session_not_ended")


async def test_the_notebook_comes_in_both_formats(ada: User, make: Make) -> None:
    path = f"/lab/agent/sessions/{await make()}/notebook"

    notebook, script = await ada.http.get(path), await ada.http.get(path, params={"format": "script"})

    assert notebook.json() == NOTEBOOK
    assert notebook.headers["content-disposition"].startswith("attachment")
    assert script.headers["content-type"].startswith("text/x-python")
    assert script.text.endswith("found = 1 + 1\n")
    wrong = await ada.http.get(path, params={"format": "pdf"})
    assert wrong.status_code == 422


async def test_a_report_is_read_again_from_its_journal(ada: User, make: Make) -> None:
    honest, altered = await make(), await make(altered=True)

    good = (await ada.http.get(f"/lab/agent/sessions/{honest}/report/verification")).json()
    bad = (await ada.http.get(f"/lab/agent/sessions/{altered}/report/verification")).json()

    assert good["passes"], good["mismatches"]
    assert good["checked_claims"] > 50
    assert not bad["passes"]
    assert bad["mismatches"][0]["location"] == "c1"
    assert "RandomForest" in bad["mismatches"][0]["problem"]


@pytest.mark.parametrize("what", ["bundle", "notebook", "report/verification"])
async def test_nobody_else_takes_a_session_along(what: str, ada: User, eve: User, make: Make) -> None:
    path = f"/lab/agent/sessions/{await make()}/{what}"

    refused = await eve.http.get(path)

    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
    assert (await ada.http.get(path)).status_code == 200


async def test_a_session_without_notebook_or_report_says_so(ada: User, app: FastAPI) -> None:
    session_id = uuid4()
    async with app.state.resources.open_uow() as uow:
        uow.db.add(
            SessionRow(
                id=session_id,
                owner_id=ada.id,
                goal="g",
                preferences={},
                dataset_ids=[],
                seed=1,
                graph_version=1,
                status="failed",
                ended_at=NOW,
            )
        )
    answers = [
        await ada.http.get(f"/lab/agent/sessions/{session_id}/{what}")
        for what in ("notebook", "report/verification", "bundle")
    ]

    assert [answer.json()["code"] for answer in answers[:2]] == ["notebook_not_found", "report_not_found"]
    names = zipfile.ZipFile(io.BytesIO(answers[2].content)).namelist()
    assert names == ["README.txt", "journal.jsonl", "audit.jsonl", "manifest.json"]
