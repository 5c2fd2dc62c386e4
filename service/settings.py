"""Settings: the only place that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self

from policies.errors import InvalidField
from service.stated_settings import PREFIX, check_names, value_of

_HTTP: Final = ("http://", "https://")
_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_BYTES: Final = 2**50
_A_MINUTE: Final = 1_000_000_000
_SESSION_S: Final = 366 * 86_400


def _what(meaning: str, **bounds: Any) -> dict[str, Any]:
    """What a setting is for, and its bounds, as `value_of` takes them."""
    return {"what": meaning, **bounds}


def _range(meaning: str, least: float, most: float) -> dict[str, Any]:
    return _what(meaning, least=least, most=most)


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process is set up. `NNFLEET_POOL_SIZE` states `pool_size`, and so on for each field.

    What is secret stays out of `repr`.
    """

    database_url: str = field(metadata=_what("a postgresql:// URL"), repr=False)
    manage_token: str | None = field(
        default=None, metadata=_what("bearer token of the management API; none shuts it"), repr=False
    )
    pool_size: int = field(default=8, metadata=_range("database connections of a worker", 1, 1000))
    lookup_cache_bytes: int = field(
        default=16 * 1024 * 1024, metadata=_range("decisions a worker keeps in its own memory", 0, _BYTES)
    )
    watch_interval_s: float = field(
        default=0.5, metadata=_range("seconds between looks for a new release where no notice comes", 0.01, 3600)
    )
    log_level: str = field(default="info", metadata=_what("debug, info, warning, error", words=_LEVELS))
    most_database_bytes: int = field(
        default=0, metadata=_range("how large the database may become, 0 for no bound", 0, _BYTES)
    )
    least_free_bytes: int = field(
        default=1024 * 1024 * 1024,
        metadata=_range("what stays free on the database's disk, where that is here", 0, _BYTES),
    )
    report_records_a_minute: int = field(
        default=60_000, metadata=_range("telemetry a worker takes of one report, 0 for no bound", 0, _A_MINUTE)
    )
    key_records_a_minute: int = field(default=0, metadata=_range("the same of one API key", 0, _A_MINUTE))
    retention_days: int = field(
        default=90, metadata=_range("days that observations are kept, by their receipt", 1, 36500)
    )
    lake_url: str | None = field(default=None, metadata=_what("where days go as Parquet; none for nowhere"))
    artifacts: str | None = field(
        default=None,
        metadata=_what("a folder, or a URL that fsspec knows, where model files are kept; none for nowhere"),
    )
    most_artifact_bytes: int = field(
        default=512 * 1024 * 1024, metadata=_range("how large a model file may be", 1, _BYTES)
    )
    require_keys: bool = field(default=False, metadata=_what("whether devices need an API key"))
    signing_keys: Path | None = field(
        default=None, metadata=_what("file of the keys that decisions are signed with; none signs nothing")
    )
    local_folder: Path | None = field(
        default=None,
        metadata=_what(
            "where this host keeps the live release, ready decisions and what learning runs leave to the next"
        ),
    )
    console_open: bool = field(
        default=False, metadata=_what("whether the console's reading pages are open to whoever reaches them")
    )
    public_url: str | None = field(
        default=None,
        metadata=_what("where people reach the service; with https, cookies never go without it", begins=_HTTP),
    )
    oidc_issuer: str | None = field(
        default=None,
        metadata=_what("OpenID provider that people sign in at; none offers passwords alone", begins=_HTTP),
    )
    oidc_client_id: str | None = field(default=None, metadata=_what("what the provider calls this service"))
    oidc_client_secret: str | None = field(
        default=None, metadata=_what("what this service shows to the provider"), repr=False
    )
    oidc_scope: str = field(default="openid profile email", metadata=_what("what is asked of the provider"))
    oidc_name_claim: str = field(default="preferred_username", metadata=_what("claim that names a person, with dots"))
    oidc_role_claim: str = field(default="roles", metadata=_what("claim that tells what they are, with dots"))
    oidc_roles: str | None = field(default=None, metadata=_what("roles by what the claim says: fleet-admins=admin,…"))
    oidc_other_role: str | None = field(
        default=None, metadata=_what("role of people whom the claim gives none; none lets them not in")
    )
    oidc_app_claim: str | None = field(
        default=None, metadata=_what("claim that tells their apps, with dots; none: that of the roles")
    )
    oidc_apps: str | None = field(
        default=None, metadata=_what("apps by what the claim says: camera-team=camera,fleet-admins=*,…; none: set here")
    )
    session_idle_s: int = field(
        default=2 * 3600,
        metadata=_range("seconds without a request after which a person has to sign in again", 1, _SESSION_S),
    )
    session_most_s: int = field(
        default=12 * 3600,
        metadata=_range("seconds after which a person has to sign in again in any case", 1, _SESSION_S),
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Settings from `NNFLEET_*` variables; raises InvalidField for one that is wrong, unknown or missing."""
        env = os.environ if environment is None else environment
        check_names(env, known_variables())
        stated = {each: env[variable(each)] for each in fields(cls) if env.get(variable(each))}
        if not env.get("NNFLEET_DATABASE_URL"):
            raise InvalidField("NNFLEET_DATABASE_URL: say which database", field="NNFLEET_DATABASE_URL")
        return cls(
            **{
                each.name: value_of(variable(each), str(each.type), text, each.metadata)
                for each, text in stated.items()
            }
        )

    def to_environment(self) -> dict[str, str]:
        """The inverse: what a child process needs to be set up the same."""
        values = {variable(each): getattr(self, each.name) for each in fields(self)}
        return {name: str(value) for name, value in values.items() if value is not None}


def variable(of: Field[Any]) -> str:
    """The environment variable that states a field."""
    return f"{PREFIX}{of.name.upper()}"


def known_variables() -> list[str]:
    """Every variable that is read."""
    return ["NNFLEET_HOME", *(variable(each) for each in fields(Settings))]


def check_environment() -> None:
    """Raise InvalidField for a variable of this process that begins as ours do and is none."""
    check_names(os.environ, known_variables())


def _path(stated: str | None) -> Path | None:
    return Path(stated) if stated else None


def process_settings(database_url: str, manage_token: str | None) -> Settings:
    """Settings from this process's environment, with the database and the token that were found for it."""
    token = {"NNFLEET_MANAGE_TOKEN": manage_token} if manage_token else {}
    return Settings.from_environment({**os.environ, "NNFLEET_DATABASE_URL": database_url, **token})


def stated_database_url() -> str | None:
    """The database an operator named, or None: then the embedded one is started."""
    return os.environ.get("NNFLEET_DATABASE_URL") or None


def child_environment(settings: Settings) -> dict[str, str]:
    """This process's environment with the settings laid over it."""
    return {**os.environ, **settings.to_environment()}


_NEEDED_TO_RUN = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH")


def bare_environment() -> dict[str, str]:
    """For a child process that reads what strangers wrote: no secret of ours, and one thread for numbers."""
    kept = {name: os.environ[name] for name in _NEEDED_TO_RUN if name in os.environ}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def artifacts_in(folder: Path) -> str:
    """Where the files of an installation lie whose data are in `folder`, and that names no other place."""
    return str(folder / "artifacts")


def state_folder() -> Path:
    """Where data lies when nobody said where: `$NNFLEET_HOME`, else `~/.local/share/nnfleet`."""
    stated = os.environ.get("NNFLEET_HOME")
    return Path(stated) if stated else Path.home() / ".local" / "share" / "nnfleet"


def stated_manage_token() -> str | None:
    """The management token an operator named, or None."""
    return os.environ.get("NNFLEET_MANAGE_TOKEN") or None


def stated_signing_keys() -> Path | None:
    """The file of signing keys an operator named, or None."""
    return _path(os.environ.get("NNFLEET_SIGNING_KEYS"))
