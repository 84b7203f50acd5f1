"""Figures of corpora: `python -m tests.corpora.measure CORPUS [tuned|untuned] [--failures]`.

Failures are listed for the tuned half only.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.corpora.answered_questions import answer_questions
from tests.corpora.cells import load_cells
from tests.corpora.classified_phrases import classify_phrases
from tests.corpora.goals import load_goals
from tests.corpora.judged_conditions import judge_conditions
from tests.corpora.judged_pipelines import judge_pipelines
from tests.corpora.planned_goals import PlannedGoal, plan_goals
from tests.corpora.planned_series import PlannedSeries, plan_series
from tests.corpora.planned_training import PlannedTrainingGoal, plan_training_goals
from tests.corpora.questions import load_questions
from tests.corpora.read_cells import ReadFile, read_cell_file
from tests.corpora.series import SERIES_DIRECTORY, TRAINING_DIRECTORY
from tests.corpora.tables import Half
from tests.corpora.training import HELD_OUT_GOALS_DIRECTORY, load_training_goals
from tests.corpora.training_questions import load_training_questions, training_rows_path


def measure_goals(half: Half, lists_failures: bool) -> None:
    planned = plan_goals(load_goals(half))
    readable = [entry for entry in planned if entry.goal.readings]
    decidable = [entry for entry in readable if not entry.goal.may_ask]
    plain = [entry for entry in planned if entry.goal.plain]
    unserved = [entry for entry in planned if not entry.goal.readings]
    print(f"goals, {half} half: {len(planned)} over {len({entry.table.id for entry in planned})} tables")
    print("  right without a question:", _share([e.verdict == "right" for e in decidable]))
    print("  wrong:                   ", _share([e.verdict == "wrong" for e in planned]))
    print("  plain and asked about:   ", _share([e.verdict == "asked" for e in plain]))
    print("  unserved and refused:    ", _share([e.verdict == "right" for e in unserved]))
    print("  all:", dict(Counter(entry.verdict for entry in planned)))
    print("  right by confidence:     ", ", ".join(_calibration(planned)))
    if lists_failures and half == "tuned":
        for entry in planned:
            if entry.verdict not in ("right", "may_ask"):
                _print_failure(entry)


def measure_training_goals(half: Half, lists_failures: bool) -> None:
    """Print the figures of the training goals (`tuned`) or of those that are held out (`untuned`)."""
    files = load_training_goals() if half == "tuned" else load_training_goals(HELD_OUT_GOALS_DIRECTORY)
    planned = plan_training_goals(files)
    readable = [entry for entry in planned if not entry.is_unreadable]
    decidable = [entry for entry in readable if not entry.goal.may_ask]
    print(f"training goals, {half} half: {len(planned)} over {len(files)} tables")
    print("  right without a question:", _share([e.verdict == "right" for e in decidable]))
    print("  wrong:                   ", _share([e.verdict == "wrong" for e in planned]))
    print("  plain and asked about:   ", _share([e.verdict == "asked" for e in planned if e.goal.plain]))
    print("  unserved and refused:    ", _share([e.verdict == "right" for e in planned if e.is_unreadable]))
    print("  all:", dict(Counter(entry.verdict for entry in planned)))
    print("  right by confidence:     ", ", ".join(_calibration(planned)))
    if lists_failures and half == "tuned":
        for entry in planned:
            if entry.verdict not in ("right", "may_ask"):
                print(f"\n{entry.verdict}: {entry.file.id}: {entry.goal.goal}")
                print("   wanted:", entry.goal.aim, entry.goal.targets)
                print("   planned:", entry.outcome)


def measure_questions(half: Half, lists_failures: bool, is_training: bool = False) -> None:
    if is_training:
        answered_questions = answer_questions(half, load_training_questions(half), training_rows_path)
    else:
        answered_questions = answer_questions(half, load_questions(half))
    readable = [entry for entry in answered_questions if entry.question.aim == "answer"]
    others = [entry for entry in answered_questions if not entry.question.readings]
    files = {entry.file.id for entry in answered_questions}
    print(f"questions, {half} half: {len(answered_questions)} over {len(files)} files")
    print("  right:               ", _share([e.verdict == "right" for e in readable]))
    print("  right by one choice: ", _share([e.is_settled_by_a_choice for e in readable if e.answer is None]))
    print("  wrong:               ", _share([e.verdict == "wrong" for e in answered_questions]))
    print("  unserved and refused:", _share([e.verdict == "right" for e in others]))
    print("  all:", dict(Counter(entry.verdict for entry in answered_questions)))
    if lists_failures and half == "tuned":
        for entry in answered_questions:
            if entry.verdict not in ("right", "may_ask"):
                print(f"\n{entry.verdict}: {entry.file.id}: {entry.question.question}")
                print("   wanted:", [(r.computes, r.answer.model_dump()) for r in entry.question.readings][:1])
                print("   got:", entry.back[:150] if entry.plan is None else entry.plan.understanding)
                if entry.answer is not None:
                    print("  ", entry.answer.head(4).to_dict("records"))


def measure_series(half: Half, lists_failures: bool, directory: Path = SERIES_DIRECTORY) -> None:
    planned = plan_series(half, directory)
    decidable = [entry for entry in planned if not entry.goal.may_ask]
    print(f"series, {half} half: {len(planned)} goals over {len({e.file.id for e in planned})} files")
    for shape in ("series", "transactions"):
        print(
            f"  right, {shape + ':':14}",
            _share([e.verdict == "right" for e in decidable if e.file.shape == shape]),
        )
    print("  wrong:               ", _share([e.verdict == "wrong" for e in planned]))
    print("  with right values:   ", _share([not e.misses for e in planned if e.series is not None]))
    print("  all:", dict(Counter(entry.verdict for entry in planned)))
    if lists_failures and half == "tuned":
        for entry in planned:
            if entry.misses:
                print(f"\nvalues: {entry.file.id}: {entry.goal.goal}\n  ", "\n   ".join(entry.misses))
            if entry.verdict not in ("right", "may_ask"):
                _print_series_failure(entry)


def _print_series_failure(entry: PlannedSeries) -> None:
    print(f"\n{entry.verdict}: {entry.file.id}: {entry.goal.goal}")
    if entry.plan is None:
        print("   asked:", entry.question[:160])
        return
    judgement = entry.goal.judgement.model_dump(
        exclude_defaults=True, exclude={"checks", "gaps", "period_columns", "duplicates"}
    )
    print("   differs in:", ", ".join(entry.differences))
    print("   wanted:", judgement)
    print("   planned:", str(entry.plan.model_dump(exclude_defaults=True, exclude={"steps", "stages"}))[:700])


def measure_intent(half: Half, lists_failures: bool) -> None:
    """Print the verdicts too, with `--failures`: of the untuned half once its rules are finished."""
    classified = classify_phrases(half)
    print(f"intent, {half} half: {len(classified)} phrases")
    print("  right:        ", _share([entry.is_right for entry in classified]))
    print("  wrong patches:", sum(entry.is_wrong_patch for entry in classified))
    for entry in classified:
        if lists_failures and (half == "untuned" or not entry.is_right):
            lanes, intent = "|".join(sorted(entry.phrase.lanes)), entry.intent
            print(f"  {intent.lane:8} ({lanes}) {entry.phrase.text} [{intent.reason}]")


def measure_conditions(half: Half, lists_failures: bool) -> None:
    judged = judge_conditions(half)
    print(f"conditions, {half} half: {len(judged)} phrases")
    print("  right:", _share([entry.is_right for entry in judged]))
    print("  wrong:", _share([entry.is_wrong for entry in judged]))
    for entry in judged:
        if lists_failures and half == "tuned" and not entry.is_right:
            print(f"  {entry.phrase.workflow}: {entry.phrase.phrase} {dict(entry.phrase.runs)}")
            print(f"     {entry.reply} {entry.effects or ''}")


def measure_pipelines(half: Half, lists_failures: bool) -> None:
    judged = judge_pipelines(half)
    print(f"pipelines, {half} half: {len(judged)} sentences")
    print("  right:", _share([entry.is_right for entry in judged]))
    print("  wrong:", _share([entry.is_wrong for entry in judged]))
    for entry in judged:
        if lists_failures and half == "tuned" and not entry.is_right:
            print(f"  {entry.sentence.given}: {entry.sentence.words} {[*entry.sentence.nodes]}")
            print(f"     {entry.lane} {[*entry.nodes]} {entry.trigger} {entry.reply}")


def measure_cells(half: Half, lists_failures: bool) -> None:
    files = [read_cell_file(half, file) for file in load_cells(half)]
    columns = [column for file in files for column in file.columns]
    judged = sum(len(file.file.columns) for file in files)
    rows = [row for file in files for row in file.predictions]
    cells = [name not in row.wrong for row in rows for name in row.values]
    print(f"cells, {half} half: {judged} columns in {len(files)} files")
    print("  files with all rows, and no others:", _share([file.rows[0] == file.rows[1] for file in files]))
    print("  columns right in every aspect:     ", _share_of(sum(not c.faults for c in columns), judged))
    for aspect in ("kind", "convention", "values", "missing", "certain"):
        print(f"    {aspect + ':':33}", _share_of(sum(aspect not in c.faults for c in columns), judged))
    print("  cells of rows to predict:          ", _share(cells))
    print("  rows to predict, all cells right:  ", _share([not row.wrong and not row.fault for row in rows]))
    if lists_failures and half == "tuned":
        for file in files:
            _print_faults(file)


def _print_faults(file: ReadFile) -> None:
    if file.fault or file.rows[0] != file.rows[1] or file.lost:
        print(f"\n{file.file.id}: {file.fault} rows {file.rows[0]} ({file.rows[1]}) without {list(file.lost)}")
    for column in file.columns:
        for aspect, fault in column.faults.items():
            print(f"{file.file.id}: {column.judged.name}: {aspect}: {fault}")
    for row in file.predictions:
        if row.wrong or row.fault:
            print(f"{file.file.id}: to predict: {row.fault} {row.wrong}")


def _share_of(hits: int, total: int) -> str:
    return f"{hits} of {total} ({hits / max(total, 1):.0%})"


def _calibration(planned: Sequence[PlannedGoal | PlannedTrainingGoal]) -> Iterator[str]:
    """Yield the mean confidence and the share of right plans in five bins of confidence."""
    readings = [
        (entry.plan.understanding.confidence, entry.verdict == "right")
        for entry in planned
        if entry.plan and entry.plan.is_understood and entry.plan.understanding
    ]
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        inside = [(confidence, is_hit) for confidence, is_hit in readings if low <= confidence < high]
        if inside:
            mean = sum(confidence for confidence, _ in inside) / len(inside)
            yield f"{mean:.2f} -> {sum(is_hit for _, is_hit in inside) / len(inside):.2f} of {len(inside)}"


def _share(hits: list[bool]) -> str:
    return _share_of(sum(hits), len(hits))


def _print_failure(entry: PlannedGoal) -> None:
    print(f"\n{entry.verdict}: {entry.table.id}: {entry.goal.goal}")
    for reading in entry.goal.readings[:2]:
        print("   wanted:", {key: value for key, value in reading.model_dump().items() if value})
    if entry.plan:
        plan_fields = entry.plan.model_dump(exclude_defaults=True, exclude={"steps", "parsed_question"})
        print("   planned:", plan_fields)
    else:
        print("   asked:", entry.question[:160], "|", ", ".join(entry.options[:6]))


MEASURES = {
    "cells": measure_cells,
    "conditions": measure_conditions,
    "pipelines": measure_pipelines,
    "intent": measure_intent,
    "goals": measure_goals,
    "questions": measure_questions,
    "series": measure_series,
    "training-goals": measure_training_goals,
    "training-questions": partial(measure_questions, is_training=True),
    "training": partial(measure_series, directory=TRAINING_DIRECTORY),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.measure", description=__doc__)
    parser.add_argument("corpus", choices=[*MEASURES])
    parser.add_argument("half", nargs="?", choices=["tuned", "untuned"])
    parser.add_argument("--failures", action="store_true", help="list the failures of the tuned half")
    arguments = parser.parse_args()
    for half in [arguments.half] if arguments.half else ["tuned", "untuned"]:
        MEASURES[arguments.corpus](half, arguments.failures)


if __name__ == "__main__":
    main()
