"""Budgets over the API: what a session may ask for, and what it shows of them."""

from pathlib import Path

import pytest

from app.sessions.budget_request import BudgetRequest
from app.settings import Settings, load_settings

from .conftest import User

SESSIONS = "/lab/agent/sessions"


@pytest.fixture
def settings(database_url: str, redis_url: str, cells_socket: Path, tmp_path: Path) -> Settings:
    return load_settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        cells_socket=cells_socket,
        labcrew_home=tmp_path / "home",
        llm_model="openai:unpriced",
        session_budget=BudgetRequest(tokens=1000),
        session_budget_max=BudgetRequest(tokens=5000),
    )


async def test_a_session_has_the_usual_budget_and_its_own_where_it_asks(ada: User) -> None:
    wish = {"goal": "Predict it.", "preferences": {"budget": {"tool_calls": 40}}}
    created = (await ada.http.post(SESSIONS, json=wish)).json()
    view = (await ada.http.get(f"{SESSIONS}/{created['id']}")).json()
    budget = {one["resource"]: (one["used"], one["limit"], one["exhausted"]) for one in view["usage"]["budget"]}
    assert budget == {
        "tokens": (0, 1000, False),
        "tool_calls": (0, 40, False),
        "seconds": (0, 3600, False),
    }


@pytest.mark.parametrize(
    ("budget", "code", "says"),
    [
        ({"tokens": 5001}, "budget_too_large", "5000"),
        ({"seconds": 3601}, "budget_too_large", "3600"),
        ({"cost_usd": 1}, "no_price", "openai:unpriced"),
        ({"tokens": 0}, "invalid_request", ""),
        ({"money": 1}, "invalid_request", ""),
    ],
)
async def test_a_budget_that_cannot_be_kept_is_refused(
    budget: dict[str, float], code: str, says: str, ada: User
) -> None:
    wish = {"goal": "Predict it.", "preferences": {"budget": budget}}
    refused = await ada.http.post(SESSIONS, json=wish)
    assert refused.status_code == 422
    assert refused.json()["code"] == code
    assert says in refused.text
