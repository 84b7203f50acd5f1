from pathlib import Path
from typing import Any

import pytest

from app.errors import Unavailable
from app.sandbox.exchange.contract import CellRequest
from app.sandbox.provider.cell_pipes import CellPipes
from app.sandbox.provider.ready_zygote import start_zygote


class DyingLink:
    """To a zygote that says it is ready and ends before it has run anything."""

    async def start(self) -> dict[str, Any]:
        return {"tier": "namespaces", "missing": {}}

    async def run(self, request: CellRequest, pipes: CellPipes) -> None:
        pipes.watch()


async def test_a_zygote_that_ends_while_its_isolation_is_tested_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="ended while"):
        await start_zygote(DyingLink(), tmp_path, None, True)  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240 - a test
