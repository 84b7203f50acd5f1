"""What a zygote serves first needs no library of models or of figures."""

import subprocess
import sys

from app.sandbox.zygote.first_computations import is_first

PROGRAM = """
import sys
from app.sandbox.zygote import process as zygote
from app.sandbox.zygote.preloaded_libraries import load_first
load_first()
unused = {"sklearn", "xgboost", "skops", "talib", "statsmodels", "scipy", "matplotlib", "joblib"}
print(*unused & set(sys.modules))
"""


def test_uploads_and_questions_load_no_library_of_models_or_figures() -> None:
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert process.stdout.split() == []


def test_fits_wait_for_every_library() -> None:
    assert is_first("queries.query.run")
    assert is_first("uploads.ingest.convert")
    assert not is_first("models.train.fit_candidate")
