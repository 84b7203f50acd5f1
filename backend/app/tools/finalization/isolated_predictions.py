"""Predictions of the hold-out by a model with custom code, in a cell that holds no labels."""

from app.artifacts.workspace import FrameRef
from app.sandbox.exchange.contract import Computation
from app.tools.context.tool_context import ToolContext
from app.tools.fits.fit_parts import FitPart


async def predict_holdout_in_isolation(ctx: ToolContext, model: FitPart, holdout: FrameRef) -> str:
    """Predict the hold-out by a model with custom code, in a cell without the labels; return a digest."""
    question_job = Computation("models.evaluate.questions_of_holdout", {"problem": dict(model.fit.problem)})
    questions = await ctx.computer.run(question_job, {"holdout": holdout.digest})
    inputs = {"questions": questions.file("questions.parquet").digest, "model": model.model}
    answer_job = Computation("models.evaluate.answers_of_model", trusted=False)
    answers = await ctx.computer.run(answer_job, inputs)
    return answers.file("answers.parquet").digest
