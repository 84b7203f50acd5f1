"""Fits the decoder of requests: `PYTHONPATH=. python -m scripts.question_decoder.fit FOLDER --minutes 60`.

It reads the examples that `examples.py` has written to FOLDER, and writes `decoder.npz` there, in 8 bits, which
takes the place of `app/agents/questions/learned/decoder.npz`. Processes share their gradients. From time to
time the shares of held-out requests that are read right are printed. It needs `torch`, which the project does
not install.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
from scripts.question_decoder.batches import batches, read_examples
from scripts.question_decoder.examples import FITTED, GOALS_PREFIX, HELD_OUT
from scripts.question_decoder.model import MASKED_LOGIT, Model, load_stored, quantised
from torch import Tensor, nn

LEARNING_RATE, FURTHER_LEARNING_RATE = 8e-4, 5e-4
"""Peak learning rates of a first and of a further fit."""
WARMING_STEPS, MAX_GRADIENT_NORM, WEIGHT_DECAY = 200, 1.0, 0.02
"""Steps of linear warm-up, norm to which gradients are cut, and weight decay of AdamW."""
SHOWN_STEPS = 1000
"""Steps after which the parameters are stored, and tried on the held-out requests."""
HAS_BFLOAT16 = "avx512_bf16" in Path("/proc/cpuinfo").read_text()
"""Without instructions for it, numbers of 16 bits are slower than those of 32."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--further", action="store_true", help="go on from the stored decoder")
    parser.add_argument("--port", type=int, default=29_500, help="of loopback, by which the processes share")
    arguments = parser.parse_args()
    torch.multiprocessing.spawn(
        fit,
        (arguments.folder, arguments.minutes, arguments.processes, arguments.port, arguments.further),
        nprocs=arguments.processes,
    )


def fit(rank: int, folder: Path, minutes: float, processes: int, port: int, is_further: bool) -> None:
    """Fit the decoder for some minutes, as one of several processes that take a part of the files each."""
    torch.set_num_threads(1)  # threads of two processes on two processors wait for each other
    torch.manual_seed(1)
    distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=processes)
    files, held_out = read_examples(folder / FITTED)[rank::processes], read_examples(folder / HELD_OUT)
    model, generator = Model(), random.Random(rank)  # noqa: S311 - no secret
    if is_further:
        load_stored(model)
    rate = FURTHER_LEARNING_RATE if is_further else LEARNING_RATE
    parameters = [*model.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=rate, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98))
    start, step, share = time.monotonic(), 0, 0.0
    while share < 1:
        # No process knows how many batches the others have: epochs end at different steps.
        for batch in batches(files, True, generator):
            with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
                logits = model(batch)
            loss = loss_of(logits, batch)
            optimiser.zero_grad(set_to_none=False)
            loss.backward()
            spent = time.monotonic() - start
            share = _share_gradients(parameters, spent) / (60 * minutes)
            nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT_NORM)
            step += 1
            for group in optimiser.param_groups:
                warmth = min(1.0, step / WARMING_STEPS)
                group["lr"] = rate * warmth * max(0.0, 1 - share) ** 0.8 + 1e-6
            optimiser.step()
            if rank == 0 and (step % SHOWN_STEPS == 0 or share >= 1):
                print(f"step {step}, {spent:.0f} s: loss {loss.item():.3f}", end="", flush=True)
                print(f"; held out: {judge(model, held_out)}", flush=True)
                np.savez_compressed(folder / "decoder.npz", **quantised(model))
            if share >= 1:
                break


def loss_of(logits: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """The mean of the logs of what the right actions are taken for to be together, of all steps."""
    is_step = batch["wanted"] >= 0
    own, right = logits[is_step], batch["right"][is_step]
    return (own.logsumexp(-1) - own.masked_fill(~right, MASKED_LOGIT).logsumexp(-1)).mean()


def _share_gradients(parameters: Sequence[nn.Parameter], spent: float) -> float:
    """Replace the gradients of all processes by their mean; returns the mean of the seconds that they spent."""
    gradients = [p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()) for p in parameters]
    joined = torch.cat([*gradients, torch.tensor([spent])])
    distributed.all_reduce(joined)
    joined /= distributed.get_world_size()
    at = 0
    for parameter in parameters:
        parameter.grad = joined[at : at + parameter.numel()].view_as(parameter)
        at += parameter.numel()
    return float(joined[-1])


def judge(model: Model, files: Sequence[dict[str, Any]]) -> str:
    """Say the shares of held-out programs that are whole, and of goals whose aim and target are right."""
    model.eval()
    counts: dict[str, list[bool]] = {"whole": [], "aim": [], "target": []}
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
        for name, batch in _judged_batches(files):
            targets = batch["wanted"]
            best = model(batch).argmax(-1, keepdim=True)
            is_right = batch["right"].gather(-1, best)[:, :, 0]
            if name == "programs":
                counts["whole"] += (is_right | (targets < 0)).all(1).tolist()
                continue
            counts["aim"] += is_right[:, 0].tolist()
            if targets.shape[1] > 1:
                counts["target"] += is_right[:, 1][targets[:, 1] >= 0].tolist()
    model.train()
    return ", ".join(f"{name} {sum(own) / max(1, len(own)):.3f}" for name, own in counts.items())


def _judged_batches(files: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Tensor]]]:
    for name in ("programs", "goals"):
        own = [file for file in files if file["name"].startswith(GOALS_PREFIX) == (name == "goals")]
        for batch in batches(own, False, random.Random(0)):  # noqa: S311 - no secret
            yield name, batch


if __name__ == "__main__":
    main()
