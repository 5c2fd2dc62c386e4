"""Settings: the only place that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self

PREFIX: Final = "NNFLEET_"


def _what(meaning: str) -> dict[str, str]:
    return {"what": meaning}


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process is set up. `NNFLEET_POOL_SIZE` states `pool_size`, and so on for each field.

    What is secret stays out of `repr`.
    """

    database_url: str = field(metadata=_what("a postgresql:// URL"), repr=False)
    manage_token: str | None = field(
        default=None, metadata=_what("bearer token of the management API; none shuts it"), repr=False
    )
    pool_size: int = field(default=8, metadata=_what("database connections of a worker"))
    lookup_cache_bytes: int = field(
        default=16 * 1024 * 1024, metadata=_what("decisions a worker keeps in its own memory")
    )
    watch_interval_s: float = field(
        default=0.5, metadata=_what("seconds between looks for a new release where no notice comes")
    )
    log_level: str = field(default="info", metadata=_what("debug, info, warning, error"))
    most_database_bytes: int = field(default=0, metadata=_what("how large the database may become, 0 for no bound"))
    least_free_bytes: int = field(
        default=1024 * 1024 * 1024, metadata=_what("what stays free on the database's disk, where that is here")
    )
    report_records_a_minute: int = field(
        default=60_000, metadata=_what("telemetry a worker takes of one report, 0 for no bound")
    )
    key_records_a_minute: int = field(default=0, metadata=_what("the same of one API key"))
    retention_days: int = field(default=90, metadata=_what("days that observations are kept, by their receipt"))
    lake_url: str | None = field(default=None, metadata=_what("where days go as Parquet; none for nowhere"))
    artifacts: str | None = field(
        default=None,
        metadata=_what("a folder, or a URL that fsspec knows, where model files are kept; none for nowhere"),
    )
    most_artifact_bytes: int = field(default=512 * 1024 * 1024, metadata=_what("how large a model file may be"))
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
        default=None, metadata=_what("where people reach the service; with https, cookies never go without it")
    )
    oidc_issuer: str | None = field(
        default=None, metadata=_what("OpenID provider that people sign in at; none offers passwords alone")
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
        default=2 * 3600, metadata=_what("seconds without a request after which a person has to sign in again")
    )
    session_most_s: int = field(
        default=12 * 3600, metadata=_what("seconds after which a person has to sign in again in any case")
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Settings from `NNFLEET_*` variables; raises KeyError where the database is not named."""
        env = os.environ if environment is None else environment
        stated = {each.name: env[variable(each)] for each in fields(cls) if env.get(variable(each))}
        if "database_url" not in stated:
            raise KeyError(f"{PREFIX}DATABASE_URL")
        return cls(
            **{each.name: _READ[str(each.type)](stated[each.name]) for each in fields(cls) if each.name in stated}
        )

    def to_environment(self) -> dict[str, str]:
        """The inverse: what a child process needs to be set up the same."""
        values = {variable(each): getattr(self, each.name) for each in fields(self)}
        return {name: str(value) for name, value in values.items() if value is not None}


def variable(of: Field[Any]) -> str:
    """The environment variable that states a field."""
    return f"{PREFIX}{of.name.upper()}"


def _path(stated: str | None) -> Path | None:
    return Path(stated) if stated else None


def _switch(word: str) -> bool:
    """True or False, as people write them. A word that is neither is an error: a guess could leave a door open."""
    return {"true": True, "1": True, "false": False, "0": False}[word.lower()]


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "str": str,
    "str | None": str,
    "int": int,
    "float": float,
    "bool": _switch,
    "Path | None": Path,
}
"""By the type of the field, as it is written."""


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
