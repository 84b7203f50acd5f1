"""The failures that the OpenAPI document shows are those that the service answers."""

import re
from typing import Any

import pytest
from fastapi import FastAPI

from app.api.openapi.problem_examples import EXAMPLE_ID

from .conftest import User

MEDIA_TYPE = "application/problem+json"
WITHOUT_BODY = ("get", "delete")


def addresses(app: FastAPI, suffix: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(method, path, operation) of operations without a body whose path has ids alone."""
    return [
        (method, path, operation)
        for path, operations in app.openapi()["paths"].items()
        for method, operation in operations.items()
        if method in WITHOUT_BODY and re.search(r"\{", path) and not re.search(r"\{\w+(?<!_id)\}", path)
        if not path.endswith(suffix)
    ]


def example_of(operation: dict[str, Any], status: int) -> dict[str, Any]:
    example: dict[str, Any] = operation["responses"][str(status)]["content"][MEDIA_TYPE]["example"]
    return example


async def test_what_is_not_there_is_answered_as_the_document_shows(app: FastAPI, ada: User) -> None:
    for method, path, operation in addresses(app, "/events"):
        if "/admin/" in path:
            continue
        address = re.sub(r"\{[^}]*\}", EXAMPLE_ID, path).removeprefix("/api/v1")
        answer = await ada.http.request(method, address)
        example = example_of(operation, 404)
        assert answer.json() | {"request_id": example["request_id"]} == example, path


async def test_an_id_that_is_none_is_answered_as_the_document_shows(app: FastAPI, ada: User) -> None:
    for method, path, operation in addresses(app, "/events"):
        schemas = [field["schema"] for field in operation["parameters"] if field["in"] == "path"]
        if len(schemas) > 1 or schemas[0].get("format") != "uuid" or "/admin/" in path:
            continue
        answer = await ada.http.request(method, re.sub(r"\{[^}]*\}", "x", path).removeprefix("/api/v1"))
        example = example_of(operation, 422)
        assert answer.json()["errors"][0]["location"] == example["errors"][0]["location"], path
        assert answer.json()["code"] == example["code"]


@pytest.mark.parametrize("path", ["/auth/me", "/runs"])
async def test_who_is_not_signed_in_is_answered_as_the_document_shows(
    app: FastAPI, ada: User, path: str
) -> None:
    operation = app.openapi()["paths"][f"/api/v1{path}"]["get"]
    del ada.http.headers["Authorization"]
    answer = await ada.http.get(path)
    example = example_of(operation, 401)
    assert answer.json() | {"request_id": example["request_id"]} == example


async def test_examples_of_a_document_are_its_own(app: FastAPI) -> None:
    for operations in app.openapi()["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get(MEDIA_TYPE, {})
                if example := content.get("example"):
                    assert example["status"] == int(status)
                    assert example["type"].endswith(example["code"])
