"""A session as a notebook that does it again: the recorded choices as code over this package's computations.

What comes from data stands in code as a literal and in prose as escaped text. The last cell puts what was
recorded beside what came out.
"""

from collections.abc import Sequence
from pprint import pformat
from typing import Any

from app.reporting.evidence import Fact, RecordedCall, proving
from app.reporting.found import Found
from app.reporting.markdown import plain
from app.reporting.sections.draft import Draft

_SETUP = '''\
from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

from app.computations import evaluate, ingest, query, split, train
from app.computations.bench import Bench


def compute(function, inputs, **params):
    """What a computation answers, and the folder with the files that it left."""
    folder = Path(mkdtemp())
    return function(Bench(inputs, folder), **params), folder'''

_CONVERT = """\
tables = {}
for table, file in FILES.items():
    _, folder = compute(ingest.ingest, {"upload": Path(file)}, filename=Path(file).name)
    tables[table] = folder / "table.parquet\""""

_RESULT = 'table = folder / "result.parquet"'

_LOCK = """\
locked, folder = compute(split.lock_holdout, {"table": table}, problem=WISH, seed=SEED)
frame, holdout = folder / "train.parquet", folder / "holdout.parquet"
print(locked["train_rows"], "rows to learn from,", locked["holdout_rows"], "held out:", locked["reason"])"""

_FIT = """\
fits, models = [], {}
for candidate in CANDIDATES:
    fit, folder = compute(train.fit_candidate, {"frame": frame}, problem=PROBLEM, seed=SEED, **candidate)
    fits.append(fit)
    models[fit["name"]] = folder / "model.skops"
    print(fit["name"], fit["score"])"""

_COMPARE = """\
compared, _ = compute(evaluate.compare_models, {}, fits=fits)
pd.DataFrame(compared["leaderboard"])"""

_JUDGE = """\
inputs = {"train": frame, "holdout": holdout, "model": models[CHOSEN]}
final, _ = compute(evaluate.final_evaluation, inputs, seed=SEED)
now = {name: score["value"] for name, score in final["metrics"].items()}
pd.DataFrame({"recorded": RECORDED, "now": now})"""


def notebook(draft: Draft) -> dict[str, Any] | None:
    """The notebook as nbformat 4.5 JSON; None for a session in which no model was judged."""
    found = draft.found
    table = _table(draft.calls, found)
    if found.final is None or found.chosen is None or found.split is None or table is None:
        return None
    cells = [
        _prose(f"# {_title(found)}\n\n{plain(found.session.text('goal'))}"),
        _prose(
            "This does the session again, without the service: the same data, split, candidates and seed. "
            "It needs the `labcrew` package in the session's version, and the data files beside this notebook."
        ),
        _code(_SETUP),
        _prose("## Data\n\nName your files here."),
        _code(f"FILES = {_literal(_files(found))}\nSEED = {found.session.value.get('seed', 0)!r}"),
        _code(_CONVERT),
        _code(table),
        _prose("## Split\n\nThe hold-out is locked before anyone looks."),
        _code(f"WISH = {_literal(_wish(found))}"),
        _code(_LOCK),
        _prose("## Candidates\n\nEach with the recipe that makes its features, learned in every fold."),
        _code(f"PROBLEM = {_literal(_problem(found))}\nCANDIDATES = {_literal(_candidates(found))}"),
        _code(_FIT),
        _code(_COMPARE),
        _prose("## The hold-out\n\nOpened once, for the model that was chosen."),
        _code(f"CHOSEN = {found.chosen.value!r}\nRECORDED = {_literal(_recorded(found.final))}"),
        _code(_JUDGE),
    ]
    return {
        "cells": [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _title(found: Found) -> str:
    return f"Predicting {plain(found.problem.text('target'))}" if found.problem else "A session again"


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text}


def _literal(value: Any) -> str:
    return pformat(value, width=100, sort_dicts=False)


def _files(found: Found) -> dict[str, str]:
    datasets = found.session.value.get("datasets") or []
    return {each.get("table") or each["name"]: f"{each['name']}.csv" for each in datasets}


def _table(calls: Sequence[RecordedCall], found: Found) -> str | None:
    """How the session's table was made; None where that cannot be told."""
    known = list(_files(found))
    for call in reversed(proving(calls)):
        request = call.request or {}
        if call.tool == "execute_sql" and request.get("keep"):
            return f"_, folder = compute(query.run_sql, tables, sql={request['sql']!r})\n{_RESULT}"
        if call.tool == "fetch_dataset" and request.get("dataset") in known:
            return f"table = tables[{request['dataset']!r}]"
    return f"table = tables[{known[0]!r}]" if len(known) == 1 else None


def _wish(found: Found) -> dict[str, Any]:
    """The complete problem: what the split completed once need not be guessed again."""
    return dict(found.problem.value) if found.problem else {}


def _candidates(found: Found) -> list[dict[str, Any]]:
    return [
        {
            "name": fit.text("name"),
            "estimator": fit.text("estimator"),
            "hyperparameters": fit.value.get("hyperparameters") or {},
            "recipe": fit.value.get("recipe") or [],
            "folds": fit.value.get("folds") or (found.split.value["folds"] if found.split else {}),
        }
        for fit in found.fits
    ]


def _problem(found: Found) -> dict[str, Any]:
    """The problem that candidates were fitted for: the analyst may have left out columns after the split."""
    fitted = [fit.value.get("problem") for fit in found.fits]
    return dict(next((problem for problem in reversed(fitted) if problem), None) or _wish(found))


def _recorded(final: Fact) -> dict[str, Any]:
    return {name: score.get("value") for name, score in final.value["metrics"].items()}
