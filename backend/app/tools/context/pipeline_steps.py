"""Steps of a pipeline: the list form of a graph of nodes, as tools, answers and requests write it."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MAX_STEPS = 20
"""Steps of one pipeline: a union takes as many tables, and more is a workflow."""
MAX_STEP_INPUTS = 20
"""Tables that a step takes: as many as a union."""

StepName = Annotated[str, StringConstraints(min_length=1, max_length=100)]


def _is_null(value: object) -> bool:
    return value is None


class PipelineStep(BaseModel):
    """One node of a pipeline. Without `inputs` it takes the table of the step before it; a source takes none.

    `inputs`: the steps before it whose tables it takes, by their names, the left side of a join first. `with`:
    in their place the one step whose table it takes beside that of the step before it. A step without a `name`
    is named by its type.
    """

    # By the names that a request has, wherever it is written: an answer is sent back as it came.
    model_config = ConfigDict(extra="forbid", populate_by_name=True, serialize_by_alias=True)

    type: Annotated[str, Field(min_length=1, max_length=50)] = Field(
        description="A node of workflows: http_request, read_dataset, sort, top_k, join ..."
    )
    config: dict[str, Any] = Field(default_factory=dict, description="Its settings, by GET /workflow-schema.")
    name: StepName | None = Field(default=None, exclude_if=_is_null, description="A later step names it so.")
    second: StepName | None = Field(
        default=None, alias="with", exclude_if=_is_null, description="The step with its second table."
    )
    inputs: Annotated[list[StepName], Field(max_length=MAX_STEP_INPUTS)] | None = Field(
        default=None,
        exclude_if=_is_null,
        description="The steps whose tables it takes, in order; by default the one before it.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.second is not None and self.inputs is not None:
            raise ValueError("`inputs` names all tables that a step takes, so it has no `with` beside it")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the step as it was written."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
