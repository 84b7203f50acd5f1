"""Selection of features that a chat model wrote: those that bring more than the error of the measurement."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.modeling.facts.conversion import parse_facts
from app.tools.context.tool_context import ToolContext
from app.tools.fits.feature_score import score_features
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import REGISTRY

WRITE, SCORE = "write_features", score_features.__name__
MAX_CHECKS = 8
"""Frames of written features that lead to one frame and are measured: each costs two short fits."""


@dataclass(frozen=True)
class FeatureVerdict:
    """The parts of a measurement that decide."""

    frame: str
    against: str
    verdict: str
    reason: str


async def drop_useless_features(
    ctx: ToolContext, frame: str, answers: Sequence[ToolAnswer]
) -> tuple[str, list[str]]:
    """Return the frame without written features that bring nothing, and the reasons.

    Steps back from the frame while its last operation is written code that gains less than its error.
    """
    bases = {
        str(_value(a, "frame")): str(a.request.arguments.get("frame", "train")) for a in _code_calls(answers)
    }
    measured = [
        parse_facts(FeatureVerdict, a.value) for a in answers if a.request.name == SCORE and not a.refusal
    ]
    reasons: list[str] = []
    for place in range(MAX_CHECKS):
        if frame not in bases:
            break
        verdict = next((v for v in measured if (v.frame, v.against) == (frame, bases[frame])), None)
        if verdict is None:
            request = ToolRequest(f"tool:gain.{place}", SCORE, {"frame": frame, "against": bases[frame]})
            answer = await invoke({SCORE: REGISTRY[SCORE]}, ctx, request)
            # What cannot be measured is kept: nothing speaks against it.
            if answer.refusal is not None:
                break
            verdict = parse_facts(FeatureVerdict, answer.value)
        reasons.append(f"The features of `{frame}` are {verdict.verdict}: {verdict.reason}")
        if verdict.verdict == "kept":
            break
        frame = bases[frame]
    return frame, reasons


def _code_calls(answers: Sequence[ToolAnswer]) -> list[ToolAnswer]:
    return [a for a in answers if a.request.name == WRITE and a.refusal is None]


def _value(answer: ToolAnswer, key: str) -> object:
    return answer.value.get(key) if isinstance(answer.value, dict) else None
