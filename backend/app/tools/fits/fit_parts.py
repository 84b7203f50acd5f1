"""Parts of a candidate: fits that share its name and differ in their folds (`run`)."""

from dataclasses import dataclass

from app.artifacts.workspace import FrameRef
from app.modeling.facts.code_in_facts import contains_code
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.name_resolution import resolve_name
from app.tools.context.tool_context import ToolContext

PART_KIND = "part"
"""Kind of artifact: folds of a candidate fitted after its first part; not a model by itself."""


@dataclass(frozen=True)
class FitPart:
    """One fit of a candidate. `model` and `oof` are digests of the model and its out-of-fold predictions.

    `oof` is empty for a model without such predictions.
    """

    fit: CandidateFit
    model: str
    oof: str

    @property
    def contains_code(self) -> bool:
        """True if agents wrote a part of the model: it never runs where the hold-out's labels are."""
        return contains_code(self.fit.document)


def read_part(ref: FrameRef) -> FitPart:
    """Read the meta data of a model artifact. Raises InvalidInput `bad_facts`."""
    return FitPart(CandidateFit.from_json(ref.meta["fit"]), ref.digest, str(ref.meta.get("oof") or ""))


async def load_model(ctx: ToolContext, model: str) -> FitPart:
    """Return a model by its name. Raises ToolRefused with the nearest names if unknown."""
    return read_part(await ctx.frames.artifact("model", model))


async def load_parts(ctx: ToolContext, model: str) -> list[FitPart]:
    """Return the parts of a candidate in order. Raises ToolRefused with the nearest names if unknown."""
    models = {ref.name: ref for ref in await ctx.frames.artifacts("model")}
    first_ref = models[resolve_name(model, models, "model")]
    first = read_part(first_ref)
    if first.fit.is_ensemble:
        return [first]  # an ensemble contains its parts
    later = [read_part(ref) for ref in await ctx.frames.artifacts(PART_KIND)]
    # By the name in the fit, since the artifact of a part adds its folds to it.
    return [first, *(part for part in later if part.fit.name == first_ref.name)]
