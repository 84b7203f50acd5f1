"""Write one small model of each stored type that the studies of `tests.stored.build` do not hold.

    python -m tests.stored.models tests/data/labcrew-0.1.0

Each file `models/<name>.json` holds rows, their predictions and the model's file, in xz and base64.
"""

import json
import lzma
import random
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pandas as pd
from tests.stored import tables

from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.training.fitting import CandidateSpec, fit, predict_all
from app.modeling.training.persistence import StoredModel, serialize_model
from app.modeling.training.training_set import TrainingSet

ROWS = 5
FEW_TREES = {"n_estimators": 5, "num_leaves": 4}
REMARKS = {
    "yes": ["too dear for what it is", "support never answered", "slow and expensive"],
    "no": ["works well every day", "friendly support", "good value and quick"],
}


def customers() -> pd.DataFrame:
    """With a text column that depends on the target, and a positive number with a long tail."""
    draw = random.Random(11)
    frame = pd.DataFrame(tables.customers())
    remarks = [
        f"{draw.choice(REMARKS[has_left])} since {months} months, order {draw.randint(1000, 9999)}"
        for has_left, months in zip(frame[tables.TARGET], frame.months, strict=True)
    ]
    spent = [
        months * price * draw.lognormvariate(0, 1)
        for months, price in zip(frame.months, frame.price, strict=True)
    ]
    return frame.assign(remark=remarks, spent=spent)


MODELS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "text": (tables.TARGET, "classification", "LogisticRegression", {}),
    "network": (tables.TARGET, "classification", "Network", {}),
    "logarithm": ("spent", "regression", "LightGBM", {"on_log": True, **FEW_TREES}),
}


def build(target: Path) -> None:
    folder = target / "models"
    folder.mkdir(exist_ok=True)
    frame = customers()
    for name, (column, kind, estimator, hyperparameters) in MODELS.items():
        table = frame if name == "text" else frame.drop(columns="remark")
        problem = resolve_problem(table, {"target": column, "problem": kind})
        model = fit(TrainingSet.from_frame(table, problem), CandidateSpec(estimator, hyperparameters, []))
        rows = table.drop(columns=column).head(ROWS)
        stored = {
            "rows": rows.to_dict("records"),
            "predictions": predict_all(model, rows, problem).tolist(),
            "model": b64encode(
                lzma.compress(serialize_model(StoredModel(model, {"problem": problem.to_json()})))
            ).decode(),
        }
        (folder / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
