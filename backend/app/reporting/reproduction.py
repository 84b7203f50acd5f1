"""The cells of a notebook that reproduces the session, over `computations.notebook_workbench`.

Decisions that depended on time are replayed as recorded, so the notebook depends on no clock. Text from data is
a literal in code cells and escaped in prose cells. Results are compared with the recorded ones.
"""

import statistics
from collections.abc import Sequence
from pprint import pformat
from typing import Any

from app.recorded_call import RecordedCall
from app.reporting.custom_code import iter_custom_code
from app.reporting.document.blocks import NotebookCell
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at, successful_calls
from app.reporting.fact_records import BlendRecord, FitRecord
from app.reporting.markdown import escape_text
from app.reporting.session_bundle import safe_file_name
from app.reporting.session_facts import ReportFacts

RETRIEVED = "data"

_SETUP = """\
import pandas as pd

from app.computations.notebook_workbench import Workbench, compared, scores

lab = Workbench(seed={seed}, threads={threads})"""

_SETUP_WITH_CODE = """\
import sys

import pandas as pd

from app.computations.notebook_workbench import Workbench, compared, scores
from app.modeling.facts.code_in_facts import contains_code
from app.sandbox.policy.custom_functions import define

# Set to True, or run `python session.py --run-crew-code`, once you have read the code of the crew below.
RUN_CREW_CODE = "--run-crew-code" in sys.argv
HOW = "To run it: read it above, then set RUN_CREW_CODE = True, or run `python session.py --run-crew-code`."

lab = Workbench(seed={seed}, threads={threads}, code=define if RUN_CREW_CODE else None)"""

_ABOUT_CODE = """\
## Code of the crew

Features and estimators that agents wrote in this session. Here they are text: candidates that need them are \
left out, and so is the model if it is made of such candidates. The service ran this code in cells; this \
notebook has no cell around it, and the language policy alone does not hold what is hostile. With \
`RUN_CREW_CODE = True` it runs in this process, with your files and your rights: read it first."""

_SPLIT = """\
split = lab.split(table, PROBLEM, ASSUMPTIONS)
print(split.facts["train_rows"], "training rows,", split.facts["holdout_rows"], "held out.")
print(split.facts["reason"])
compared(ROWS, split.facts)"""

_FIT = """\
fitted = []
for candidate in CANDIDATES:
    spec = {**candidate, "recipe": RECIPES[candidate["recipe"]]}
    fitted.append(lab.fit(split, LEARNED, **spec))
    print(candidate["name"], candidate["run"], fitted[-1].facts["score"])"""

_FIT_WITH_CODE = """\
fitted, left_out = [], []
for candidate in CANDIDATES:
    spec = {**candidate, "recipe": RECIPES[candidate["recipe"]]}
    if contains_code(spec) and not RUN_CREW_CODE:
        left_out.append(candidate["name"])
        continue
    fitted.append(lab.fit(split, LEARNED, **spec))
    print(candidate["name"], candidate["run"], fitted[-1].facts["score"])
if left_out:
    print("Left out, because they run code of the crew:", ", ".join(dict.fromkeys(left_out)))
    print(HOW)"""

_BLEND = """\
of = {{(each.facts["name"], tuple(each.facts["run"])): each for each in fitted}}
model = lab.blend([of[member] for member in MEMBERS], name={name})
print(model.facts["weights"])"""

_PICK = "model = next(each for each in fitted if each.facts['name'] == {name})"

_BOARD = "compared(LEADERBOARD, scores([*fitted, model]))"
_BOARD_OF_PARTS = "compared(LEADERBOARD, scores(fitted))"

_BLEND_WITH_CODE = """\
of = {{(each.facts["name"], tuple(each.facts["run"])): each for each in fitted}}
complete = all(member in of for member in MEMBERS)
model = lab.blend([of[member] for member in MEMBERS], name={name}) if complete else None
print(model.facts["weights"] if model else "The model needs candidates that were left out. " + HOW)"""

_PICK_WITH_CODE = """\
complete = {name} not in left_out
model = next(each for each in fitted if each.facts["name"] == {name}) if complete else None
print("The model is ready." if complete else "The model was left out. " + HOW)"""

