#!/bin/sh
# bun.sh production|all ARGUMENTS…: installs what is missing, then runs Bun with ARGUMENTS in this process.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
bun=$(node "$root/scripts/install.mjs" "$1")
shift
# Bun reads this variable at its start. With the default of 256, the 257th concurrent fetch call waits.
export BUN_CONFIG_MAX_HTTP_REQUESTS="${BUN_CONFIG_MAX_HTTP_REQUESTS:-65335}"
exec "$bun" "$@"
