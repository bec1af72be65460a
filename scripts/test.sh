#!/bin/sh
# npm test: installs what is missing, then runs all checks and tests. `npm test -- FILTER…` runs the matching tests.
# All tests run in two processes, each of which keeps its servers and modules from one file to the next.
set -eu
cd "$(dirname -- "$0")/.."
bun=$(node scripts/install.mjs all)
export BUN_CONFIG_MAX_HTTP_REQUESTS="${BUN_CONFIG_MAX_HTTP_REQUESTS:-65335}"
if [ $# -gt 0 ]; then exec "$bun" test --timeout 120000 "$@"; fi
sh scripts/check.sh
echo '— tests'
exec "$bun" test --parallel=2 --no-isolate --timeout 120000 ./src ./test ./bench