_BOARD_WITH_CODE = """\
board = scores({fits})
here = {{name: score for name, score in LEADERBOARD.items() if name in board and name not in left_out}}
compared(here, board)"""

_JUDGE = """\
final = lab.judge(split, model)
compared(HOLDOUT, {name: score["value"] for name, score in final["metrics"].items()})"""

_EXPLAIN = """\
explained = lab.explain(split, model)
pd.DataFrame(explained["importances"])"""

_PREDICT = """\
# Your own rows come here: the columns of the table, without the target.
new_rows = pd.read_parquet(split.holdout).head()
lab.predict({model}, new_rows)"""

_REFIT = "delivered = lab.refit(split, model{options})"

_WITH_MODEL = """\
if complete:
{code}
else:
    print("Left out with the model. " + HOW)"""


def make_cells(draft: ReportDraft) -> list[NotebookCell]:
    """Return the cells in order; none if no model was evaluated on the hold-out."""
    facts = draft.facts
    table = _data_cells(draft.calls, facts)
    model_cells = _model_cells(facts)
    if (
        facts.final is None
        or facts.chosen_model is None
        or facts.split is None
        or table is None
        or model_cells is None
    ):
        return []
    learned = [*_custom_code_cells(facts), *_candidate_cells(facts)]
    return [
        *_introduction_cells(facts),
        *table,
        *_split_cells(facts),
        *learned,
        *model_cells,
        *_evaluation_cells(facts),
    ]


def _introduction_cells(facts: ReportFacts) -> list[NotebookCell]:
    versions = ", ".join(f"{name} {version}" for name, version in (facts.session_record.versions or {}).items())
    threads = max((int(part.content.threads or 1) for part in facts.fit_parts), default=1)
    template = _SETUP_WITH_CODE if _sources(facts) else _SETUP
    setup = template.format(seed=repr(facts.session_record.seed), threads=threads)
    return [
        _prose(
            "This notebook reproduces the session without the service: the same data, split, "
            "candidates, settings "
            "and seed. It needs the `labcrew` package and the folder `data` of the session's archive "
            "beside it. "
            f"The session ran with {escape_text(versions) or 'versions that were not recorded'}."
        ),
        _code(setup),
    ]


def _split_cells(facts: ReportFacts) -> list[NotebookCell]:
    split = facts.split.value if facts.split else {}
    rows = {name: split.get(name) for name in ("train_rows", "holdout_rows", "duplicates_removed")}
    rows |= {"repeated_rows": split["repeated_rows"]} if "repeated_rows" in split else {}
    assumptions = split.get("assumptions") or []
    return [
        _prose(
            "## Split\n\nThe hold-out is split off before any analysis. The problem is complete, as "
            "the session "
            "resolved it."
        ),
        _code(
            f"PROBLEM = {_literal(split.get('problem') or {})}\nROWS = {_literal(rows)}\n"
            f"# Conditions of the score as they were measured and answered: they decide the split.\n"
            f"ASSUMPTIONS = {_literal(assumptions)}"
        ),
        _code(_SPLIT),
    ]


def _candidate_cells(facts: ReportFacts) -> list[NotebookCell]:
    recipes: list[Any] = []
    sources = _sources(facts)
    specs = [_spec(part, recipes) for part in facts.fit_parts]
    fitted_for = [part.content.problem for part in facts.fit_parts if part.content.problem]
    learned = fitted_for[-1] if fitted_for else facts.problem.value if facts.problem else {}
    return [
        _prose(
            "## Candidates\n\nEvery fit of the session. `run` names the folds of a fit, where an empty list is "
            "all rows at once; `settings` are the recorded decisions of time limits and early "
            "stopping. `LEARNED` "
            "is the problem that candidates were fitted for: columns may have been excluded after the split."
        ),
        _code(f"LEARNED = {_literal(learned)}\nRECIPES = {_literal(_reference_sources(recipes, sources))}"),
        _code(f"CANDIDATES = {_literal(_reference_sources(specs, sources))}"),
        _code(_FIT_WITH_CODE if sources else _FIT),
    ]


