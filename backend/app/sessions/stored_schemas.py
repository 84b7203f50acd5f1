"""Parts of stored questions and forks, as rows of every version have them."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue


class _StoredOutput(BaseModel):
    """A part of a stored row. Members that later or earlier versions write are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_serialization_defaults_required=True)


class UnderstoodGoal(_StoredOutput):
    """The reading of the goal that a plan follows."""

    text: str = ""
    alternatives: list[str] = Field(default_factory=list, description="Other columns that could be meant.")


class QuestionSubject(_StoredOutput):
    """The call or the plan that an approval is about. Empty for other questions."""

    tool: str | None = None
    arguments: dict[str, JsonValue] | None = None
    preview: str | None = Field(default=None, description="A unified diff, where text changes.")
    risk: str | None = None
    plan: dict[str, JsonValue] | None = Field(default=None, description="The settings of the plan.")
    understood: UnderstoodGoal | None = None


class ForkPointView(_StoredOutput):
    step: int | None = None
    question: str | None = None


class ForkSettingsView(_StoredOutput):
    """Changed settings of the plan; null where they stayed."""

    leave_out: list[str] | None = None
    metric: str | None = None
    families: list[str] | None = None
    stages: list[str] | None = None
    costs: dict[str, float] | None = None


class ForkChangeView(_StoredOutput):
    """The change of a fork; null where nothing of the kind was changed."""

    settings: ForkSettingsView | None = None
    preferences: dict[str, JsonValue] | None = None
    note: str | None = None
    answer: JsonValue = None


class ForkView(BaseModel):
    """Point and change of a fork: `step` is the first step that it ran itself."""

    model_config = ConfigDict(frozen=True)

    step: int
    at: ForkPointView
    change: ForkChangeView
