"""Prices over the real API: loaded in bulk, loaded twice, listed, summed up, and each user's own."""

import json
from datetime import datetime

import asyncpg
import pytest

from app.settings import Settings

from .conftest import User

HEADER = "symbol,time,open,high,low,close,vol\n"
GOOD = "btc,2024-01-01 00:00:00,10,12,9,11,5\nBTC,2024-01-01 00:05:00,11,13,10,12,6\n"
MORE = "BTC,2024-01-01 00:10:00,12,12,12,12,0\nBTC,2024-01-01 00:15:00,12,12,12,12,0\n"
GAP = "BTC,2024-01-01 00:30:00,12,12,12,12,0\n"
BAD = (
    "BTC,2024-01-01 00:35:00,12,11,10,11,1\n"
    "BTC,2024-01-01 00:40:00,-1,11,-2,11,1\n"
    "BTC,2024-01-01 00:46:00,10,11,9,11,1\n"
    "BTC,2024-01-01 00:50:00,10,,9,11,1\n"
    ",2024-01-01 00:55:00,10,11,9,11,1\n"
)
SAID = {"Accept": "application/x-ndjson"}


@pytest.fixture
async def admin(ada: User, settings: Settings) -> User:
    database = await asyncpg.connect(settings.database_url)
    await database.execute("UPDATE users SET role = 'admin' WHERE id = $1", ada.id)
    await database.close()
    account = {"email": ada.email, "password": "correct horse battery"}
    tokens = (await ada.http.post("/auth/token", json=account)).json()
    ada.http.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    return ada


async def send(user: User, text: str, query: str = "", headers: dict[str, str] | None = None):
    files = {"file": ("bars.csv", text.encode())}
    return await user.http.post(f"/prices/import{query}", files=files, headers=headers)


async def test_prices_are_loaded_once_listed_and_summed_up(admin: User, eve: User, settings: Settings) -> None:
    answer = await send(admin, HEADER + GOOD + MORE + GAP + BAD, "?shared=true")
    assert answer.status_code == 200, answer.text
    loaded = answer.json()
    assert (loaded["rows"], loaded["valid_rows"], loaded["added_bars"], loaded["changed_bars"]) == (10, 5, 5, 0)
    assert loaded["rejected"]["count"] == 5
    assert loaded["rejected"]["reasons"] == {
        "a price is not positive": 1,
        "a value is missing or not a finite number": 1,
        "high is not the highest": 1,
        "no coin": 1,
        "off the grid of its interval": 1,
    }
    assert loaded["rejected"]["examples"][0] == {
        "row": 6,
        "reason": "high is not the highest",
        "coin": "BTC",
        "time": "2024-01-01T00:35:00Z",
    }
    (series,) = loaded["series"]
    assert (series["interval"], series["gaps"]) == (
        "5m",
        [{"after": "2024-01-01T00:15:00Z", "before": "2024-01-01T00:30:00Z", "missing_bars": 2}],
    )

    again = (await send(admin, HEADER + GOOD + MORE, "?shared=true")).json()
    assert (again["added_bars"], again["changed_bars"]) == (0, 0)
    other = HEADER + GOOD.replace(",11,5", ",11.5,5") + MORE
    changed = (await send(admin, other, "?shared=true")).json()
    assert (changed["added_bars"], changed["changed_bars"]) == (0, 1)
    named = "unix,o,h,l,c,v\n1704067200,1,2,1,2,1\n"
    assert (await send(admin, named, "?coin=eth&interval=5m&shared=true")).json()["added_bars"] == 1

    coins = (await eve.http.get("/prices/coins")).json()
    assert [(coin["coin"], coin["interval"], coin["bars"], coin["shared"]) for coin in coins] == [
        ("BTC", "5m", 5, True),
        ("ETH", "5m", 1, True),
    ]
    (bitcoin,) = (await eve.http.get("/prices/statistics?coin=btc")).json()
    assert (bitcoin["bars"], bitcoin["missing_bars"], bitcoin["gaps"]) == (5, 2, 1)
    assert (bitcoin["lowest"], bitcoin["highest"], bitcoin["range"]) == (9.0, 13.0, 4.0)
    assert datetime.fromisoformat(bitcoin["last"]).isoformat() == "2024-01-01T00:30:00+00:00"
    since = (await eve.http.get("/prices/statistics?start=2024-01-01T00:05:00")).json()
    assert [coin["bars"] for coin in since] == [4]

    refused = await send(admin, "a,b\n1,2\n")
    assert (refused.status_code, refused.json()["code"]) == (422, "missing_columns")
    none_good = await send(admin, HEADER + BAD, "?interval=5m")
    assert (none_good.status_code, none_good.json()["code"]) == (422, "no_good_bars")


async def test_a_users_own_bars_are_seen_by_nobody_else(ada: User, eve: User) -> None:
    assert (await send(ada, HEADER + GOOD + MORE)).json()["added_bars"] == 4
    assert (await eve.http.get("/prices/coins")).json() == []
    assert (await eve.http.get("/prices/statistics?coin=BTC")).json() == []
    assert (await eve.http.get("/prices/statistics?start=2020-01-01")).json() == []
    assert (await eve.http.delete("/prices?coin=BTC")).status_code == 404
    assert (await send(eve, HEADER + GOOD.replace("13", "15") + MORE)).json()["added_bars"] == 4
    (own,) = (await ada.http.get("/prices/statistics")).json()
    assert (own["highest"], own["shared"]) == (13.0, False)
    assert (await ada.http.delete("/prices?coin=btc")).json() == {"bars": 4}
    assert (await ada.http.get("/prices/coins")).json() == []
    assert len((await eve.http.get("/prices/coins")).json()) == 1


async def test_only_an_admin_changes_what_all_share(eve: User) -> None:
    for answer in (
        await send(eve, HEADER + GOOD, "?shared=true"),
        await eve.http.delete("/prices?coin=BTC&shared=true"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


async def test_an_import_says_how_far_it_is_and_how_it_ended(ada: User, settings: Settings) -> None:
    answer = await send(ada, HEADER + GOOD + MORE, headers=SAID)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [set(line) for line in lines[:-1]] == [{"progress", "text"}] * (len(lines) - 1)
    assert lines[-1]["result"]["added_bars"] == 4
    refused = (await send(ada, "a,b\n1,2\n", headers=SAID)).text.splitlines()
    assert json.loads(refused[-1])["problem"]["code"] == "missing_columns"
    assert not list((settings.home / "uploads").iterdir())


async def test_a_span_that_ends_before_it_starts_is_refused(eve: User) -> None:
    refused = await eve.http.get("/prices/statistics?start=2024-02-01&end=2024-01-01")
    assert (refused.status_code, refused.json()["code"]) == (422, "end_before_start")


@pytest.mark.parametrize("start", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_time_beyond_the_calendar_is_refused(eve: User, start: str) -> None:
    refused = await eve.http.get(f"/prices/statistics?start={start}")
    assert (refused.status_code, refused.json()["code"]) == (422, "time_out_of_range")
