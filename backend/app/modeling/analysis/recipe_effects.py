"""The effects of a recipe on its training rows, as a frame and as sentences."""

import pandas as pd

from app.modeling.facts.code_in_facts import contains_code
from app.modeling.facts.computation_facts import FrameFacts
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, make_recipe, parse_recipe, select_inputs
from app.modeling.table.column_kinds import describe_columns

_SENTENCES = {
    "drop": "Left out {columns}.",
    "to_number": "Read {columns} as numbers.",
    "to_category": "Treated {columns} as categories.",
    "merge_spellings": "Merged different spellings of the categories of {columns}.",
    "group_rare": "Grouped rare categories of {columns} as 'other'.",
    "frequency": "Added the frequency of the value of {columns}.",
    "parse_dates": "Split {columns} into parts of dates.",
    "elapsed": "Added the time since the first training row, by {column}.",
    "days_between": "Added the days between {columns}.",
    "mark_missing": "Marked where {columns} is missing.",
    "impute": "Filled missing values of {columns} with the training rows' {strategy}.",
    "clip": "Clipped {columns} to the training rows' quantiles {lower} and {upper}.",
    "log1p": "Added the logarithm of {columns}.",
    "combine": "Added the {how} of {columns}.",
    "text_stats": "Counted letters, words and digits of {columns}.",
    "extract": "Extracted the {what} from {columns}.",
    "tfidf": "Weighted the {most} most frequent words of {columns}.",
    "lags": "Added the values of {columns} {periods} rows earlier.",
    "changes": "Added the change of {columns} over {periods} rows.",
    "rolling": "Added rolling {statistics} of {columns} over {windows} rows.",
    "indicators": "Added the indicators {names} of {close}.",
    "volatility": "Added the volatility of {close} over {windows} rows, from closes and from ranges of bars.",
    "cross": "Added the change of {column} of the other series at the same time, over {periods} rows.",
    "ahead": "Added the calendar of the forecast time, and {column} at the same point of earlier seasons.",
    "python": "Ran the custom code `{name}` on {columns}.",
}


def describe_operation(operation: dict[str, object]) -> str:
    """Describe an operation in a sentence; it comes from a parsed recipe, so defaults are filled in."""
    words = {key: _format_list(value) for key, value in operation.items()}
    if "pairs" in words:
        words["columns"] = words["pairs"]
    return _SENTENCES[str(operation["op"])].format(**words)


def _format_list(value: object) -> str:
    if isinstance(value, list | tuple):
        parts = [
            " and ".join(map(str, part)) if isinstance(part, list | tuple) else str(part) for part in value
        ]
        text = ", ".join(parts[:6])
        return text if len(parts) <= 6 else f"{text} and {len(parts) - 6} more"
    return str(value)


def apply_recipe(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson) -> pd.DataFrame:
    """Apply a recipe to its training rows; the target is added last, as it is in the table."""
    inputs = select_inputs(frame, problem)
    # Only custom code may learn from the target.
    target = make_labels(frame, problem) if contains_code(recipe) else None
    features: pd.DataFrame = make_recipe(problem, recipe).set_params(hide=()).fit_transform(inputs, target)
    return features.drop(columns=problem.target, errors="ignore").assign(
        **{problem.target: frame[problem.target]}
    )


def extend_recipe(
    frame: pd.DataFrame, problem: Problem, recipe: RecipeJson, added: RecipeJson
) -> tuple[pd.DataFrame, FrameFacts]:
    """Add operations to a recipe and apply it; raises InvalidInput as `parse` and `fit` do."""
    before = apply_recipe(frame, problem, recipe)
    extended = normalize_recipe([*recipe, *added])
    after = apply_recipe(frame, problem, extended)
    facts: FrameFacts = {
        "recipe": extended,
        "added": extended[len(recipe) :],
        "effects": [describe_operation(operation) for operation in extended[len(recipe) :]],
        "rows": len(after),
        "columns": describe_columns(after),  # type: ignore[typeddict-item]  # the same keys, not the same name
        "new_columns": [name for name in after.columns if name not in before.columns],
        "dropped_columns": [name for name in before.columns if name not in after.columns],
    }
    return after, facts


def normalize_recipe(recipe: RecipeJson) -> RecipeJson:
    """Write out every default of a recipe."""
    return [step.model_dump(mode="json") for step in parse_recipe(recipe)]
