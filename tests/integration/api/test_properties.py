"""The whole OpenAPI document, called with what Schemathesis makes of it: as two users and as nobody.

No server error, no answer that the document does not name, nothing of the other user. `make fuzz` looks deeper.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.patience import HANG_GUARD_S, wait_until

from app.api.dependencies import session_ends
from app.settings import Settings

from .conftest import PASSWORD, PREFIX
from .served import served
from .test_ownership import OPEN, PLAIN

# The server's thread may use `random` while a request is made up.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

DEPTH = int(os.environ.get("FUZZ_EXAMPLES", "2"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
UNREADY = {"readyz"}
"""Answer 503 by their purpose, since nobody works here."""
STREAMS = {
    "stream_session_events",
    "stream_many_sessions",
    "stream_turn_events",
    "stream_thread_events",
    "chat_stream",
}
"""Never end while their session or turn lives."""
ENDS = {
    "cancel_session",
    "interrupt_turn",
    "cancel_run",
    "delete_dataset",
    "delete_upload",
    "revoke_key",
    "delete_session",
    "delete_run",
    "delete_artifact",
    "delete_thread",
    "delete_worldline",
}
"""Asked last of one's own things."""
LEAVES = {"sign_out", "end_browser_session"}
"""Would end the run of whoever calls it."""

bounded = settings(
    max_examples=DEPTH,
    deadline=None,
    derandomize=DEPTH < 10,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    stateful_step_count=8,
)


@dataclass(frozen=True)
class Caller:
    """`things`: ids of theirs by the name of the path's part; `marks`: texts that only they may see."""

    headers: dict[str, str]
    things: dict[str, str]
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Service:
    url: str
    document: Any
    ada: Caller
    eve: Caller


NOBODY = Caller({}, {}, ())


@pytest.fixture
def service(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    # Nobody works here: each wait would last to its end.
    monkeypatch.setattr(session_ends, "MAX_WAIT_S", 0.05)
    quick = {"address_requests": "", "user_requests": "", "user_uploads": "", "user_sessions": 0}
    with served(settings.model_copy(update=quick)) as url:
        wait_until(lambda: _answers(url), every_s=0.05)
        document = httpx.get(f"{url}/openapi.json", timeout=HANG_GUARD_S).json()
        yield Service(url, document, _join(url), _join(url))


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=HANG_GUARD_S).is_success
    except httpx.TransportError:
        return False


def _join(url: str) -> Caller:
    """A new user with a session, a run, a dataset and a key."""
    mark = uuid4().hex
    with httpx.Client(base_url=url + PREFIX, timeout=HANG_GUARD_S) as http:
        account = {"email": f"{mark}@example.com", "password": PASSWORD}
        http.post("/auth/register", json=account).raise_for_status()
        token = http.post("/auth/token", json=account).raise_for_status().json()["access_token"]
        http.headers["Authorization"] = f"Bearer {token}"
        me = http.get("/auth/me").json()["id"]
        rows = f"city,people\n{mark},1\nKiel,247\n".encode()
        dataset = http.post("/datasets", files={"file": ("cities.csv", rows)}).raise_for_status().json()["id"]
        wish = {"goal": f"Say how many live in {mark}.", "dataset_ids": [dataset]}
        session = http.post("/lab/agent/sessions", json=wish).raise_for_status().json()["id"]
        key = http.post("/auth/api_keys", json={"name": mark}).raise_for_status().json()
        message = {"message": f"How many live in {mark}?", "dataset_ids": [dataset]}
        begun = {"filename": "towns.csv", "size_bytes": 100}
        upload = http.post("/uploads", json=begun).raise_for_status().json()["id"]
        turn = http.post("/chat", params={"wait": 0}, json=message).raise_for_status().json()
    things = {
        "session_id": session,
        "run_id": session,
        "dataset_id": dataset,
        "upload_id": upload,
        "key_id": key["id"],
        "thread_id": turn["thread_id"],
        "turn_id": turn["turn_id"],
        "worldline_id": turn["worldline_id"],
        "other_worldline_id": turn["worldline_id"],
        "user_id": me,
        **PLAIN,
    }
    return Caller(
        {"Authorization": f"Bearer {token}"}, things, (mark, session, dataset, key["id"], key["key"], me)
    )


