"""Prices over the real API: loaded in bulk, loaded twice, listed, summed up."""

from datetime import datetime

import asyncpg
import pytest

from app.settings import Settings

from .conftest import User

HEADER = "symbol,time,open,high,low,close,vol\n"
GOOD = "btc,2024-01-01 00:00:00,10,12,9,11,5\nBTC,2024-01-01 00:05:00,11,13,10,12,6\n"
GAP = "BTC,2024-01-01 00:20:00,12,12,12,12,0\n"
BAD = (
    "BTC,2024-01-01 00:30:00,12,11,10,11,1\n"
    "BTC,2024-01-01 00:35:00,-1,11,-2,11,1\n"
    "BTC,2024-01-01 00:36:00,10,11,9,11,1\n"
    "BTC,2024-01-01 00:40:00,10,,9,11,1\n"
    ",2024-01-01 00:45:00,10,11,9,11,1\n"
)


@pytest.fixture
async def admin(ada: User, settings: Settings) -> User:
    database = await asyncpg.connect(settings.database_url)
    await database.execute("UPDATE users SET role = 'admin' WHERE id = $1", ada.id)
    await database.close()
    account = {"email": ada.email, "password": "correct horse battery"}
    tokens = (await ada.http.post("/auth/token", json=account)).json()
    ada.http.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    return ada


async def send(user: User, text: str, query: str = ""):
    return await user.http.post(f"/prices/import{query}", files={"file": ("bars.csv", text.encode())})


async def test_prices_are_loaded_once_listed_and_summed_up(admin: User, eve: User, settings: Settings) -> None:
    answer = await send(admin, HEADER + GOOD + GAP + BAD)
    assert answer.status_code == 200, answer.text
    loaded = answer.json()
    assert (loaded["rows"], loaded["kept"], loaded["added"], loaded["changed"]) == (8, 3, 3, 0)
    assert loaded["bad"]["count"] == 5
    assert loaded["bad"]["reasons"] == {
        "a price is not positive": 1,
        "a value is missing": 1,
        "high is not the highest": 1,
        "no coin": 1,
        "off the five-minute grid": 1,
    }
    assert loaded["bad"]["examples"][0] == {"row": 4, "reason": "high is not the highest"}

    again = (await send(admin, HEADER + GOOD)).json()
    assert (again["added"], again["changed"]) == (0, 0)
    changed = (await send(admin, HEADER + GOOD.replace(",11,5", ",11.5,5"))).json()
    assert (changed["added"], changed["changed"]) == (0, 1)
    named = "t,o,h,l,c,v\n1704067200,1,2,1,2,1\n".replace("t,", "unix,")
    assert (await send(admin, named, "?coin=eth")).json()["added"] == 1

    coins = (await eve.http.get("/prices/coins")).json()
    assert [(coin["coin"], coin["bars"]) for coin in coins] == [("BTC", 3), ("ETH", 1)]
    (bitcoin,) = (await eve.http.get("/prices/statistics?coin=btc")).json()
    assert (bitcoin["bars"], bitcoin["missing"], bitcoin["lowest"], bitcoin["highest"]) == (3, 2, 9.0, 13.0)
    assert datetime.fromisoformat(bitcoin["last"]).isoformat() == "2024-01-01T00:20:00+00:00"
    since = (await eve.http.get("/prices/statistics?start=2024-01-01T00:05:00")).json()
    assert [coin["bars"] for coin in since] == [2]

    refused = await send(admin, "a,b\n1,2\n")
    assert (refused.status_code, refused.json()["code"]) == (422, "missing_columns")
    none_good = await send(admin, HEADER + BAD)
    assert (none_good.status_code, none_good.json()["code"]) == (422, "no_good_bars")


async def test_only_an_admin_loads_prices(eve: User) -> None:
    answer = await send(eve, HEADER + GOOD)
    assert (answer.status_code, answer.json()["code"]) == (403, "admin_required")


@pytest.mark.parametrize("start", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_time_beyond_the_calendar_is_refused(eve: User, start: str) -> None:
    refused = await eve.http.get(f"/prices/statistics?start={start}")
    assert (refused.status_code, refused.json()["code"]) == (422, "time_out_of_range")
