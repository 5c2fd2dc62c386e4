"""Settings: the only place that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process is set up.

    `database_url`: a `postgresql://` URL. `manage_token`: bearer token of the management API; None shuts it.
    `pool_size`: database connections a worker. `lookup_cache_bytes`: bodies kept ready a worker.
    `watch_interval_s`: how often the newest release is looked up even without a notice.
    `most_database_bytes`: how large the database may become, 0 for no bound; `least_free_bytes`: what has to stay free on
    its disk where that is here; `report_records_a_minute`: telemetry a worker takes of one report, 0 for no bound;
    `key_records_a_minute`: the same of one API key.
    `retention_days`: how long observations are kept; `lake_url`: where days go as Parquet, None for nowhere.
    `artifacts`: a folder, or a URL that fsspec knows, where model files are kept, None for nowhere;
    `most_artifact_bytes`: how large one may be.
    `require_keys`: whether devices need an API key. `signing_keys`: a file of the keys that decisions are signed with, None
    signs nothing; `local_folder`: where this host keeps the live release and ready decisions, None for nowhere. The database's URL and the token are secrets: they stay out of `repr`.
    """

    database_url: str = field(repr=False)
    manage_token: str | None = field(default=None, repr=False)
    pool_size: int = 8
    lookup_cache_bytes: int = 16 * 1024 * 1024
    watch_interval_s: float = 0.5
    log_level: str = "info"
    most_database_bytes: int = 0
    least_free_bytes: int = 1024 * 1024 * 1024
    report_records_a_minute: int = 60_000
    key_records_a_minute: int = 0
    retention_days: int = 90
    lake_url: str | None = None
    artifacts: str | None = None
    most_artifact_bytes: int = 512 * 1024 * 1024
    require_keys: bool = False
    signing_keys: Path | None = None
    local_folder: Path | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Settings from `NNFLEET_*` variables; raises KeyError where the database is not named."""
        env = os.environ if environment is None else environment
        return cls(
            database_url=env["NNFLEET_DATABASE_URL"],
            manage_token=env.get("NNFLEET_MANAGE_TOKEN") or None,
            pool_size=int(env.get("NNFLEET_POOL_SIZE", "8")),
            lookup_cache_bytes=int(env.get("NNFLEET_LOOKUP_CACHE_BYTES", str(16 * 1024 * 1024))),
            watch_interval_s=float(env.get("NNFLEET_WATCH_INTERVAL_S", "0.5")),
            log_level=env.get("NNFLEET_LOG_LEVEL", "info"),
            most_database_bytes=int(env.get("NNFLEET_MOST_DATABASE_BYTES", "0")),
            least_free_bytes=int(env.get("NNFLEET_LEAST_FREE_BYTES", str(1024 * 1024 * 1024))),
            retention_days=int(env.get("NNFLEET_RETENTION_DAYS", "90")),
            lake_url=env.get("NNFLEET_LAKE_URL") or None,
            artifacts=env.get("NNFLEET_ARTIFACTS") or None,
            most_artifact_bytes=int(env.get("NNFLEET_MOST_ARTIFACT_BYTES", str(512 * 1024 * 1024))),
            report_records_a_minute=int(env.get("NNFLEET_REPORT_RECORDS_A_MINUTE", "60000")),
            key_records_a_minute=int(env.get("NNFLEET_KEY_RECORDS_A_MINUTE", "0")),
            require_keys=_switch(env.get("NNFLEET_REQUIRE_KEYS", "false")),
            signing_keys=_path(env.get("NNFLEET_SIGNING_KEYS")),
            local_folder=_path(env.get("NNFLEET_LOCAL_FOLDER")),
        )

    def to_environment(self) -> dict[str, str]:
        """The inverse: what a child process needs to be set up the same."""
        values = {
            "NNFLEET_DATABASE_URL": self.database_url,
            "NNFLEET_POOL_SIZE": str(self.pool_size),
            "NNFLEET_LOOKUP_CACHE_BYTES": str(self.lookup_cache_bytes),
            "NNFLEET_WATCH_INTERVAL_S": str(self.watch_interval_s),
            "NNFLEET_LOG_LEVEL": self.log_level,
            "NNFLEET_MOST_DATABASE_BYTES": str(self.most_database_bytes),
            "NNFLEET_LEAST_FREE_BYTES": str(self.least_free_bytes),
            "NNFLEET_REPORT_RECORDS_A_MINUTE": str(self.report_records_a_minute),
            "NNFLEET_KEY_RECORDS_A_MINUTE": str(self.key_records_a_minute),
            "NNFLEET_RETENTION_DAYS": str(self.retention_days),
            "NNFLEET_MOST_ARTIFACT_BYTES": str(self.most_artifact_bytes),
            "NNFLEET_REQUIRE_KEYS": str(self.require_keys),
        }
        optional = {
            "NNFLEET_MANAGE_TOKEN": self.manage_token,
            "NNFLEET_LAKE_URL": self.lake_url,
            "NNFLEET_ARTIFACTS": self.artifacts,
            "NNFLEET_SIGNING_KEYS": self.signing_keys,
            "NNFLEET_LOCAL_FOLDER": self.local_folder,
        }
        return values | {name: str(value) for name, value in optional.items() if value}


def _path(stated: str | None) -> Path | None:
    return Path(stated) if stated else None


def _switch(word: str) -> bool:
    """True or False, as people write them. A word that is neither is an error: a guess could leave a door open."""
    return {"true": True, "1": True, "false": False, "0": False}[word.lower()]


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
