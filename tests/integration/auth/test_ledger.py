"""Accounts and keys from the terminal."""

import asyncio

import pytest

from app.cli.connection.account_admin import AccountAdmin
from app.db.pool import Database
from app.errors import InvalidInput

EMAIL = "ada@example.com"


@pytest.fixture
def ledger(database_url: str) -> AccountAdmin:
    ledger = AccountAdmin(database_url)
    ledger.add_user(EMAIL, "correct horse battery", admin=False)
    return ledger


def test_a_key_has_the_scopes_that_were_asked_for(ledger: AccountAdmin) -> None:
    assert ledger.create_key(EMAIL, "nightly", 30, ["predict", "read"]).startswith("lab_")
    ledger.create_key(EMAIL, "all", None)
    scopes = {key.name: key.scopes for key in ledger.keys(EMAIL)}
    everything = ["chat", "data", "predict", "read", "runs", "sessions"]
    assert scopes == {"nightly": ["predict", "read"], "all": everything}
    with pytest.raises(InvalidInput, match="--scope"):
        ledger.create_key(EMAIL, "wrong", None, ["everything"])


def test_quotas_are_changed_one_by_one(ledger: AccountAdmin) -> None:
    assert ledger.set_quotas(EMAIL, {"sockets": "5", "requests": "10/minute"}) == {
        "requests": "10/minute",
        "sockets": 5,
    }
    assert ledger.set_quotas(EMAIL, {"requests": None, "stored_mb": "0"}) == {"sockets": 5, "stored_mb": 0}
    for wrong in ({"requests": "often"}, {"speed": "1"}):
        with pytest.raises(InvalidInput, match="Quotas are requests"):
            ledger.set_quotas(EMAIL, wrong)


def test_the_operators_doings_are_in_the_trail(ledger: AccountAdmin, database_url: str) -> None:
    ledger.set_disabled(EMAIL, disabled=True)
    ledger.set_disabled(EMAIL, disabled=False)
    ledger.create_key(EMAIL, "nightly", None)
    ledger.revoke_key(EMAIL, ledger.keys(EMAIL)[0].id)

    async def trail() -> list[tuple[str, str]]:
        database = await Database.open(database_url)
        rows = await database.rows("select actor, action from audit order by id")
        await database.close()
        return [(row["actor"], row["action"]) for row in rows]

    assert asyncio.run(trail())[1:] == [
        ("operator", action) for action in ("user_disabled", "user_enabled", "key_created", "key_revoked")
    ]
