"""Data of earlier versions in this one: restored, verified, downloaded, predicted with, and resumed.

Each folder `tests/data/labcrew-<version>` is a backup that this version wrote, with what its clients received;
`python -m tests.stored.build` writes one. The public API and the command line are all that is used here.
"""

import json
import lzma
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import run_command, start, stop
from tests.stored import tables
from tests.stored.client import MEDIA_TYPES, Client
from tests.stored.expected import digests, flattened

BACKUPS = sorted((Path(__file__).parents[1] / "data").glob("labcrew-*"))
RELATIVE_TOLERANCE = 1e-6
"""Of predictions: linear algebra rounds differently on other processors."""
KEEP_ALL = json.dumps({"runs_days": 0, "events_days": 0, "audit_days": 0})
"""By default runs and events of this age are deleted an hour after the service has started."""

MAX_REPEATS = 10
"""Of an approval: a study has a few rounds of training."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Restored:
    home: Path
    client: Client
    expected: dict[str, Any]

    @property
    def studies(self) -> dict[str, Any]:
        studies: dict[str, Any] = self.expected["studies"]
        return studies


@pytest.fixture(scope="module", params=BACKUPS, ids=lambda folder: folder.name)
def restored(request: pytest.FixtureRequest) -> Iterator[Restored]:
    """A running service on the restored database. Training asks for approval, as it did before the backup."""
    with tempfile.TemporaryDirectory(prefix="labcrew-e2e-") as name:
        folder = Path(name)
        expected = json.loads((request.param / "expected.json").read_text())
        home, tools = folder / "home", folder / "tools.json"
        tools.write_text(json.dumps({"approve": expected["approved_tools"]}))
        restore = run_command(home, "restore", str(unpacked(request.param, folder / "backup")))
        assert restore.returncode == 0, restore.stderr
        up = start(home, TOOLS_CONFIG=str(tools), RETENTION=KEEP_ALL)
        try:
            key = run_command(home, "key", "create", expected["account"])
            assert key.returncode == 0, key.stderr
            with closing(Client(up.api, key.stdout.strip())) as client:
                yield Restored(home, client, expected)
        finally:
            stop(up)


def unpacked(stored: Path, backup: Path) -> Path:
    shutil.copytree(stored, backup)
    (backup / "database.dump").write_bytes(lzma.decompress((stored / "database.dump.xz").read_bytes()))
    return backup


def test_there_is_a_backup_of_an_earlier_version() -> None:
    assert BACKUPS


def test_reports_verify_with_their_former_number_of_claims(restored: Restored) -> None:
    for name, study in restored.studies.items():
        assert restored.client.standing(study["id"]).succeeded, name
        assert restored.client.verification(study["id"]) == (study["checked_claims"], []), name
        assert restored.client.headline(study["id"]) == study["headline"], name
        assert restored.client.step_count(study["id"]) == study["steps"], name


def test_artifacts_are_downloaded_byte_for_byte(restored: Restored) -> None:
    for each in (*restored.studies.values(), *restored.expected["runs"]):
        artifacts = each["artifacts"]
        assert artifacts.items() <= digests(restored.client.artifacts(each["id"])).items()
        for artifact, digest in artifacts.items():
            assert sha256(restored.client.download(artifact)).hexdigest() == digest, artifact


def test_archives_pass_the_offline_check_and_notebooks_open(restored: Restored, tmp_path: Path) -> None:
    for name, study in restored.studies.items():
        notebook = restored.client.part(study["id"], "notebook")
        assert notebook.headers["Content-Type"].startswith(MEDIA_TYPES["notebook"])
        assert notebook.json()["cells"], name
        archive = tmp_path / f"{study['id']}.zip"
        archive.write_bytes(restored.client.part(study["id"], "bundle").content)
        verify = run_command(restored.home, "verify", str(archive))
        assert verify.returncode == 0, (name, verify.stdout, verify.stderr)


def test_every_model_predicts_as_before(restored: Restored) -> None:
    for name, study in restored.studies.items():
        models = study["predictions"]
        assert restored.client.models(study["id"]) == study["estimators"], name
        for model, expected in models.items():
            predictions = flattened(restored.client.predict_dataset(model, study["dataset"]))
            assert_close(predictions, expected, f"{name}: {study['estimators'][model]}")


def test_rows_are_predicted_as_their_table_is(restored: Restored) -> None:
    study = restored.studies["classification"]
    model, expected = next(reversed(study["predictions"].items()))
    predictions = flattened(restored.client.predict_rows(model, tables.new_customers()))
    assert_close(predictions, expected, study["estimators"][model])


def test_runs_are_read(restored: Restored) -> None:
    for run in restored.expected["runs"]:
        assert restored.client.outcome(run["id"]) == run["outcome"]


def test_datasets_and_prices_are_read(restored: Restored) -> None:
    for dataset, rows in restored.expected["datasets"].items():
        assert restored.client.preview(dataset)[: len(rows)] == rows
    coins = restored.expected["prices"]["coins"]
    assert restored.client.coins() == coins
    statistics = restored.client.price_statistics(coins[0][0])
    assert statistics == pytest.approx(restored.expected["prices"]["statistics"])


def test_waiting_sessions_are_answered_and_complete(restored: Restored) -> None:
    """All are resumed before the first is awaited; their former artifacts stay."""
    client, waiting = restored.client, restored.expected["waiting"]
    for session in waiting:
        standing = client.standing(session["id"])
        assert (standing.kind, standing.detail) == (session["kind"], session["question"])
        client.answer(session["id"], str(standing.question), session["answers"][0])
    for session in waiting:
        answer_further_questions(client, session)
    for session in waiting:
        standing = client.wait_until_settled(session["id"])
        assert standing.succeeded, (session["question"], standing)
        checked, mismatches = client.verification(session["id"])
        assert checked
        assert mismatches == []
        assert client.step_count(session["id"]) > session["steps"]
        assert session["artifacts"].items() <= digests(client.artifacts(session["id"])).items()


def answer_further_questions(client: Client, session: dict[str, Any]) -> None:
    """With the further answers of the session, the last one repeated."""
    *_, last = answers = session["answers"]
    for answer in (*answers[1:], *[last] * MAX_REPEATS):
        standing = client.wait_until_settled(session["id"])
        if not standing.question:
            return
        client.answer(session["id"], standing.question, answer)
    pytest.fail(f"The session asks on and on: {standing.detail}")


def assert_close(predictions: list[list[Any]], expected: list[list[Any]], model: str) -> None:
    assert [len(row) for row in predictions] == [len(row) for row in expected], model
    for row, expected_row in zip(predictions, expected, strict=True):
        for value, expected_value in zip(row, expected_row, strict=True):
            assert value == close_to(expected_value), (model, row, expected_row)


def close_to(value: Any) -> Any:
    return pytest.approx(value, rel=RELATIVE_TOLERANCE) if isinstance(value, float) else value
