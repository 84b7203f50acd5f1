"""Every failure as problem+json (RFC 9457) with a stable `code`."""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException

from app.db.pool import is_away
from app.errors import InvalidInput, LabError, Unauthorized
from app.observability.metrics.edge import REFUSALS

log = structlog.get_logger(__name__)

STATUS_OF_KIND: dict[str, int] = {
    "invalid": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "too_many": 429,
    "unavailable": 503,
}

TITLES: dict[int, str] = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    416: "Range not satisfiable",
    422: "Invalid input",
    429: "Too many requests",
    431: "Header too large",
    500: "Internal error",
    503: "Not available now",
}

_CODES: dict[int, str] = {
    404: "route_not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "body_too_large",
}

MEDIA_TYPE = "application/problem+json"


class ProblemResponse(JSONResponse):
    media_type = MEDIA_TYPE


def problem(
    status: int,
    code: str,
    detail: str,
    request_id: str | None = None,
    facts: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> ProblemResponse:
    """`facts` become members of the document; they cannot replace the standard ones."""
    document = {
        **(facts or {}),
        "type": f"urn:labcrew:problem:{code}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": request_id,
    }
    return ProblemResponse(document, status, headers=dict(headers or {}))


def problem_of(error: LabError, request_id: str | None = None) -> ProblemResponse:
    status = STATUS_OF_KIND[error.kind]
    headers = {}
    if status == 429:
        REFUSALS.labels(error.facts.get("of", error.code)).inc()
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if "retry_after_s" in error.facts:
        headers["Retry-After"] = str(error.facts["retry_after_s"])
    return problem(status, error.code, error.detail, request_id, error.facts, headers)


def unknown_problem(request_id: str | None) -> ProblemResponse:
    return problem(
        500,
        "internal_error",
        "Something went wrong on our side. The request id finds it in the log.",
        request_id,
    )


MAX_FAULTS = 50
"""Of one request. A megabyte can hold 100,000 unknown fields, each with an entry larger than itself."""
MAX_PLACE = 200
"""Characters of a place in the body: an unknown field's name is as long as its sender likes."""


def faults(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Where and why, without the value: it may be a password."""
    return [
        {
            "where": ".".join(str(part) for part in error["loc"])[:MAX_PLACE],
            "why": error["msg"],
            "kind": error["type"],
        }
        for error in errors[:MAX_FAULTS]
    ]


def _request_id(request: Request) -> str | None:
    return request.scope.get("request_id")


async def _lab_error(request: Request, error: LabError) -> ProblemResponse:
    return problem_of(error, _request_id(request))


async def _invalid(request: Request, error: RequestValidationError) -> ProblemResponse:
    found = faults(error.errors())
    if found and found[0]["kind"] == "json_invalid":
        return problem(400, "invalid_json", "The body is not valid JSON.", _request_id(request))
    first = found[0] if found else {"where": "request", "why": "is not valid"}
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    detail = f"{first['where']}: {first['why']}{more}."
    return problem(422, "invalid_request", detail, _request_id(request), {"errors": found})


async def _http(request: Request, error: HTTPException) -> ProblemResponse:
    code = getattr(error, "code", None) or _CODES.get(error.status_code, f"http_{error.status_code}")
    return problem(error.status_code, code, str(error.detail), _request_id(request), headers=error.headers)


async def _database(request: Request, error: Exception) -> ProblemResponse:
    """Postgres is away, or what was sent holds text that it cannot; anything else is ours to mend."""
    if refusal := refusal_of(error):
        return await _lab_error(request, refusal)
    cause = _cause(error)
    if not is_away(cause):
        raise error
    log.warning("database_away", error=type(cause).__name__)
    detail = "The database does not answer. Try again in a few seconds."
    return problem(503, "database_unavailable", detail, _request_id(request), headers={"Retry-After": "3"})


def _cause(error: Exception) -> BaseException:
    """The driver's own error, which SQLAlchemy wraps."""
    cause = getattr(error, "orig", None) or error
    return cause.__cause__ or cause


def refusal_of(error: Exception) -> LabError | None:
    """The caller's share in an error of the database: text that it cannot store, or an account that is gone.

    JSON can spell what is no text: half a surrogate pair, which UTF-8 cannot hold, or a NUL.
    """
    cause = _cause(error)
    if isinstance(cause, _NOT_TEXT):
        return InvalidInput(
            "text_not_storable", "A text that was sent holds a character that cannot be stored."
        )
    if not isinstance(cause, asyncpg.ForeignKeyViolationError):
        return None
    if str(cause.constraint_name).endswith("_users"):
        return Unauthorized("account_gone", "This account has been deleted.")
    return None


_NOT_TEXT = (UnicodeEncodeError, asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)
_OF_THE_DATABASE = (DBAPIError, asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError, TimeoutError)


def add_failures(app: FastAPI) -> None:
    """What no handler here takes rises to the envelope middleware, which logs it and answers 500."""
    app.add_exception_handler(LabError, _lab_error)  # type: ignore[arg-type] # Starlette types handlers loosely
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type] # the same
    for kind in _OF_THE_DATABASE:
        app.add_exception_handler(kind, _database)
    app.add_exception_handler(UnicodeEncodeError, _database)
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type] # the same