def _spec(part: TypedFact[FitRecord], recipes: list[Any]) -> dict[str, Any]:
    recipe = part.content.recipe or []
    if recipe not in recipes:
        recipes.append(recipe)
    settings = {
        name: part.value[name]
        for name in ("name", "estimator", "hyperparameters", "folds")
        if name in part.value
    }
    return {
        **settings,
        "run": part.content.run,
        "settings": part.content.settings,
        "recipe": recipes.index(recipe),
    }


def _custom_code_cells(facts: ReportFacts) -> list[NotebookCell]:
    """Define a variable for each custom source."""
    code_cells = [_code(_assignment(name, text.split("\n"))) for text, name in _sources(facts).items()]
    return [_prose(_ABOUT_CODE), *code_cells] if code_cells else []


def _assignment(name: str, lines: list[str]) -> str:
    """Return an assignment of the lines as string literals, so that their content is never executed here."""
    body = "".join(f"    {line!r},\n" for line in lines)
    return f'{name} = "\\n".join([\n{body}])'


def _sources(facts: ReportFacts) -> dict[str, "_Variable"]:
    """Map each source, in recorded order, to its variable."""
    variables: dict[str, _Variable] = {}
    for part in facts.fit_parts:
        for code in iter_custom_code(part):
            variables.setdefault(code.text("source"), _Variable(f"SOURCE_{len(variables) + 1}"))
    return variables


