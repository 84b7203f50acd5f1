"""Workflows that the terminal saves from files, and names that it finds."""

import json
import time
from pathlib import Path
from typing import Any, cast

import pytest

from app.cli.api_client.client import FaultText, LabClient, Refused
from app.cli.workflows.client import WorkflowClient
from app.cli.workflows.requests import create_from_file, list_all, list_runs, list_versions
from app.errors import InvalidInput, NotFound

NOON = "2026-03-01T12:00:00Z"
DATASET_ID = "e7be4109-0248-4fe6-a27e-97481e6ca384"


class ScriptedClient:
    """A service with one dataset and two workflows of one name. `faults`: those of what is sent."""

    def __init__(self, *faults: FaultText) -> None:
        self.faults, self.sent, self.has_one = list(faults), list[Any](), False

    def call(self, method: str, path: str, body: Any = None) -> Any:
        if path.startswith("/datasets"):
            return {"items": [{"id": DATASET_ID, "name": "orders"}]}
        listed = [
            {
                "id": f"{place}0000000-0248-4fe6-a27e-97481e6ca384",
                "name": "big",
                "version": 1,
                "updated_at": NOON,
            }
            for place in (1, 2)
        ]
        if path.endswith("/runs?limit=50"):
            return [{"id": DATASET_ID, "status": "done", "version": 3, "node": "", "created_at": NOON}]
        if path.endswith("/versions?limit=50"):
            return [{"version": 3, "message": "first", "created_at": NOON}]
        if method == "GET":
            return {"items": listed[:1] if self.has_one else listed}
        if self.faults:
            raise Refused("workflow_invalid", "It is wrong.", faults=self.faults)
        self.sent.append(body)
        return {**listed[0], "document": body}


def save(client: ScriptedClient, path: Path, content: object) -> None:
    path.write_text(json.dumps(content))
    create_from_file(WorkflowClient(cast(LabClient, client)), path)


@pytest.mark.parametrize("name", ["orders", "Orders", DATASET_ID])
def test_a_dataset_is_named_by_its_name_or_its_id(tmp_path: Path, name: str) -> None:
    client = ScriptedClient()
    nodes = [{"id": "read", "type": "read_dataset", "config": {"dataset_id": name}}]
    save(client, tmp_path / "big.json", {"nodes": nodes, "edges": []})
    [sent] = client.sent
    assert sent["nodes"][0]["config"]["dataset_id"] == DATASET_ID
    assert sent["name"] == "big"


def test_an_unknown_dataset_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    nodes = [{"id": "read", "type": "read_dataset", "config": {"dataset_id": "sales"}}]
    with pytest.raises(NotFound, match=r"There is no dataset sales. Yours: orders\."):
        save(ScriptedClient(), tmp_path / "big.json", {"nodes": nodes})


def test_every_fault_has_a_line(tmp_path: Path) -> None:
    faults = [FaultText(pointer="/nodes/0", message="a"), FaultText(pointer="/nodes/1", message="b")]
    with pytest.raises(InvalidInput) as refused:
        save(ScriptedClient(*faults), tmp_path / "big.json", {"nodes": []})
    assert refused.value.detail.splitlines() == ["/nodes/0: a", "/nodes/1: b"]


def test_what_is_no_file_or_no_object_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"There is no file .*none\.json"):
        create_from_file(WorkflowClient(cast(LabClient, ScriptedClient())), tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="no object"):
        save(ScriptedClient(), tmp_path / "list.json", [])


def test_workflows_of_one_name_are_told_apart_by_their_ids() -> None:
    with pytest.raises(InvalidInput, match="Give an id: 10000000, 20000000"):
        WorkflowClient(cast(LabClient, ScriptedClient())).find("big")


def test_what_is_no_id_of_a_run_is_refused_with_the_way_to_the_list() -> None:
    with pytest.raises(InvalidInput, match="labcrew workflow runs"):
        WorkflowClient(cast(LabClient, ScriptedClient())).retry("big", None)


def test_lists_show_times_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = ScriptedClient()
    client.has_one = True
    workflows = WorkflowClient(cast(LabClient, client))
    try:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        list_all(workflows)
        list_versions(workflows, "big")
        list_runs(workflows, "big")
    finally:
        monkeypatch.undo()
        time.tzset()
    printed = capsys.readouterr().out.splitlines()
    assert [line.count("2026-03-01 21:00") for line in printed] == [1, 1, 1]
