"""The decoder as it is fitted, in PyTorch. Its parameters have the names under which they are stored."""

import math

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from app.agents.questions.learned import decoder
from app.agents.questions.learned.decoder import DECODER_LAYERS
from app.agents.questions.learned.grammar import MAX_ACTIONS, SYMBOL_NUMBERS
from app.agents.questions.learned.layers import HEADS, WIDTH
from app.agents.questions.learned.question_encoder import ENCODER_LAYERS, RELATIONS
from app.agents.questions.learned.text_nodes import MAX_WORDS
from app.agents.questions.learned.tokens import TOKENS

DROPPED = 0.15
"""Share of states that are dropped."""
MASKED_LOGIT = -1e4
"""Logit of what a mask excludes: finite, so that a row without anything allowed has no NaN."""


class Attention(nn.Module):
    def __init__(self, has_relations: bool = False) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.r = nn.Linear(RELATIONS, HEADS, bias=False) if has_relations else None

    def forward(self, queries: Tensor, memory: Tensor, bias: Tensor, relations: Tensor | None = None) -> Tensor:
        batch, length, _ = queries.shape
        query, key, value = (
            layer(states).view(batch, states.shape[1], HEADS, -1).transpose(1, 2)
            for layer, states in ((self.q, queries), (self.k, memory), (self.v, memory))
        )
        if self.r is not None and relations is not None:
            bias = bias + self.r(relations).permute(0, 3, 1, 2)
        logits = (query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)).float() + bias.float()
        shares = functional.dropout(logits.softmax(-1), DROPPED / 2, self.training).to(value.dtype)
        attended: Tensor = self.o((shares @ value).transpose(1, 2).reshape(batch, length, WIDTH))
        return attended


class Layer(nn.Module):
    """A layer of the encoder, or of the decoder, which also attends to what was read."""

    def __init__(self, reads_memory: bool = False) -> None:
        super().__init__()
        self.a, self.n1, self.n2 = Attention(not reads_memory), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.f1, self.f2 = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.reads_memory = reads_memory
        if reads_memory:
            self.c, self.n3 = Attention(), nn.LayerNorm(WIDTH)

    def forward(
        self,
        states: Tensor,
        bias: Tensor,
        relations: Tensor | None = None,
        memory: Tensor | None = None,
        memory_bias: Tensor | None = None,
    ) -> Tensor:
        normal = self.n1(states)
        states = states + self._drop(self.a(normal, normal, bias, relations))
        if self.reads_memory:
            states = states + self._drop(self.c(self.n3(states), memory, memory_bias))
        inner = functional.gelu(self.f1(self.n2(states)), approximate="tanh")
        return states + self._drop(self.f2(inner))

    def _drop(self, states: Tensor) -> Tensor:
        return functional.dropout(states, DROPPED, self.training)


class Model(nn.Module):
    """The decoder as it is fitted: its parameters have the names under which `decoder.npz` stores them."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.col, self.node = (nn.Linear(384, WIDTH) for _ in range(3))
        self.wordx, self.colx, self.nodex = nn.Linear(7, WIDTH), nn.Linear(21, WIDTH), nn.Linear(12, WIDTH)
        self.pos, self.seg = nn.Embedding(MAX_WORDS, WIDTH), nn.Embedding(3, WIDTH)
        self.enc = nn.ModuleList(Layer() for _ in range(ENCODER_LAYERS))
        self.dec = nn.ModuleList(Layer(reads_memory=True) for _ in range(DECODER_LAYERS))
        self.encn, self.decn = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.tok, self.sym = nn.Embedding(len(TOKENS), WIDTH), nn.Embedding(len(SYMBOL_NUMBERS), WIDTH)
        self.spos, self.start = nn.Embedding(MAX_ACTIONS, WIDTH), nn.Parameter(torch.zeros(WIDTH))
        self.ptr, self.outt, self.outp, self.keyp = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.bias = nn.Parameter(torch.zeros(len(TOKENS)))
        for embedding in (self.pos, self.seg, self.tok, self.sym, self.spos):
            nn.init.normal_(embedding.weight, std=0.05)

    def encode(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        words, columns, nodes = (
            functional.dropout(batch[name], DROPPED, self.training) for name in ("words", "columns", "nodes")
        )
        states = torch.cat(
            [
                self.word(words)
                + self.wordx(batch["word_facts"])
                + self.pos.weight[: words.shape[1]]
                + self.seg.weight[0],
                self.col(columns) + self.colx(batch["column_facts"]) + self.seg.weight[1],
                self.node(nodes) * 0.3 + self.nodex(batch["node_facts"]) + self.seg.weight[2],
            ],
            1,
        )
        padding = batch["padding"][:, None, None, :]
        bias = torch.zeros(padding.shape).masked_fill(padding, MASKED_LOGIT)
        for layer in self.enc:
            states = layer(states, bias, batch["relations"])
        return self.encn(states), bias

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        memory, bias = self.encode(batch)
        tokens, before = len(TOKENS), batch["before"]
        places = before.clamp(min=0)
        at = (places - tokens).clamp(min=0)[:, :, None].expand(-1, -1, WIDTH)
        pointed, tokens_at = (
            self.ptr(torch.gather(memory, 1, at)).float(),
            self.tok(places.clamp(max=tokens - 1)),
        )
        states = torch.where((places >= tokens)[:, :, None], pointed, tokens_at)
        states = torch.where((before < 0)[:, :, None], self.start.expand_as(states), states)
        length = before.shape[1]
        states = states + self.sym(batch["symbols"]) + self.spos.weight[:length]
        causal = torch.triu(torch.full((length, length), MASKED_LOGIT), 1)[None, None]
        for layer in self.dec:
            states = layer(states, causal, None, memory, bias)
        states = self.decn(states)
        of_tokens = self.outt(states) @ self.tok.weight.T + self.bias
        of_places = self.outp(states) @ self.keyp(memory).transpose(1, 2) / math.sqrt(WIDTH)
        logits = torch.cat([of_tokens, of_places], 2).float()
        return logits.masked_fill(~batch["allowed"], MASKED_LOGIT)


def load_stored(model: Model) -> None:
    """Set the parameters to the stored ones. Tokens and symbols that are new keep those that they have."""
    state = model.state_dict()
    for name, array in decoder.load_weights().items():
        state[name][: len(array)] = torch.from_numpy(array)


def quantised(model: Model) -> dict[str, np.ndarray]:
    """Return the parameters, matrices in 8 bits with a scale for each row."""
    stored: dict[str, np.ndarray] = {}
    for name, parameter in model.state_dict().items():
        array = parameter.float().numpy()
        if array.ndim == 1 or min(array.shape) < 32:
            stored[name] = array
            continue
        scales = np.abs(array).max(axis=1, keepdims=True) / 127
        scales[scales == 0] = 1.0
        stored[name], stored[f"{name}.scales"] = np.round(array / scales).astype(np.int8), scales
    return stored
