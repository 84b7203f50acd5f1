import sys
from collections.abc import Iterator

import pytest

from app.modeling.custom_code.functions import allow_code
from app.sandbox.policy.custom_functions import define


@pytest.fixture
def code_permitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run agent-written code under the language policy, as a cell does."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    with allow_code(define):
        yield
