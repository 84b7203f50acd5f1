"""Five-minute prices of coins, shared by all users."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.api.deps import AdminDep, PrincipalDep, ResourcesDep
from app.api.openapi import problems
from app.api.uploads import UPLOAD_BODY, received
from app.datasets.price_schemas import CoinStatistics, CoinView, ImportView
from app.datasets.prices import Prices, in_utc

router = APIRouter(prefix="/prices", tags=["prices"], responses=problems(401))


async def _prices(principal: PrincipalDep, resources: ResourcesDep) -> Prices:
    return Prices(resources.database, resources.computer, resources.settings.home / "prices")


PricesDep = Annotated[Prices, Depends(_prices)]
CoinName = Annotated[str | None, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,31}$", examples=["BTC"])]


@router.post("/import", operation_id="import_prices", responses=problems(403, 503), openapi_extra=UPLOAD_BODY)
async def import_prices(
    request: Request, admin: AdminDep, prices: PricesDep, resources: ResourcesDep, coin: CoinName = None
) -> ImportView:
    """Load bars (coin, time, open, high, low, close, volume) from CSV, Parquet, JSON or Excel; admins only.

    A bar that is there already is replaced; the same file twice changes nothing. Bad bars are left out and
    reported. `coin` names the coin of a file without such a column.
    """
    limit = resources.settings.upload_max_size_mb << 20
    async with received(request, resources.settings.home / "uploads", limit) as sent:
        added = await prices.add(resources.blobs, sent.path, sent.filename, coin)
    return ImportView.model_validate(added)


@router.get("/coins", operation_id="list_coins")
async def list_coins(prices: PricesDep) -> list[CoinView]:
    return [CoinView.model_validate(row) for row in await prices.coins()]


@router.get("/statistics", operation_id="get_price_statistics")
async def get_price_statistics(
    prices: PricesDep, coin: CoinName = None, start: datetime | None = None, end: datetime | None = None
) -> list[CoinStatistics]:
    """Per coin, between two times; a time without a zone is UTC."""
    rows = await prices.statistics(coin, in_utc(start), in_utc(end))
    return [CoinStatistics.model_validate(row) for row in rows]
