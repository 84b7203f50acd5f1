"""Requests and responses of the authentication endpoints."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, EmailStr, Field, SecretStr

from app.auth.principal import DEFAULT_SCOPES, Scope, UserRole
from app.auth.quotas import QuotaUpdate

MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 128
"""Ten characters resist online guessing beside the throttle; 128 bound the input of the hash."""


class _AuthRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class _AuthResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


# In lower case everywhere: capitals make no second account of one address.
Email = Annotated[EmailStr, Field(max_length=254), AfterValidator(str.lower)]


class Registration(_AuthRequest):
    email: Email = Field(examples=["ada@example.com"])
    password: SecretStr = Field(
        min_length=MIN_PASSWORD_CHARS, max_length=MAX_PASSWORD_CHARS, examples=["correct horse battery"]
    )


class SignIn(_AuthRequest):
    email: Email = Field(examples=["ada@example.com"])
    password: SecretStr = Field(min_length=1, max_length=MAX_PASSWORD_CHARS, examples=["correct horse battery"])


class CodeSignIn(_AuthRequest):
    code: SecretStr = Field(min_length=16, max_length=100, examples=["m3Jx0h2hYx0q4m5uQkV8rPzT1aBcDeFg"])


class RefreshRequest(_AuthRequest):
    refresh_token: SecretStr = Field(min_length=1, max_length=2048)


class TokenPair(_AuthResponse):
    access_token: str
    refresh_token: str
    token_type: Literal["bearer"] = "bearer"  # noqa: S105 - no secret
    expires_in: int = Field(description="Seconds that the access token lives.", examples=[900])


class UserView(_AuthResponse):
    id: UUID
    email: str = Field(examples=["ada@example.com"])
    role: UserRole
    created_at: datetime


class KeyCreate(_AuthRequest):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00]+$", examples=["nightly job"])
    expires_in_days: int | None = Field(default=None, ge=1, le=3650, description="None: until revoked.")
    scopes: set[Scope] = Field(
        default=set(DEFAULT_SCOPES),
        min_length=1,
        max_length=len(Scope),
        description="What the key may be used for; without it, everything but `admin`.",
        examples=[["read", "predict"]],
    )


class KeyView(_AuthResponse):
    id: UUID
    name: str
    prefix: str = Field(description="The key's first characters.", examples=["lab_Zk3xQ9f"])
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


class KeyCreated(KeyView):
    key: str = Field(description="Shown this once; keep it.", examples=["lab_Zk3xQ9f..."])


class AccountView(UserView):
    """An account as an admin sees it."""

    disabled_at: datetime | None
    quotas: QuotaUpdate = Field(description="This user's own; null is as the settings say.")


class AccountAuditView(_AuthResponse):
    """An action on an account. `id`: its number; later actions have higher ones."""

    id: int
    created_at: datetime = Field(validation_alias="at")
    owner_id: UUID | None = Field(description="Owner of the account.")
    actor: str = Field(description="`user`, `admin`, `operator` or `system`.")
    action: str
    detail: dict[str, Any]
