"""Tier `none`, forced: untrusted work is refused; SQL and uploads run with limits only, or not at all."""

from collections.abc import AsyncIterator
from pathlib import Path

import pandas as pd
import pytest
import pytest_asyncio

from app.errors import Unavailable
from app.sandbox.exchange.contract import Code, Computation, End, Limits
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.settings import load_settings

from .conftest import Cells

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNTRUSTED = [
    Code("result = 1"),
    Computation("models.predict.predict", {}, trusted=False),
    Computation("cell_fixtures.echo", {"value": 1}, trusted=False, warm_for="owner"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def unwalled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cells]:
    provider = ProcessProvider(ProcessConfig(tmp_path_factory.mktemp("unwalled"), tier="none"))
    await provider.start()
    yield Cells(provider)
    await provider.close()


@pytest.mark.parametrize("work", UNTRUSTED, ids=["program", "pipeline", "kept"])
async def test_untrusted_work_is_refused(unwalled: Cells, work: Code | Computation) -> None:
    with pytest.raises(Unavailable, match="lacks the isolation") as refused:
        await unwalled.run(work)
    assert refused.value.code == "cells_not_isolated"


async def test_an_upload_is_read(unwalled: Cells, tmp_path: Path) -> None:
    (tmp_path / "upload").write_text("a,b\n1,x\n2,y\n")
    outcome = await unwalled.run(Computation("uploads.ingest.ingest"), {"upload": tmp_path / "upload"})
    assert isinstance(outcome.value, dict)
    assert (outcome.value["rows"], outcome.files) == (2, ("table.parquet",))


async def test_sql_is_answered_and_opens_no_file(unwalled: Cells, tmp_path: Path) -> None:
    pd.DataFrame({"v": [1, 2]}).to_parquet(tmp_path / "t")
    (tmp_path / "secret.csv").write_text("word\nhidden\n")

    async def ask(sql: str) -> tuple[End, str]:
        outcome = await unwalled.run(Computation("queries.query.run_sql", {"sql": sql}), {"t": tmp_path / "t"})
        return outcome.end, f"{outcome.value} {outcome.fault}"

    assert (await ask("SELECT sum(v) AS total FROM t"))[0] is End.RETURNED
    for source in (f"read_csv('{tmp_path}/secret.csv')", f"'{tmp_path}/secret.csv'"):
        end, text = await ask(f"SELECT * FROM {source}")
        assert end is End.REFUSED
        assert "hidden" not in text


async def test_limits_hold(unwalled: Cells) -> None:
    # clock: it spins until the limit, however slowly
    assert (await unwalled.compute("spin", Limits(time_s=1))).end is End.TIMED_OUT
    much = await unwalled.compute("allocate", Limits(memory_bytes=64 << 20), size_bytes=512 << 20)
    assert much.end is End.OUT_OF_MEMORY
    left = await unwalled.compute("leave", Limits(disk_bytes=1 << 20), names=["big"], size_bytes=2 << 20)
    assert left.end is End.OUT_OF_DISK


async def test_without_isolation_nothing_computes_unless_allowed(tmp_path: Path) -> None:
    provider = ProcessProvider(ProcessConfig(tmp_path, tier="none", allow_unisolated=False))
    cells = Cells(provider)
    for work in (Computation("cell_fixtures.echo", {"value": 1}), *UNTRUSTED):
        with pytest.raises(Unavailable, match="ALLOW_UNISOLATED=true"):
            await cells.run(work)
    assert (await provider.isolation()).halt is not None
    await provider.close()


@pytest.mark.parametrize(
    ("environment", "setting", "allowed"),
    [
        ("development", None, True),
        ("development", False, False),
        ("production", None, False),
        ("production", True, True),
    ],
)
async def test_production_allows_unisolated_work_by_setting_only(
    environment: str, setting: bool | None, allowed: bool
) -> None:
    settings = load_settings(
        _env_file=None, labcrew_env=environment, allow_unisolated=setting, secret_key="x" * 32
    )
    assert settings.cells.allow_unisolated is allowed
