#!/usr/bin/env bash
# Installs what runs the probe on 64-bit ARM, where that is possible: as root, on Debian. Without it those tests skip.
set -uo pipefail
command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null && exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
{ apt-get update && apt-get install --yes --no-install-recommends g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user; } >/dev/null 2>&1
exit 0
