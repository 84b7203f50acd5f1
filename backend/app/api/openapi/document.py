"""The OpenAPI document: problems of each route, tags and security schemes."""

from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from starlette.routing import BaseRoute

from app.api.access.browser_requests import COOKIE
from app.api.access.operation_scopes import scope_of
from app.api.exception_handlers import MEDIA_TYPE, TITLES
from app.api.openapi.answers import require_fields_of_answers
from app.api.openapi.problem_examples import add_examples
from app.api.openapi.streams import REFERENCE, add_schema, add_streamed_schemas
from app.reporting.document.json_form import ReportJson

Responses = dict[int | str, dict[str, Any]]


class FieldErrorView(BaseModel):
    """A field of the request that is not valid."""

    location: str = Field(examples=["body.email"])
    message: str
    kind: str


class ProblemView(BaseModel):
    """A problem document (RFC 9457). Further members by `code`: a limit, similar names, seconds to wait."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:labcrew:problem:session_not_found"])
    title: str
    status: int
    code: str = Field(description="Stable identifier of the problem.")
    detail: str = Field(description="The problem and its remedy, in one or two sentences.")
    request_id: str | None = None
    errors: list[FieldErrorView] | None = None


def problems(*statuses: int) -> Responses:
    """Document the failures of a route."""
    return {
        status: {
            "description": TITLES[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemView"}}},
        }
        for status in statuses
    }


COMMON_RESPONSES = problems(400, 408, 413, 422, 429, 500, 503)

SUMMARY = "Data-science agents that work on a goal and a table: sessions, models, predictions and reports."

TAGS = [
    {"name": "auth", "description": "Accounts, sign-in, tokens and API keys."},
    {"name": "datasets", "description": "Uploaded tables: schema, profile and preview."},
    {"name": "tables", "description": "Rows, distributions and figures by groups of any table of yours."},
    {
        "name": "prices",
        "description": "Price bars of coins, shares and currencies: import, list, summarise.",
    },
    {"name": "sessions", "description": "A crew at work on one goal: ask, watch, answer, cancel, delete."},
    {"name": "chat", "description": "Conversations about your tables: messages, turns, threads, branches."},
    {"name": "runs", "description": "Programs and queries over your tables, each in a sandbox cell."},
    {"name": "workflows", "description": "Saved pipelines: versions, patches and runs."},
    {"name": "jobs", "description": "Prompts of machines, each answered once; also over a Redis queue."},
    {"name": "secrets", "description": "Secrets of workflows by name, and hosts of their requests."},
    {"name": "query plans", "description": "Typed queries as JSON, and their SQL."},
    {"name": "admin", "description": "Accounts and quotas, for admins."},
    {"name": "artifacts", "description": "Files that sessions produced: frames, figures, reports."},
    {"name": "models", "description": "Trained models, and predictions with them."},
    {"name": "health", "description": "For load balancers and monitoring."},
]


def build_document(title: str, version: str, routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """Generate the document of routes, completed with the schemas that they refer to by name."""
    document = get_openapi(title=title, version=version, summary=SUMMARY, routes=routes, tags=TAGS)
    _add_model(document, ProblemView)
    _add_model(document, ReportJson)
    require_fields_of_answers(document)
    # After it: events that were stored by older versions may lack fields with a default.
    add_streamed_schemas(document)
    _summarize_operations(document)
    _add_credentials(document)
    add_examples(document, TITLES, MEDIA_TYPE)
    return document


def _add_model(document: dict[str, Any], model: type[BaseModel]) -> None:
    add_schema(document, model.__name__, model.model_json_schema(ref_template=REFERENCE))


def _summarize_operations(document: dict[str, Any]) -> None:
    """Head each operation with the first sentence of its description instead of the name of its function.

    A list of endpoints shows the summaries alone, where `Start` and `End` tell a reader nothing.
    """
    for methods in document["paths"].values():
        for operation in methods.values():
            first, _, rest = operation.get("description", "").partition(". ")
            if first:
                operation["summary"] = " ".join(first.split()).removesuffix(".")
                operation["description"] = rest.strip() or f"{operation['summary']}."


def _add_credentials(document: dict[str, Any]) -> None:
    """Let each operation with a bearer token also take an API key, with its scope, or a browser's cookie."""
    scheme = {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "An API key of /auth/api_keys.",
    }
    cookie = {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "Set by POST /auth/session. Changes also need the header `X-Labcrew: 1`.",
    }
    document["components"].setdefault("securitySchemes", {}).update(key=scheme, browser=cookie)
    for methods in document["paths"].values():
        for method, operation in methods.items():
            if operation.get("security"):  # none: a secret address opens it
                scope = scope_of(operation["operationId"], method.upper(), operation["tags"])
                keys = [{"key": [scope.value]}] if scope else []
                operation["security"] = [*operation["security"], *keys, {"browser": []}]
                if scope:  # a generated document names statuses in text
                    operation["responses"] |= {
                        str(status): response for status, response in problems(403).items()
                    }
