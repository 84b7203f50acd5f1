"""Settings of sign-in and rate limits."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from app.auth.config import AuthConfig
from app.auth.quotas import Amount, Quotas, Rate
from app.auth.signing_secret import load_signing_secrets
from app.settings.setting_types import SettingsPart


class EdgeSettings(SettingsPart):
    secret_key: SecretStr | None = Field(
        None, description="Signs access tokens, 32 characters or more; made and kept in development."
    )
    secret_key_others: SecretStr | None = Field(
        None,
        description="Secrets that verify and sign nothing, with commas between: former and next SECRET_KEYs.",
    )
    registration: Literal["open", "closed"] = Field(
        "open", description="`closed` leaves new accounts to `labcrew user add`."
    )
    access_token_seconds: float = Field(900, gt=0, description="Life of an access token.")
    refresh_token_seconds: float = Field(2_592_000, gt=0, description="Life of a refresh token.")
    trusted_proxies: str | None = Field(
        None, description="Addresses of proxies, with commas between, whose X-Forwarded-For is believed."
    )
    address_requests: Rate = Field(
        "20000/minute", description="Requests of one network address; 0 is no limit."
    )
    address_sockets: Amount = Field(2000, description="Open streams of one network address; 0 is no limit.")
    user_requests: Rate = Field("10000/minute", description="Requests of one user; 0 is no limit.")
    user_views: Rate = Field(
        "6000/minute",
        description="Reads of rows and figures of tables by one user, beside their requests; 0 is no limit.",
    )
    user_uploads: Rate = Field("600/hour", description="Uploads of one user; 0 is no limit.")
    user_compute: Rate = Field(
        "200000/day", description="CPU seconds of one user's computations; 0 is no limit."
    )
    user_sockets: Amount = Field(1000, description="Open streams of one user; 0 is no limit.")
    user_stored_mb: Amount = Field(
        51_200, description="Datasets and artifacts of one user, in MiB; 0 is no limit."
    )
    user_sessions: Amount = Field(
        1000, description="Sessions of one user that have not ended, and as many runs; 0 is no limit."
    )
    user_running_sessions: Amount = Field(
        0, description="Of those, how many run at a time while more wait; 0 is no limit."
    )
    user_running_turns: Amount = Field(
        4, description="Turns of one user's conversations that run at a time while more wait; 0 is no limit."
    )

    @property
    def auth(self) -> AuthConfig:
        return AuthConfig(
            access_ttl_s=self.access_token_seconds,
            refresh_ttl_s=self.refresh_token_seconds,
            registration=self.registration,
            quotas=self.quotas,
            address_requests=self.address_requests,
            address_sockets=self.address_sockets,
        )

    @property
    def quotas(self) -> Quotas:
        """Default quotas of a user without their own."""
        return Quotas(
            requests=self.user_requests,
            views=self.user_views,
            uploads=self.user_uploads,
            compute=self.user_compute,
            sessions=self.user_sessions,
            running_sessions=self.user_running_sessions,
            running_turns=self.user_running_turns,
            sockets=self.user_sockets,
            stored_mb=self.user_stored_mb,
        )

    def load_secret_keys(self, home: Path, production: bool) -> tuple[str, ...]:
        """Return SECRET_KEY, then those that only verify and open. Raises InvalidInput in
        production without one."""
        configured = self.secret_key.get_secret_value() if self.secret_key else None
        return load_signing_secrets(configured, self.other_secrets, home, production)

    @property
    def other_secrets(self) -> list[str]:
        joined = self.secret_key_others.get_secret_value() if self.secret_key_others else ""
        return [secret.strip() for secret in joined.split(",") if secret.strip()]
