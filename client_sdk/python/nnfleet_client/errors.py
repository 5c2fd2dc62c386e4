"""What a client raises. Expected trouble (no network, a 503, a bad document) is an answer's `error_code` instead.

NnfleetClientError
├── InvalidUnitIdError      the unit id is empty, holds control characters or is no valid text
├── InvalidDefaultError     the bundled default names a model without an arm
├── UnknownModelError       a model that neither the document nor the bundled default knows
├── InvalidHistogramError   counts or gamma that no histogram of ours could have written
├── ArmFailed               raised by a runner: this arm does not work here
└── RunTimeout              raised by a runner: one run took longer than its limit
ProcessDied                 raised by a runner: the process that ran the arm is gone
"""

from __future__ import annotations


class NnfleetClientError(Exception):
    """The root of everything this package raises or expects from a runner."""


class InvalidUnitIdError(NnfleetClientError, ValueError):
    """The unit id cannot be hashed the same way in every language."""


class InvalidDefaultError(NnfleetClientError, ValueError):
    """The bundled default leaves a model without any arm."""


class UnknownModelError(NnfleetClientError, KeyError):
    """Neither the document nor the bundled default knows this model: the app asks for what it never shipped."""


class InvalidHistogramError(NnfleetClientError, ValueError):
    """Counts or gamma that no histogram of ours could have written."""


class ArmFailed(NnfleetClientError):
    """An arm does not work on this device.

    `phase` says where (`load`, `compile`, `init`, `run`, `close`), `code` what the driver or runtime said
    (`ANEURALNETWORKS_DEAD_OBJECT`, `TfLiteError`, …). Both end up in the observation as `phase:code`.
    """

    def __init__(self, phase: str, code: str) -> None:
        super().__init__(f"{phase}:{code}")
        self.phase = phase
        self.code = code


class RunTimeout(NnfleetClientError):
    """One run outlived `limits.run_timeout_ms`. Counted apart: it never enters the latency histogram."""


class ProcessDied(BaseException):
    """A runner's way to say that the driver took the whole process with it: a simulated one, or a child that ran the arm.

    Not an `Exception`: nothing that catches ordinary trouble may survive it, as nothing survives a real abort.
    """
