"""Damaged model files by the thousand, for `make soak`: `python -m faults.hostile_files [--files 20000]`, with `tests` on the path.

Real files, cut anywhere, with other bytes, with words that lead nowhere, with parts of themselves in the wrong place.
Each is read as the service reads it. What comes of it is a model or a ModelFileError, soon, and in bounded memory.
"""

from __future__ import annotations

import argparse
import random
import resource
import struct
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from model_wheels import FOLDER

from service.registry.inspection import facts_of
from service.registry.model_file import ModelFile, ModelFileError
from service.registry.onnx_file import read_onnx
from service.registry.tflite import read_tflite

VECTORS: Final = Path(__file__).parents[1] / "vectors"
MOST_BYTES: Final = 300_000
"""Of the files that are damaged: what matters is their structure."""
ADDRESS_SPACE_BYTES: Final = 2 * 1024**3
MOST_CPU_S: Final = 5.0
WORDS: Final = (0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 0x10000, 0x00FFFFFF)
READERS: Final[dict[str, Callable[[bytes], ModelFile]]] = {".tflite": read_tflite, ".onnx": read_onnx}


def whole_files() -> Iterator[tuple[str, bytes]]:
    """(kind, bytes) of real files: the one of the vectors, and those in wheels that were fetched."""
    yield ".tflite", (VECTORS / "hey_jarvis.tflite").read_bytes()
    for wheel in sorted(FOLDER.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for one in archive.infolist():
                kind = Path(one.filename).suffix
                if kind in READERS and one.file_size <= MOST_BYTES:
                    yield kind, archive.read(one)


def cut(payload: bytearray, chance: random.Random) -> None:
    """End it somewhere."""
    del payload[chance.randrange(64, len(payload)) :]


def scribble(payload: bytearray, chance: random.Random) -> None:
    """Put other bytes in a few places."""
    for _ in range(chance.randint(1, 40)):
        payload[chance.randrange(8, len(payload))] = chance.randrange(256)


def mislead(payload: bytearray, chance: random.Random) -> None:
    """Put extreme words, or ones that lead back, where offsets and lengths are."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(2, len(payload) // 4) * 4
        word = chance.choice([*WORDS, -at & 0xFFFFFFFF, chance.randrange(len(payload))])
        payload[at : at + 4] = struct.pack("<I", word)


def transplant(payload: bytearray, chance: random.Random) -> None:
    """Copy one part over another."""
    length = chance.randint(4, 4_096)
    source, target = (chance.randrange(8, max(9, len(payload) - length)) for _ in range(2))
    payload[target : target + length] = payload[source : source + length]


DAMAGES: Final = (cut, scribble, mislead, transplant)


def outcome(kind: str, payload: bytes) -> str:
    """What came of reading it, by a word; raises whatever a reader lets through."""
    try:
        facts_of(READERS[kind](payload))
    except ModelFileError as error:
        return error.reason
    return "read"


def main() -> None:
    """Read damaged files and print the counts; fails where one is not refused in time."""
    parser = argparse.ArgumentParser(description="Read damaged model files.")
    parser.add_argument("--files", type=int, default=20_000, help="damaged files")
    count: int = parser.parse_args().files
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    chance, whole = random.Random(0), list(whole_files())
    counts: Counter[str] = Counter()
    slowest_s = 0.0
    for _ in range(count):
        kind, original = chance.choice(whole)
        payload = bytearray(original)
        for damage in chance.sample(DAMAGES, chance.randint(1, 2)):
            damage(payload, chance)
        start = time.process_time()
        counts[outcome(kind, bytes(payload))] += 1
        slowest_s = max(slowest_s, time.process_time() - start)
    told = ", ".join(f"{number:,} {word}" for word, number in counts.most_common())
    print(
        f"{count:,} damaged files made from {len(whole)} real ones: {told}; the slowest took {slowest_s:.2f} s of CPU"
    )
    sys.exit(slowest_s > MOST_CPU_S)


if __name__ == "__main__":
    main()
