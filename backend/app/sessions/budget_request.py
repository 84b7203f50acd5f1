"""The limits of a session as a user or a setting gives them."""

from pydantic import BaseModel, ConfigDict, Field


class BudgetRequest(BaseModel):
    """Limits of a session's usage. At a limit it asks for more, or ends with its present results."""

    model_config = ConfigDict(extra="forbid")

    tokens: int | None = Field(default=None, ge=1, description="Input and output tokens of chat models.")
    cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tool_calls: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(
        default=None,
        ge=1,
        allow_inf_nan=False,
        description="Working time, without the time spent waiting for you.",
    )