def operations(service: Service, mode: GenerationMode) -> Iterator[tuple[str, Any, Any]]:
    """Id, operation and strategy of each, for right (`POSITIVE`) or wrong (`NEGATIVE`) requests."""
    schema = schemathesis.openapi.from_dict(service.document)
    for found in schema.get_all_operations():
        operation = found.ok()
        name = operation.definition.raw["operationId"]
        if name not in LEAVES:
            yield name, operation, operation.as_strategy(generation_mode=mode)


def check(case: Case, service: Service, caller: Caller, others: tuple[Caller, ...]) -> int:
    case.headers.pop("Authorization", None)
    case.headers.pop("X-API-Key", None)
    case.cookies.clear()  # made up for the browser's sign-in, which test_browser_sessions.py is about
    response = case.call(base_url=service.url, headers=caller.headers, timeout=HANG_GUARD_S)
    is_unready = case.operation.definition.raw["operationId"] in UNREADY
    case.validate_response(response, checks=CHECKS[1:] if is_unready else CHECKS)
    for other in others:
        for mark in other.marks:
            assert mark not in response.text or mark in str(case.as_curl_command())
    return response.status_code


def to_things_of(case: Case, owner: Caller) -> None:
    for part in case.path_parameters or {}:
        if part in owner.things:
            case.path_parameters[part] = owner.things[part]


def with_each(strategy: Any, ask: Callable[[Case], None]) -> None:
    @bounded
    @given(case=strategy)
    def run(case: Case) -> None:
        ask(case)

    with suppress(Unsatisfiable):  # there is no wrong way to ask for what takes nothing
        run()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_whatever_a_user_sends_is_answered_as_documented(service: Service, mode: GenerationMode) -> None:
    for name, _, strategy in operations(service, mode):
        if name not in STREAMS:
            with_each(strategy, lambda case: check(case, service, service.ada, (service.eve,)) and None)


def test_a_users_own_things_are_answered_as_documented(service: Service) -> None:
    def ask(case: Case) -> None:
        to_things_of(case, service.ada)
        check(case, service, service.ada, (service.eve,))

    asked = [one for one in operations(service, GenerationMode.POSITIVE) if one[0] not in STREAMS]
    for _, operation, strategy in sorted(asked, key=lambda one: one[0] in ENDS):
        if operation.path_parameters:
            with_each(strategy, ask)


def test_nothing_of_somebody_else_is_ever_answered(service: Service) -> None:
    asked = operations(service, GenerationMode.POSITIVE)
    # A stream on an id of somebody else is refused; one of a message of one's own never ends here.
    for name, operation, strategy in (one for one in asked if one[0] not in STREAMS or one[1].path_parameters):
        # Secrets have names of their owner, and graphs those of everybody: neither is an id of somebody else.
        has_ids = bool(operation.path_parameters) and "secret" not in name and name != "get_graph"

        def ask(case: Case, name: str = name, on_ids: bool = has_ids) -> None:
            to_things_of(case, service.ada)
            status = check(case, service, service.eve, (service.ada,))
            assert not on_ids or status in (403, 404, 422), name

        with_each(strategy, ask)


def test_nobody_is_turned_away_whatever_is_sent(service: Service) -> None:
    for name, _, strategy in operations(service, GenerationMode.POSITIVE):

        def ask(case: Case, name: str = name) -> None:
            to_things_of(case, service.ada)
            status = check(case, service, NOBODY, (service.ada, service.eve))
            assert name in OPEN or status == 401, name

        with_each(strategy, ask)


def test_operations_one_after_the_other_are_answered_as_documented(service: Service) -> None:
    schema = schemathesis.openapi.from_dict(service.document).exclude(
        operation_id=sorted(STREAMS | LEAVES | UNREADY | {"refresh"})
    )

    class Workflow(schema.as_state_machine()):  # type: ignore[misc]  # made at run time
        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            return {"base_url": service.url, "headers": service.ada.headers, "timeout": HANG_GUARD_S}

        def validate_response(self, response: Any, case: Case, **kwargs: Any) -> None:
            case.validate_response(response, checks=CHECKS)
            for mark in service.eve.marks:
                assert mark not in response.text

    Workflow.run(settings=bounded)
