#!/bin/sh
# bun.sh production|all ARGUMENTS…: installs what is missing, then becomes Bun with ARGUMENTS.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
bun=$(node "$root/scripts/install.mjs" "$1")
shift
# Bun reads this before its first line of ours runs; its default of 256 makes the 257th call by way of fetch wait.
export BUN_CONFIG_MAX_HTTP_REQUESTS="${BUN_CONFIG_MAX_HTTP_REQUESTS:-65335}"
exec "$bun" "$@"
