"""What a recipe does to its training rows, in a frame and in words."""

import pandas as pd

from app.modeling.labels.labels import make_labels
from app.modeling.problem.custom_code import contains_code
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import FrameFacts
from app.modeling.recipe.recipe import RecipeJson, make_recipe, parse_recipe, select_inputs
from app.modeling.table.columns import describe_columns

_SAYS = {
    "drop": "Left out {columns}.",
    "to_number": "Read {columns} as numbers.",
    "to_category": "Treated {columns} as categories.",
    "merge_spellings": "Wrote the categories of {columns} one way.",
    "group_rare": "Grouped rare categories of {columns} as 'other'.",
    "frequency": "Added how frequent the value of {columns} is.",
    "parse_dates": "Took {columns} apart into parts of dates.",
    "mark_missing": "Marked where {columns} is missing.",
    "impute": "Filled missing values of {columns} with the training rows' {strategy}.",
    "clip": "Pulled outliers of {columns} in to the training rows' quantiles {lower} and {upper}.",
    "log1p": "Added the logarithm of {columns}.",
    "combine": "Added the {how} of {columns}.",
    "text_stats": "Counted letters, words and digits of {columns}.",
    "extract": "Took the {what} out of {columns}.",
    "tfidf": "Weighted the {most} most used words of {columns}.",
    "lags": "Added the values of {columns} {periods} rows earlier.",
    "changes": "Added the change of {columns} over {periods} rows.",
    "rolling": "Added rolling {statistics} of {columns} over {windows} rows.",
    "indicators": "Added the indicators {names} of {close}.",
    "volatility": "Added the volatility of {close} over {windows} rows, from closes and from ranges of bars.",
    "cross": "Added the change of {column} of the others at the same moment, over {periods} rows.",
    "ahead": "Added the forecast moment's calendar, and {column} at its place of earlier seasons.",
    "python": "Ran the crew's own code `{name}` over {columns}.",
}


def sentence(operation: dict[str, object]) -> str:
    """One operation in words; names come from a parsed operation, so defaults are filled in."""
    words = {key: _listed(value) for key, value in operation.items()}
    if "pairs" in words:
        words["columns"] = words["pairs"]
    return _SAYS[str(operation["op"])].format(**words)


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        parts = [
            " and ".join(map(str, part)) if isinstance(part, list | tuple) else str(part) for part in value
        ]
        shown = ", ".join(parts[:6])
        return shown if len(parts) <= 6 else f"{shown} and {len(parts) - 6} more"
    return str(value)


def apply_recipe(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson) -> pd.DataFrame:
    """The training rows with their features and, last, the target as it is in the table."""
    inputs = select_inputs(frame, problem)
    target = make_labels(frame, problem) if contains_code(recipe) else None
    made: pd.DataFrame = make_recipe(problem, recipe).set_params(hide=()).fit_transform(inputs, target)
    return made.drop(columns=problem.target, errors="ignore").assign(**{problem.target: frame[problem.target]})


def extend(
    frame: pd.DataFrame, problem: Problem, recipe: RecipeJson, added: RecipeJson
) -> tuple[pd.DataFrame, FrameFacts]:
    """The recipe with operations added, and the frame it gives; raises InvalidInput as `parse` and `fit` do."""
    before = apply_recipe(frame, problem, recipe)
    whole = normalized([*recipe, *added])
    after = apply_recipe(frame, problem, whole)
    facts: FrameFacts = {
        "recipe": whole,
        "added": whole[len(recipe) :],
        "effects": [sentence(operation) for operation in whole[len(recipe) :]],
        "rows": len(after),
        "columns": describe_columns(after),  # type: ignore[typeddict-item]  # the same keys, not the same name
        "new_columns": [name for name in after.columns if name not in before.columns],
        "dropped_columns": [name for name in before.columns if name not in after.columns],
    }
    return after, facts


def normalized(recipe: RecipeJson) -> RecipeJson:
    """The recipe with every default written out."""
    return [step.model_dump(mode="json") for step in parse_recipe(recipe)]
