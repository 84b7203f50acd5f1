"""Tags of workflows: names of versions, which are moved by compare-and-set and keep what they name."""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI

from app.workflows import service, tags

from .conftest import User
from .test_workflows import content, save  # noqa: F401 - a fixture


@pytest.fixture
async def path(ada: User, content: dict[str, Any]) -> str:  # noqa: F811
    """A workflow of three versions: the k-th keeps k cities."""
    path = f"/workflows/{(await save(ada, content))['id']}"
    for k in (1, 3):
        operations = [{"op": "replace", "path": "/nodes/@largest/config/k", "value": k}]
        assert (await ada.http.post(f"{path}/patch", json={"operations": operations})).status_code == 200
    return path


async def move(user: User, path: str, tag: str, version: int, **body: Any) -> tuple[int, str | None]:
    answer = await user.http.put(f"{path}/tags/{tag}", json={"version": version, **body})
    return answer.status_code, answer.json().get("code")


async def list_tags(user: User, path: str) -> dict[str, int]:
    return {tag["name"]: tag["version"] for tag in (await user.http.get(f"{path}/tags")).json()}


async def test_a_tag_names_a_version_and_moves(ada: User, eve: User, path: str) -> None:
    assert await list_tags(ada, path) == {"main": 3}
    assert await move(ada, path, "production", 1) == (200, None)
    assert await move(ada, path, "production", 2, former_version=1) == (200, None)
    assert await move(ada, path, "production", 3, former_version=1) == (409, "tag_moved")
    assert await move(ada, path, "production", 3, former_version=0) == (409, "tag_moved")
    assert await move(ada, path, "other", 3, former_version=1) == (409, "tag_moved")
    assert await move(ada, path, "other", 3, former_version=0) == (200, None)
    assert await list_tags(ada, path) == {"main": 3, "other": 3, "production": 2}
    assert await move(ada, path, "production", 9) == (404, "version_not_found")
    assert await move(ada, path, "main", 1) == (422, "tag_reserved")
    assert (await ada.http.put(f"{path}/tags/a b", json={"version": 1})).status_code == 422
    assert await move(eve, path, "production", 1) == (404, "workflow_not_found")
    assert (await eve.http.delete(f"{path}/tags/production")).status_code == 404

    view = (await ada.http.get(path)).json()
    assert (view["owner"], view["tags"]) == (ada.email, ["other", "production"])
    versions = (await ada.http.get(f"{path}/versions")).json()
    assert [version["tags"] for version in versions] == [["other"], ["production"], []]
    assert (await ada.http.get(f"{path}/versions/2")).json()["tags"] == ["production"]
    listed = [(await ada.http.get("/workflows", params={"tag": tag})).json() for tag in ("production", "test")]
    assert [(page["total"], len(page["items"])) for page in listed] == [(1, 1), (0, 0)]

    assert (await ada.http.delete(f"{path}/tags/other")).status_code == 204
    assert (await ada.http.delete(f"{path}/tags/other")).json()["code"] == "tag_not_found"
    assert await list_tags(ada, path) == {"main": 3, "production": 2}


async def test_of_two_moves_at_once_one_is_asked_to_look_again(ada: User, path: str) -> None:
    assert await move(ada, path, "production", 1) == (200, None)
    moves = (move(ada, path, "production", 2 + number % 2, former_version=1) for number in range(6))
    assert sorted(status for status, _ in await asyncio.gather(*moves)) == [200, *[409] * 5]


async def test_a_version_with_a_tag_is_kept(ada: User, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_VERSIONS", 1)
    assert await move(ada, path, "production", 2) == (200, None)
    saved = await ada.http.post(f"{path}/restore", json={"to": 1})
    assert saved.status_code == 200, saved.text
    assert [version["version"] for version in (await ada.http.get(f"{path}/versions")).json()] == [4, 2]
    assert (await ada.http.delete(path)).status_code == 204, "a workflow goes with its tags"


async def test_tags_have_a_bound(ada: User, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "MAX_TAGS", 2)
    answers = [await move(ada, path, tag, 1) for tag in ("a", "b", "c", "b")]
    assert answers == [(200, None), (200, None), (429, "too_many_tags"), (200, None)]


async def test_a_run_by_tag_is_of_its_version(app: FastAPI, ada: User, path: str) -> None:
    assert await move(ada, path, "production", 2) == (200, None)
    for tag in ("production", "main"):
        started = await ada.http.post(f"{path}/run", json={"node": "largest", "tag": tag})
        assert started.status_code == 201, started.text
    runs = (await ada.http.get(f"{path}/runs")).json()
    assert [run["version"] for run in runs] == [3, 2]
    missing = await ada.http.post(f"{path}/run", json={"tag": "none"})
    assert (missing.status_code, missing.json()["code"]) == (404, "tag_not_found")
    both = await ada.http.post(f"{path}/run", json={"tag": "main", "version": 1})
    assert both.status_code == 422
