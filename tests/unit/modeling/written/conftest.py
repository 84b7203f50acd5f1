import sys
from collections.abc import Iterator

import pytest

from app.modeling.written.code import permitted
from app.sandbox.policy.definitions import define


@pytest.fixture(autouse=True)
def _where_code_may_run(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    with permitted(define):
        yield