class _Variable(str):
    """A variable name that `pformat` writes without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _reference_sources(value: Any, sources: dict[str, _Variable]) -> Any:
    if isinstance(value, dict):
        replaced = {key: _reference_sources(item, sources) for key, item in value.items()}
        source = value.get("source")
        return (
            {**replaced, "source": sources[source]}
            if isinstance(source, str) and source in sources
            else replaced
        )
    return [_reference_sources(item, sources) for item in value] if isinstance(value, list) else value


def _model_cells(facts: ReportFacts) -> list[NotebookCell] | None:
    """Combine the parts of the chosen model and compare the leaderboard; None if the model was not recorded."""
    name = str(facts.chosen_model.value) if facts.chosen_model else ""
    blend = next((candidate for candidate in facts.blends if candidate.content.name == name), None)
    board = _scores(facts.fit_parts)
    if blend is None:
        if name not in {part.content.name for part in facts.fit_parts}:
            return None
        if _sources(facts):
            pick = _code(_PICK_WITH_CODE.format(name=repr(name)))
            return [*_leaderboard_cells(board, _BOARD_WITH_CODE.format(fits="fitted")), pick]
        return [*_leaderboard_cells(board, _BOARD_OF_PARTS), _code(_PICK.format(name=repr(name)))]
    members = [(member.name, tuple(member.run)) for member in blend.content.members]
    is_ensemble = name not in board
    return [
        _prose("## The model\n\nThe candidates are blended with weights from out-of-fold predictions."),
        _code(f"MEMBERS = {_literal(members)}"),
        _code((_BLEND_WITH_CODE if _sources(facts) else _BLEND).format(name=repr(name))),
        *_leaderboard_cells({**_scores([blend]), **board}, _board_code(facts, is_ensemble)),
    ]


def _board_code(facts: ReportFacts, is_ensemble: bool) -> str:
    if _sources(facts):
        return _BOARD_WITH_CODE.format(
            fits="[*fitted, *([model] if complete else [])]" if is_ensemble else "fitted"
        )
    return _BOARD if is_ensemble else _BOARD_OF_PARTS


def _needing_model(facts: ReportFacts, code: str) -> NotebookCell:
    """Return a cell that needs the model; it is skipped if the model holds custom code that was not run."""
    if not _sources(facts):
        return _code(code)
    *before, last = code.split("\n")
    printed = last if "=" in last.partition("(")[0] else f"print({last})"
    body = "\n".join(f"    {line}" for line in [*before, printed])
    return _code(_WITH_MODEL.format(code=body))


def _leaderboard_cells(board: dict[str, float], code: str) -> list[NotebookCell]:
    return [
        _prose("## The leaderboard\n\nMean score over folds, as recorded and as reproduced."),
        _code(f"LEADERBOARD = {_literal(board)}"),
        _code(code),
    ]


def _scores(fits: Sequence[TypedFact[FitRecord]] | Sequence[TypedFact[BlendRecord]]) -> dict[str, float]:
    """Return mean fold scores by candidate, as `workbench.scores` computes them."""
    by_name: dict[str, list[float]] = {}
    for fit in fits:
        scores = [score for score in fit.content.fold_scores if score is not None]
        by_name.setdefault(fit.content.name, []).extend(scores)
    return {name: statistics.fmean(scores) for name, scores in by_name.items() if scores}


def _evaluation_cells(facts: ReportFacts) -> list[NotebookCell]:
    metrics = facts.final.content.metrics if facts.final else {}
    recorded = {name: score and score.value for name, score in metrics.items()}
    return [
        _prose("## The hold-out\n\nOpened once in the session, for the chosen model."),
        _code(f"HOLDOUT = {_literal(recorded)}"),
        _needing_model(facts, _JUDGE),
        *_refit_cells(facts),
        _prose("## Feature importance\n\nOn more rows than the session may have had time for."),
        _needing_model(facts, _EXPLAIN),
        *_prediction_cells(facts),
    ]


def _prediction_cells(facts: ReportFacts) -> list[NotebookCell]:
    horizon = facts.problem.at("horizon") if facts.problem else None
    if horizon is not None and horizon.value:
        return []  # a forecast starts from all rows up to now, not from single ones
    cell = _needing_model(facts, _PREDICT.format(model="delivered" if facts.refit else "model"))
    return [_prose("## New rows\n\nA cell that cannot be read is a missing value; `problems` names it."), cell]


def _refit_cells(facts: ReportFacts) -> list[NotebookCell]:
    if facts.refit is None:
        return []
    options = ", by_entity=True" * facts.refit.content.by_entity
    options += f", widening={widening}" if (widening := facts.refit.content.widening) else ""
    return [
        _prose("## The delivered model\n\nThe same settings on all rows, fitted after the evaluation."),
        _needing_model(facts, _REFIT.format(options=options)),
    ]


def _data_cells(calls: Sequence[RecordedCall], facts: ReportFacts) -> list[NotebookCell] | None:
    """Open the session's table: by query or upload if that is recorded, else from the stored frame."""
    uploads = facts.session_record.datasets or []
    digests = {upload.table or upload.name: upload.digest for upload in uploads}
    opening = _prose("## Data\n\nThe datasets of the session; a file with another digest is refused.")
    for call in reversed(successful_calls(calls)):
        request = call.request or {}
        if call.tool == "execute_sql" and request.get("keep") and digests:
            entries = "".join(_entry(name, digest) for name, digest in digests.items())
            query = f"table = lab.query({request['sql']!r}, **tables)"
            return [opening, _code(f"tables = {{\n{entries}}}"), _code(query)]
        if call.tool == "fetch_dataset" and request.get("dataset") in digests:
            return [opening, _code(f"table = {_open(request['dataset'], digests[request['dataset']])}")]
    frame_digests = [
        artifact.text("digest") for artifact in items_at(facts.session, "artifacts") if _is_retrieved(artifact)
    ]
    if frame_digests:
        return [opening, _code(f"table = {_open(RETRIEVED, frame_digests[-1])}")]
    return [opening, _code(f"table = {_open(*next(iter(digests.items())))}")] if len(digests) == 1 else None


def _is_retrieved(artifact: RecordedFact) -> bool:
    return artifact.text("kind") == "frame" and artifact.text("name") == RETRIEVED


def _entry(name: str, digest: str | None) -> str:
    return f"    {name!r}: {_open(name, digest)},\n"


def _open(name: str, digest: str | None) -> str:
    return f"lab.open({f'data/{safe_file_name(name)}.parquet'!r}, sha256={digest!r})"


def _prose(text: str) -> NotebookCell:
    return NotebookCell("prose", text)


def _code(text: str) -> NotebookCell:
    return NotebookCell("code", text)


def _literal(value: Any) -> str:
    return pformat(value, width=100, sort_dicts=False)
