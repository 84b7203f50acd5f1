"""Price bars: shared ones, and those of each user."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.files.uploads import UPLOAD_BODY, receive_upload
from app.api.openapi.document import problems
from app.api.openapi.streams import progress_lines
from app.api.streams.ndjson_progress import NdjsonProgressResponse, wants_progress
from app.auth.principal import Principal, UserRole
from app.datasets.price_schemas import CoinStatistics, CoinView, DeletedBars, ImportView
from app.datasets.prices import ImportOptions, Prices, to_utc
from app.errors import Forbidden
from app.sandbox.exchange.contract import Progress

router = APIRouter(prefix="/prices", tags=["prices"], responses=problems(401))


async def _prices(principal: PrincipalDep, resources: ResourcesDep) -> Prices:
    folder = resources.settings.home / "prices"
    return Prices(resources.database, resources.computer, folder, principal.user_id)


_COIN = r"^[A-Za-z0-9^][A-Za-z0-9._:/=-]{0,31}$"
PricesDep = Annotated[Prices, Depends(_prices)]
CoinName = Annotated[str | None, Query(pattern=_COIN, examples=["BTC"])]
IntervalName = Annotated[str | None, Query(max_length=12, examples=["5m"])]
Zone = Annotated[
    str | None,
    Query(
        max_length=64,
        description="Time zone of the times in the file; UTC by default.",
        examples=["Europe/Berlin"],
    ),
]
Shared = Annotated[bool, Query(description="Shared bars instead of your own; admins only.")]


@router.post(
    "/import",
    operation_id="import_prices",
    response_model=ImportView,
    responses={**problems(403, 409, 503), 200: {"content": progress_lines(ImportView)}},
    openapi_extra=UPLOAD_BODY,
)
async def import_prices(
    request: Request,
    principal: PrincipalDep,
    prices: PricesDep,
    resources: ResourcesDep,
    coin: CoinName = None,
    interval: IntervalName = None,
    time_zone: Zone = None,
    shared: Shared = False,
) -> Any:
    """Import bars of any interval from CSV, Parquet, Feather, JSON or Excel, in one transaction.

    Stored bars are replaced; importing a file twice changes nothing. Invalid and repeated bars and gaps are
    reported by row. `coin` names the coin of a file without such a column; `interval` is inferred from the
    times, and checked if it is sent. With `Accept: application/x-ndjson` the response includes progress.
    """
    _check(principal, shared)
    options = ImportOptions(coin and coin.upper(), interval, time_zone, shared)
    limit = resources.settings.prices_max_size_mb << 20
    # A response with progress needs the file after this function has returned.
    stack = AsyncExitStack()
    upload = await stack.enter_async_context(
        receive_upload(request, resources.settings.home / "uploads", limit)
    )

    async def load(report: Progress) -> Mapping[str, Any]:
        loaded = await prices.import_file(upload.path, upload.filename, options, report)
        return ImportView.model_validate(loaded).model_dump(mode="json")

    if wants_progress(request):
        return NdjsonProgressResponse(load, stack.aclose)
    async with stack:
        return ImportView.model_validate(await prices.import_file(upload.path, upload.filename, options))


@router.get("/coins", operation_id="list_coins")
async def list_coins(prices: PricesDep) -> list[CoinView]:
    """List the coins and intervals that you can read."""
    return [CoinView.model_validate(series.to_json()) for series in await prices.list_series()]


@router.get("/statistics", operation_id="get_price_statistics")
async def get_price_statistics(
    prices: PricesDep,
    coin: CoinName = None,
    interval: IntervalName = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> list[CoinStatistics]:
    """Summarise each coin and interval between two times; a time without a zone is UTC."""
    rows = await prices.statistics(coin and coin.upper(), to_utc(start), to_utc(end), interval)
    return [CoinStatistics.model_validate(row) for row in rows]


@router.delete("", operation_id="delete_prices", responses=problems(403, 404))
async def delete_prices(
    principal: PrincipalDep,
    prices: PricesDep,
    coin: Annotated[str, Query(pattern=_COIN)],
    interval: IntervalName = None,
    shared: Shared = False,
) -> DeletedBars:
    """Delete your bars of a coin: of one interval, or all."""
    _check(principal, shared)
    return DeletedBars(bars=await prices.drop(coin.upper(), interval, shared=shared))


def _check(principal: Principal, shared: bool) -> None:
    if shared and principal.role is not UserRole.ADMIN:
        raise Forbidden("admin_required", "Only an admin may change the bars that all users share.")
