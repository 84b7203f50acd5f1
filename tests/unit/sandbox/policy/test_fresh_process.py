"""Everyday programs in a process that has used no library yet, as a fresh cell is."""

import json
import subprocess
import sys

import pytest

RUNNER = """
import json, os, sys, tempfile
import app.sandbox.programs.execution
from app.sandbox.exchange.contract import Code
from app.sandbox.zygote.preloaded_libraries import load_libraries
from pathlib import Path
load_libraries()
for name, source in json.load(sys.stdin).items():
    if os.fork() == 0:
        folder = Path(tempfile.mkdtemp())
        os.chdir(folder)
        try:
            outcome = app.sandbox.programs.execution.run(Code(source), {}, folder)["result"]
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        os.write(1, (json.dumps([name, outcome]) + chr(10)).encode())
        os._exit(0)
    os.wait()
"""
SAMPLE = """
import numpy as np
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
"""
PROGRAMS = {
    "a mean": ("import numpy as np\nresult = float(np.array([1.0, 2, 3]).mean())", 2.0),
    "a deviation": (
        "import numpy as np\na = np.arange(5.0)\nresult = [float(a.std()) ** 2, float(a.var())]",
        [2.0000000000000004, 2.0],
    ),
    "a share": ("import numpy as np\nresult = float((np.array([1, 2]) == np.array([1, 3])).mean())", 0.5),
    "text of a dtype": ("import numpy as np\nresult = str(np.array([1.0]).dtype)", "float64"),
    "an array in a text": ("import numpy as np\nresult = f'{np.array([1.5, 2])}'", "[1.5 2. ]"),
    "a dtype of pandas": ("import pandas as pd\nresult = str(pd.Series(['a']).dtype)", "str"),
    "scores of folds": (
        f"{SAMPLE}from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.model_selection import cross_val_score\n"
        "result = bool(cross_val_score(LogisticRegression(), X, y).mean() > 0.9)",
        True,
    ),
    "clusters": (f"{SAMPLE}from sklearn.cluster import KMeans\nlen(KMeans(3, n_init=2).fit(X).labels_)", 60),
    "a mixture": (
        f"{SAMPLE}from sklearn.mixture import GaussianMixture\nlen(GaussianMixture(2).fit(X).predict(X))",
        60,
    ),
    "private names": ("_x = 1\ndef _twice(_v):\n    return 2 * _v\nresult = _twice(_x)", 2),
    "an expression at the end": ("import pandas as pd\npd.Series([1, 2]).sum()", 3),
    "a result before an expression": ("result = 1\n2", 1),
    "a nested result": ("result = {'a': {'b': [1, 2]}}", {"a": {"b": [1, 2]}}),
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, object]:
    sources = json.dumps({name: source for name, (source, _) in PROGRAMS.items()})
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=sources, capture_output=True, text=True, check=True
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_everyday_program_runs(name: str, outcomes: dict[str, object]) -> None:
    assert outcomes[name] == PROGRAMS[name][1]
