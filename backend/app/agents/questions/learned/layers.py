"""Parts of a transformer over states (rows, width), in NumPy: matrices, attention and feed-forward."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Weights = dict[str, np.ndarray]

WIDTH, HEADS = 256, 8
"""Width of the states, and heads of each attention."""
_EPSILON = 1e-5
"""Added to variances."""


def apply(states: "np.ndarray", weights: "Weights", name: str) -> "np.ndarray":
    """Apply a matrix and its bias."""
    return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normalise(states: "np.ndarray", weights: "Weights", name: str) -> "np.ndarray":
    import numpy as np  # noqa: PLC0415

    centred = states - states.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def split_heads(states: "np.ndarray") -> "np.ndarray":
    """Return states (..., rows, width) as (..., heads, rows, width of a head)."""
    *before, rows, _ = states.shape
    return states.reshape(*before, rows, HEADS, WIDTH // HEADS).swapaxes(-2, -3)


def attend(
    query: "np.ndarray", key: "np.ndarray", value: "np.ndarray", bias: "np.ndarray | None" = None
) -> "np.ndarray":
    """Return what queries (..., heads, rows, width of a head) attend to, as states (..., rows, width).

    `bias`: added to the logits (..., heads, rows, rows of `key`).
    """
    import numpy as np  # noqa: PLC0415

    logits = query @ key.swapaxes(-1, -2) / np.float32((WIDTH // HEADS) ** 0.5)
    if bias is not None:
        logits = logits + bias
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    attended = (shares @ value).swapaxes(-2, -3)
    return np.asarray(attended.reshape(*attended.shape[:-2], WIDTH))


def feed(states: "np.ndarray", weights: "Weights", name: str) -> "np.ndarray":
    """Add the feed-forward part of a layer."""
    import numpy as np  # noqa: PLC0415

    inner = apply(normalise(states, weights, f"{name}.n2"), weights, f"{name}.f1")
    # GELU by its approximation with tanh, as it was fitted.
    inner = inner * 0.5 * (1 + np.tanh(np.float32(0.7978846) * (inner + np.float32(0.044715) * inner**3)))
    return np.asarray(states + apply(inner, weights, f"{name}.f2"))
