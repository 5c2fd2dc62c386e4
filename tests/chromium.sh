#!/usr/bin/env bash
# Chromium for the console's browser tests: taken where it is, installed from Debian's packages where we are root.
# Without it those tests are skipped and say so.
command -v chromium >/dev/null && exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "no Chromium: the browser tests will be skipped"; exit 0; }
{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
    || echo "Chromium could not be installed: the browser tests will be skipped"
exit 0
