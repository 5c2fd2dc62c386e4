"""Names in the one spelling that fingerprints hold, whoever wrote them: a phone, a vendor, an operator, a list."""

from __future__ import annotations

import hashlib
import re

from policies import catalog


def canonical_soc(raw: str) -> str:
    """The name under which fingerprints hold a SoC; one that is new keeps its own letters and digits."""
    found = catalog.socs().find(raw)
    return found[0] if found else re.sub(r"[^a-z0-9+]+", "-", raw.lower()).strip("-")


def canonical_accelerator(raw: str) -> str:
    """The name under which fingerprints hold an NNAPI driver, in the letters that arm ids are made of.

    One that nobody knows keeps its letters; one without any gets a digest.
    """
    found = catalog.accelerators().find(raw)
    if found:
        return found[0]
    plain = re.sub(r"[^a-z0-9._-]+", "-", raw.lower()).strip("-._")[:64]
    return plain or f"driver-{hashlib.sha256(raw.encode()).hexdigest()[:8]}"


def canonical_gpu(renderer: str) -> str:
    """The family of a GPU: its renderer without marks, `adreno-740` of `Adreno (TM) 740`."""
    return re.sub(r"\s+", "-", re.sub(r"\s*\((tm|r)\)", "", renderer.lower()).strip())


def canonical_manufacturer(name: str) -> str:
    """The spelling of a manufacturer in fingerprints."""
    return name.strip().lower()


def model_key(model: str) -> str:
    """A phone's model in the spelling of lists that fold case, blanks and dashes: `SM-G991B` is `sm_g991b`."""
    return re.sub("[ -]", "_", model.lower())
