#!/bin/sh
# npm test: installs what is missing, then runs all checks and tests. `npm test -- FILTER…` runs the matching tests.
# All tests run in three processes, each of which keeps its servers and modules from one file to the next. Tests wait
# for time limits, commits and other processes a fifth of their time, so that two processes leave cores idle.
set -eu
cd "$(dirname -- "$0")/.."
bun=$(node scripts/install.mjs all)
export BUN_CONFIG_MAX_HTTP_REQUESTS="${BUN_CONFIG_MAX_HTTP_REQUESTS:-65335}"
if [ $# -gt 0 ]; then exec "$bun" test --timeout 120000 "$@"; fi
sh scripts/check.sh
echo '— tests'

# Puts the temporary folders of the tests into memory, where a store does not wait for the disk at each commit. The
# memory must have room, and programs must be allowed to run there.
memory=/dev/shm
for left in "$memory"/tollgate-tests-*; do
  if [ -d "$left" ] && ! kill -0 "${left##*-}" 2>/dev/null; then rm -rf "$left"; fi
done
free_kb=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
folder=$memory/tollgate-tests-$$
if [ "${free_kb:-0}" -ge 8000000 ] && mkdir "$folder" 2>/dev/null; then
  trap 'rm -rf "$folder" || true' EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\n' >"$folder/program"
  chmod +x "$folder/program"
  if "$folder/program" 2>/dev/null; then export TMPDIR="$folder"; fi
fi
"$bun" test --parallel=3 --no-isolate --timeout 120000 ./src ./test ./bench
