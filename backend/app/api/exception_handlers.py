"""Exception handlers: each failure becomes problem+json (RFC 9457) with a stable `code`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
from app.observability.metrics.api_requests import REFUSALS

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
    """Build a problem document. `facts` become further members; they cannot replace the standard ones."""
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
        # RFC 9110 demands it with a 401.
        headers["WWW-Authenticate"] = "Bearer"
    if "retry_after_s" in error.facts:
        headers["Retry-After"] = str(error.facts["retry_after_s"])
    return problem(status, error.code, error.detail, request_id, error.facts, headers)


def unknown_problem(request_id: str | None) -> ProblemResponse:
    return problem(
        500,
        "internal_error",
        "The service failed. Its log has the details under the request id.",
        request_id,
    )


MAX_FIELD_ERRORS = 50
"""Errors listed per request. A body of 1 MB can hold 100,000 unknown fields, each smaller than its entry."""
MAX_LOCATION_CHARACTERS = 200
"""Longer locations are cut: the client chooses the name of an unknown field, and with it the answer's size."""


@dataclass(frozen=True)
class FieldError:
    """A field of a request that is not valid. It lacks the value, which may be a password."""

    location: str
    message: str
    kind: str


def field_errors(errors: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """Convert errors of Pydantic to the members of a problem document."""
    return [
        FieldError(
            location=".".join(str(part) for part in error["loc"])[:MAX_LOCATION_CHARACTERS],
            message=error["msg"],
            kind=error["type"],
        )
        for error in errors[:MAX_FIELD_ERRORS]
    ]


def _request_id(request: Request) -> str | None:
    return request.scope.get("request_id")


async def _lab_error(request: Request, error: LabError) -> ProblemResponse:
    return problem_of(error, _request_id(request))


async def _invalid(request: Request, error: RequestValidationError) -> ProblemResponse:
    errors = field_errors(error.errors())
    first = errors[0] if errors else FieldError("request", "is not valid", "invalid")
    if first.kind == "json_invalid":
        return problem(400, "invalid_json", "The body is not valid JSON.", _request_id(request))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    detail = f"{first.location}: {first.message}{more}."
    members = {"errors": [asdict(entry) for entry in errors]}
    return problem(422, "invalid_request", detail, _request_id(request), members)


async def _http(request: Request, error: HTTPException) -> ProblemResponse:
    code = getattr(error, "code", None) or _CODES.get(error.status_code, f"http_{error.status_code}")
    return problem(error.status_code, code, str(error.detail), _request_id(request), headers=error.headers)


async def _database(request: Request, error: Exception) -> ProblemResponse:
    """Answer 503 while Postgres is away, and 4xx for input that it cannot store; raise any other error."""
    if refusal := refusal_of(error):
        return await _lab_error(request, refusal)
    cause = _cause(error)
    if not is_away(cause):
        # No outage and no fault of the caller: the envelope logs it, and answers 500.
        raise error
    log.warning("database_away", error=type(cause).__name__)
    detail = "The database does not answer. Try again in a few seconds."
    return problem(503, "database_unavailable", detail, _request_id(request), headers={"Retry-After": "3"})


def _cause(error: Exception) -> BaseException:
    """Return the error of the driver that SQLAlchemy wraps."""
    cause = getattr(error, "orig", None) or error
    return cause.__cause__ or cause


def refusal_of(error: Exception) -> LabError | None:
    """Return the refusal for a database error that the caller caused: unstorable text or a deleted account.

    JSON can spell characters that Postgres cannot store: a NUL, or half a surrogate pair, which is no UTF-8.
    """
    cause = _cause(error)
    if isinstance(cause, _NOT_TEXT):
        return InvalidInput(
            "text_not_storable", "A text in the request holds a character that cannot be stored."
        )
    if not isinstance(cause, asyncpg.ForeignKeyViolationError):
        return None
    if str(cause.constraint_name).endswith("_users"):
        return Unauthorized("account_gone", "This account has been deleted.")
    return None


_NOT_TEXT = (UnicodeEncodeError, asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)
_DATABASE_ERRORS = (DBAPIError, asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError, TimeoutError)


def add_failures(app: FastAPI) -> None:
    """Register the handlers. Others reach the envelope middleware, which logs them and answers 500."""
    app.add_exception_handler(LabError, _lab_error)  # type: ignore[arg-type] # Starlette types handlers loosely
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type] # the same
    for kind in _DATABASE_ERRORS:
        app.add_exception_handler(kind, _database)
    app.add_exception_handler(UnicodeEncodeError, _database)
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type] # the same
