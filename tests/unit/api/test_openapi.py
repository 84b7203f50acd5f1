"""The API's description of itself keeps what it promises."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from app.api.openapi.document import TAGS
from app.api.paths import PREFIX
from app.main import create_app
from app.sessions.events.events import Durable, Live
from app.settings import load_settings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(load_settings(_env_file=None, labcrew_home=Path("unused"))).openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    if isinstance(value, list):
        return set().union(*map(references, value))
    return set()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= schemas


def test_every_path_is_of_this_version(document: dict[str, Any]) -> None:
    assert all(path.startswith(f"{PREFIX}/") for path in document["paths"])


def test_operations_have_names_tags_and_a_sentence(operations: list[dict[str, Any]]) -> None:
    ids = [operation["operationId"] for operation in operations]
    assert len(set(ids)) == len(ids)
    known = {tag["name"] for tag in TAGS}
    assert {tag for operation in operations for tag in operation["tags"]} <= known
    # FastAPI makes summaries of the names of functions: none of these is left.
    named = [
        one["operationId"]
        for one in operations
        if one["summary"] == one["operationId"].replace("_", " ").title()
    ]
    assert named == []
    assert [one["operationId"] for one in operations if not one.get("description")] == []


def test_summaries_are_the_first_sentences_of_descriptions(document: dict[str, Any]) -> None:
    sign_in = document["paths"][f"{PREFIX}/auth/session"]["post"]
    assert sign_in["summary"] == "Sign a browser in"
    assert sign_in["description"].startswith("The answer sets an httpOnly cookie")


def test_every_failure_is_a_problem_document(operations: list[dict[str, Any]]) -> None:
    wrong = [
        (operation["operationId"], status)
        for operation in operations
        for status, answer in operation["responses"].items()
        if int(status) >= 400
        and operation["operationId"] != "readyz"
        and list(answer["content"]) != ["application/problem+json"]
    ]
    assert wrong == []


def test_what_needs_a_credential_says_401(operations: list[dict[str, Any]]) -> None:
    assert [
        one["operationId"] for one in operations if one.get("security") and "401" not in one["responses"]
    ] == []


def test_no_body_takes_unknown_fields(document: dict[str, Any], operations: list[dict[str, Any]]) -> None:
    schemas = document["components"]["schemas"]
    bodies = {
        name.rpartition("/")[2]
        for operation in operations
        if "application/json" in operation.get("requestBody", {}).get("content", {})
        for name in references(operation["requestBody"])
    }
    assert len(bodies) >= 6
    assert [name for name in bodies if schemas[name].get("additionalProperties") is not False] == []


def test_every_text_and_list_that_is_sent_has_a_limit(
    document: dict[str, Any], operations: list[dict[str, Any]]
) -> None:
    schemas = document["components"]["schemas"]
    wrong = []
    for operation in operations:
        for name in references(operation.get("requestBody")):
            for field, schema in schemas[name.rpartition("/")[2]].get("properties", {}).items():
                wrong += [f"{name}.{field}" for part in variants(schema) if unbounded(part)]
    assert wrong == []


def variants(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for each in schema.get("anyOf", [schema]) for part in (each, each.get("items", {}))]


def unbounded(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    closed = "enum" in schema or "const" in schema or schema.get("format") in {"uuid", "date-time", "binary"}
    return (kind == "string" and "maxLength" not in schema and not closed) or (
        kind == "array" and "maxItems" not in schema
    )


def test_each_kind_of_event_is_described_as_it_is_received(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    kinds = schemas["SessionEvent"]["discriminator"]["mapping"]
    assert set(kinds) == {event.model_fields["kind"].default for event in (*get_args(Durable), *get_args(Live))}
    for event in (*get_args(Durable), *get_args(Live)):
        received = schemas[event.__name__]
        assert "created_at" in received["required"]
        assert ("seq" in received["required"]) == (event in get_args(Durable))
        assert "additionalProperties" not in received


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        ("ResultSummary", ["leaderboard", "holdout", "metrics", "importances", "problem", "report", "drivers"]),
        ("ProfileView", ["columns"]),
        ("QuestionView", ["about"]),
        ("ModelDetail", ["problem", "recipe"]),
        ("ForkView", ["at", "change"]),
        ("ComparedSession", ["holdout", "leaderboard"]),
        ("TurnView", ["plan"]),
    ],
)
def test_parts_that_the_page_draws_have_a_schema(
    document: dict[str, Any], schema: str, fields: list[str]
) -> None:
    described = document["components"]["schemas"][schema]
    assert [field for field in fields if not references(described["properties"][field])] == []
    assert set(fields) <= {*described["required"], "plan"}


def test_every_stream_says_what_it_consists_of(operations: list[dict[str, Any]]) -> None:
    streams = [
        (operation["operationId"], media_type, part)
        for operation in operations
        for answer in operation["responses"].values()
        for media_type, part in answer.get("content", {}).items()
        if media_type in ("text/event-stream", "application/x-ndjson")
    ]
    assert len(streams) == 6
    assert [name for name, _, part in streams if not references(part.get("itemSchema"))] == []


def test_no_name_comes_twice(document: dict[str, Any]) -> None:
    """A status as a number and again as text is one name twice in JSON, and browsers show nothing then."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice.extend(name for name in set(names) if names.count(name) > 1)
        return dict(pairs)

    json.loads(json.dumps(document), object_pairs_hook=once)
    assert not twice
