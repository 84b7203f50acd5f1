"""The tree model inside a stored model whose predictions can be decomposed."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from app.modeling.estimators.families.log_target import LogTargetModel
from app.modeling.explanation.contributions import TreeMember
from app.modeling.training.ensemble.average import Model, list_members


def find_tree_member(model: Model, rows: pd.DataFrame) -> TreeMember | None:
    """Find the member with the largest weight that has SHAP values, and its features of these raw rows."""
    members = list_members(model)
    weights = [1.0] if isinstance(model, Pipeline) else list(model.weights)
    for place in np.argsort(-np.asarray(weights), kind="stable"):
        steps = members[place].named_steps
        encoder, estimator = steps["encode"], steps["estimator"]
        learner = estimator.inner if isinstance(estimator, LogTargetModel) else estimator
        if not hasattr(learner, "contributions"):
            continue
        names = encoder.get_feature_names_out()
        # Places follow the frequency of categories, so that their order says nothing about the target.
        codes = {code["column"] for code in encoder.codes_ if code["as"] == "place"}
        return TreeMember(
            type(learner).__name__,
            learner,
            encoder.transform(steps["recipe"].transform(rows)),
            names,
            [name not in codes for name in names],
            on_log=learner is not estimator,
        )
    return None
