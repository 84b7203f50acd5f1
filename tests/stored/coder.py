"""A scripted chat model: its analyst and trainer write Python, its other agents follow the offline policies."""

from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import by_policy, output_of

FEATURES = """
def fit(frame):
    return {"price": float(frame["price"].mean())}

def transform(frame, state):
    return frame.assign(dearer=frame["price"] - state["price"], years=frame["months"] / 12)
"""
ESTIMATOR = """
from sklearn.neighbors import KNeighborsClassifier

def fit(X, y):
    return KNeighborsClassifier(25, algorithm="brute").fit(X, y)

def predict_proba(X, state):
    return state.predict_proba(X)
"""
_COLUMNS = ["months", "price", "visits"]
_CANDIDATES = [{"estimator": name} for name in ("baseline", "LogisticRegression", "Near")]
_SCRIPTS = {
    "Prepared": [
        ("write_features", {"columns": _COLUMNS, "source": FEATURES, "name": "spending"}),
        ("Prepared", {"frame": "spending"}),
    ],
    "Trained": [
        ("write_estimator", {"name": "Near", "source": ESTIMATOR, "frame": "spending"}),
        ("train_classification_model", {"frame": "spending", "candidates": _CANDIDATES}),
        ("Trained", {"notes": []}),
    ],
}


def coder(request: dict[str, Any], place: int) -> AIMessage:
    script = _SCRIPTS.get(output_of(request))
    if script is None:
        return by_policy(request, place)
    answer_count = sum(message["role"] == "assistant" for message in request["messages"])
    name, arguments = script[answer_count]
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=None)])
