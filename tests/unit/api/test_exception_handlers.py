import httpx
import pytest

from app.api.exception_handlers import MEDIA_TYPE, STATUS_OF_KIND, TITLES
from app.errors import LabError


def kinds(error: type[LabError] = LabError) -> set[str]:
    return {error.kind}.union(*(kinds(kind) for kind in error.__subclasses__()))


def test_every_kind_of_error_has_a_status_with_a_title() -> None:
    assert kinds() <= STATUS_OF_KIND.keys()
    assert set(STATUS_OF_KIND.values()) <= TITLES.keys()


async def test_a_refusal_is_a_problem_document(client: httpx.AsyncClient) -> None:
    answer = await client.get("/missing", headers={"X-Request-ID": "request-1"})
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.json() == {
        "type": "urn:labcrew:problem:thing_not_found",
        "title": "Not found",
        "status": 404,
        "code": "thing_not_found",
        "detail": "There is no such thing.",
        "request_id": "request-1",
        "nearest": ["thong"],
    }


async def test_facts_do_not_replace_the_standard_members(client: httpx.AsyncClient) -> None:
    assert (await client.get("/taken")).json()["status"] == 409


async def test_a_rate_says_when_to_come_back(client: httpx.AsyncClient) -> None:
    answer = await client.get("/busy")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


async def test_what_nobody_caught_says_nothing_of_the_inside(client: httpx.AsyncClient) -> None:
    answer = await client.get("/broken")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_invalid_input_names_the_field_and_keeps_its_value_to_itself(client: httpx.AsyncClient) -> None:
    answer = await client.post("/echo", json={"password": "s3cr", "extra": 1})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "invalid_request"
    assert {error["location"] for error in problem["errors"]} == {"body.password", "body.extra"}
    assert "s3cr" not in answer.text


@pytest.mark.parametrize("body", ["{", "[1,", "nonsense"])
async def test_broken_json_is_a_bad_request(client: httpx.AsyncClient, body: str) -> None:
    answer = await client.post("/echo", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/nowhere", 404, "route_not_found"), ("PUT", "/echo", 405, "method_not_allowed")],
)
async def test_a_wrong_address_is_a_problem_too(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == MEDIA_TYPE
