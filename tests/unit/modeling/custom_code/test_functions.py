"""Custom code runs where it is permitted, and nowhere else."""

from contextvars import Context

import pytest

from app.errors import InvalidInput, Unavailable
from app.modeling.custom_code.functions import CodeFunctions
from app.modeling.custom_code.state import freeze, thaw
from app.modeling.facts.code_in_facts import contains_code, omit_source

pytestmark = pytest.mark.usefixtures("code_permitted")


def test_code_without_permission_is_refused() -> None:
    with pytest.raises(Unavailable, match="only in cells for untrusted work"):
        Context().run(CodeFunctions("mine", "def fit(x):\n    return x").call, "fit", 1)


def test_a_forbidden_construct_is_reported_with_its_line() -> None:
    with pytest.raises(InvalidInput, match=r"Line 2: .*__globals__") as refused:
        CodeFunctions("mine", "def fit(x):\n    return fit.__globals__").call("fit", 1)
    assert refused.value.code == "code_not_allowed"


def test_no_state_passes_between_uses() -> None:
    source = "seen = []\ndef fit(x):\n    seen.append(x)\n    return len(seen)"
    assert [CodeFunctions("mine", source).call("fit", 1) for _ in range(3)] == [1, 1, 1]


def test_random_numbers_start_from_the_seed() -> None:
    code = CodeFunctions("mine", "import numpy as np\ndef fit():\n    return np.random.normal()")
    assert code.call("fit", seed=1) == code.call("fit", seed=1) != code.call("fit", seed=2)


def test_code_is_detected_at_any_depth() -> None:
    recipe = [{"op": "drop", "columns": ["a"]}, {"op": "python", "source": "x = 1"}]
    assert contains_code({"fits": [{"recipe": recipe, "estimator": "LightGBM"}]})
    assert contains_code({"estimator": "Written", "hyperparameters": {}})
    assert not contains_code({"recipe": recipe[:1], "estimator": "LightGBM", "rows": [{"op": "sum"}]})
    assert omit_source(recipe)[1] == {"op": "python", "source": "..."}


def test_a_thawed_state_equals_the_frozen_one() -> None:
    state = {"means": {1: 0.5, "b": None, (2, "x"): True}, "list": [(1, 2.5), {}], "nan": float("inf")}
    assert thaw(freeze(state, "mine")) == state
