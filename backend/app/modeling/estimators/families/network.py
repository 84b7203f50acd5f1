"""A small neural network in numpy: two hidden layers, dropout, AdamW and averaged weights."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.special import softmax

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.learner import Learner, Validation, make_loss, parse_aim

MAX_EPOCHS = 80
"""Passes over the rows at most."""
PATIENCE = 8
"""Epochs without a lower validation loss after which training stops."""
Weights = list[np.ndarray]
"""Matrix and bias of each layer in turn."""


class Network(Learner):
    """Takes a dense float32 matrix of about unit scale. `epochs` None: chosen on validation rows."""

    def __init__(
        self,
        classes: int = 0,
        aim: str = "mean",
        epochs: int | None = None,
        hidden: int = 96,
        rate: float = 2e-3,
        dropout: float = 0.15,
        decay: float = 1e-2,
        random_state: int = 0,
    ) -> None:
        self.classes = classes
        self.aim = aim
        self.epochs = epochs
        self.hidden = hidden
        self.rate = rate
        self.dropout = dropout
        self.decay = decay
        self.random_state = random_state

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        validation: Validation | None = None,
        weights: np.ndarray | None = None,
    ) -> Self:
        self.curve_, self._snapshots = np.zeros(0), list[Weights]()
        self._center(y)
        clock, losses = Clock(validation.seconds if validation else None), list[float]()
        aim = np.asarray((y - self.middle_) / self.spread_, dtype="float32") if not self.classes else y
        for layers in self._epochs(np.asarray(X, dtype="float32"), aim):
            self._snapshots.append(layers)
            self.layers_ = layers
            if validation is None:
                if len(self._snapshots) >= (self.epochs or MAX_EPOCHS // 4):
                    break
                continue
            losses.append(make_loss(self.classes, self.aim)(validation.y, self._predict_output(validation.X)))
            stale = len(losses) - 1 - int(np.argmin(losses))
            if clock.is_expired or stale >= PATIENCE or len(losses) >= (self.epochs or MAX_EPOCHS):
                break
        self.curve_ = np.array(losses)
        self.select_position(int(self.curve_.argmin()) if losses else len(self._snapshots) - 1)
        return self

    def select_position(self, position: int) -> None:
        self.epochs_ = min(position + 1, len(self._snapshots))
        self.layers_ = self._snapshots[self.epochs_ - 1]

    @property
    def settings_(self) -> dict[str, Any]:
        return {"epochs": self.epochs_}

    def _center(self, y: np.ndarray) -> None:
        self.middle_ = 0.0 if self.classes else float(y.mean())
        self.spread_ = 1.0 if self.classes else float(y.std()) or 1.0

    def _epochs(self, X: np.ndarray, y: np.ndarray) -> Iterator[Weights]:
        """Yield the running mean of the weights after each epoch, without end."""
        rng = np.random.default_rng(self.random_state)
        weights = self._initialise(X.shape[1], rng)
        optimizer, mean = _AdamW(weights, self.rate, self.decay), [layer.copy() for layer in weights]
        # About sixty steps an epoch, whatever the number of rows.
        size = int(np.clip(len(X) // 60, 16, 512))
        step = 0
        while True:
            for rows in np.array_split(rng.permutation(len(X)), max(len(X) // size, 1)):
                optimizer.step(weights, self._gradients(weights, X[rows], y[rows], rng))
                step += 1
                # Grows with the steps, so that the mean soon forgets the random start.
                share = min(0.99, (1 + step) / (10 + step))
                for average, layer in zip(mean, weights, strict=True):
                    average += (1 - share) * (layer - average)
            yield [layer.copy() for layer in mean]

    def _initialise(self, width: int, rng: np.random.Generator) -> Weights:
        sizes = (width, self.hidden, self.hidden // 2, max(self.classes, 1))
        layers: Weights = []
        for in_width, out_width in pairwise(sizes):
            layers += [
                (rng.standard_normal((in_width, out_width)) * np.sqrt(2 / in_width)).astype("float32"),
                np.zeros(out_width, dtype="float32"),
            ]
        # A small last layer begins near the mean, or near equal probabilities.
        layers[-2] *= 0.1
        return layers

    def _gradients(self, weights: Weights, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Weights:
        """Gradients of the loss at these rows."""
        activations, masks = [X], []
        for index in (0, 2):
            raw = activations[-1] @ weights[index] + weights[index + 1]
            # Scaled up here, so that nothing is scaled down when predicting.
            mask = (raw > 0) * (rng.random(raw.shape, dtype="float32") >= self.dropout) / (1 - self.dropout)
            masks.append(mask.astype("float32"))
            activations.append(raw * masks[-1])
        gradient = self._error(activations[-1] @ weights[4] + weights[5], y) / len(X)
        gradients: Weights = []
        for index in (4, 2, 0):
            gradients = [activations[index // 2].T @ gradient, gradient.sum(axis=0), *gradients]
            if index:
                gradient = (gradient @ weights[index].T) * masks[index // 2 - 1]
        return gradients

    def _error(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.classes:
            error = softmax(raw, axis=1)
            error[np.arange(len(y)), y.astype(int)] -= 1
            return np.asarray(error, dtype="float32")
        aim, deviation = parse_aim(self.aim), raw[:, 0] - y
        if aim.is_mean:
            # Huber's gradient: an outlier pulls no harder than five standard deviations.
            return np.asarray(np.clip(deviation, -5, 5)[:, None])
        return np.where(deviation > 0, 1 - aim.quantile, -aim.quantile).astype("float32")[:, None]

    def _predict_output(self, X: np.ndarray) -> np.ndarray:
        activations = np.asarray(X, dtype="float32")
        for index in (0, 2):
            activations = np.maximum(activations @ self.layers_[index] + self.layers_[index + 1], 0)
        raw = activations @ self.layers_[4] + self.layers_[5]
        if self.classes:
            return np.asarray(softmax(raw.astype("float64"), axis=1))
        return np.asarray(raw[:, 0], dtype="float64") * self.spread_ + self.middle_

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_snapshots"}


class _AdamW:
    """Adam with decay of the matrices decoupled from the gradients (Loshchilov and Hutter, 2019)."""

    def __init__(self, weights: Weights, rate: float, decay: float) -> None:
        self._rate, self._decay, self._count = rate, decay, 0
        self._mean = [np.zeros_like(layer) for layer in weights]
        self._square = [np.zeros_like(layer) for layer in weights]

    def step(self, weights: Weights, gradients: Weights) -> None:
        self._count += 1
        first, second = 1 - 0.9**self._count, 1 - 0.999**self._count
        for layer, gradient, mean, square in zip(weights, gradients, self._mean, self._square, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            if layer.ndim == 2:
                layer *= 1 - self._rate * self._decay
            layer -= self._rate * (mean / first) / (np.sqrt(square / second) + 1e-8)
