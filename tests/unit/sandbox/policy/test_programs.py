"""Programs that must work and programs that must not, under the language policy alone."""

import sys
from pathlib import Path

import joblib
import openpyxl  # noqa: F401 (it reads a file of the host when it is imported, which the zygote does)
import pytest

from app.errors import InvalidInput
from app.sandbox.policy.language.compiler import compile_code
from app.sandbox.policy.names.private_names import spelled_text
from app.sandbox.policy.namespace import program_namespace

from .class_corpus import CLASS_IDIOMS
from .corpus import ESCAPES, IDIOMS
from .memory_corpus import MEMORY_IDIOMS
from .module_corpus import MODULE_IDIOMS

ALL_IDIOMS = IDIOMS | CLASS_IDIOMS | MODULE_IDIOMS | MEMORY_IDIOMS

REFUSALS = (InvalidInput, AttributeError, ImportError, TypeError, ValueError, NameError, PermissionError)


@pytest.fixture(autouse=True)
def _own_main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(joblib.Memory, "__init__", joblib.Memory.__init__)


def run(source: str) -> object:
    variables = program_namespace()
    exec(compile_code(source), variables)
    return variables.get("result")


@pytest.mark.parametrize("name", sorted(ALL_IDIOMS))
def test_idiomatic_data_science_runs(name: str) -> None:
    assert run(ALL_IDIOMS[name]) == "ok"


@pytest.mark.parametrize("name", sorted(ESCAPES))
def test_an_escape_from_a_program_is_refused(name: str) -> None:
    with pytest.raises(REFUSALS):
        run(ESCAPES[name])


def test_a_refusal_names_line_and_construct() -> None:
    with pytest.raises(InvalidInput, match=r"Line 2: .*__globals__"):
        compile_code("x = 1\ny = x.__globals__\n")


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("import duckdb", "use pandas, or SQL"),
        ("import requests", "a cell has no network"),
        ("import statistic", "the module statistics is"),
        ("class A:\n    def __del__(self): pass", "use a with statement"),
        ("class A(metaclass=type): pass", "use __init_subclass__"),
        ("import pandas as pd\npd.DataFrame().to_hdf('x')", "use to_parquet"),
        ("async def f(): pass", "plain functions do the same"),
        ("x = [].__globals__\ny = ().__globals__\nz = {}.__globals__", r"Lines 1, 2 and 3: .*globals\(\)"),
    ],
)
def test_a_refusal_says_what_to_use_instead(source: str, advice: str) -> None:
    with pytest.raises((InvalidInput, ImportError, AttributeError), match=advice):
        run(source)


def test_a_cache_on_disk_is_refused_by_name_and_a_pipeline_without_one_fits() -> None:
    with pytest.raises(PermissionError, match="memory='kept' is not allowed"):
        run(ESCAPES["pickle by a pipeline"])
    assert run(IDIOMS["a pipeline with folds"]) == "ok"


def test_code_that_cannot_be_parsed_is_invalid_input() -> None:
    for source in ("def f(:", "x = '\0'", "(" * 500):
        with pytest.raises(InvalidInput):
            compile_code(source)


@pytest.mark.parametrize(
    "source",
    [
        "_getattr_ = None",
        "_print = 1",
        "_tmp0 = 1",
        "_last_value_ = 1",
        "__x = 1",
        "class A:\n    import numpy as _x",
        "class A:\n    __slots__ = ('__dict__',)",
        "import pandas as pd\nclass Frame(pd.DataFrame):\n    def _constructor(self):\n        return 1",
        "import pandas as pd\npd.DataFrame()._mgr",
        "import pandas as pd\npd.DataFrame().private__mgr",
        "import pandas as pd\ngetattr(pd.DataFrame(), '_mgr')",
        "import numpy as np\nnp._core",
        "import pandas as pd\npd.DataFrame({'a': [1]}).query('@_tmp0 > 1')",
        "from numpy import _core",
        "from sklearn.base import BaseEstimator\nclass A(BaseEstimator):\n    def __init__(self, _x=1): pass\n"
        "A().get_params()",
        "from sklearn.linear_model import Ridge\nclass A(Ridge):\n    def get_params(self, deep=True):\n"
        "        return {'_decision_function': 1}\nA().set_params(_decision_function=len)",
        "import numpy._core._methods as _m",
    ],
)
def test_private_names_lead_nowhere(source: str) -> None:
    with pytest.raises(REFUSALS):
        run(source)


def test_a_message_of_the_interpreter_spells_private_names_as_the_program_does() -> None:
    with pytest.raises(TypeError) as raised:
        run("class Count:\n    def _of(self, value): pass\nCount()._of()")
    assert spelled_text(str(raised.value)).startswith("Count._of() missing 1 required positional argument")


def test_the_message_about_a_private_attribute_of_a_library_names_it_as_the_program_does() -> None:
    with pytest.raises(AttributeError, match="'_mgr' is not accessible here"):
        run("import pandas as pd\npd.DataFrame()._mgr")
