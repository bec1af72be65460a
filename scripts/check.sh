#!/bin/sh
# Checks formatting, lint rules and types of the whole tree. Stops at the first failure.
set -eu
cd "$(dirname -- "$0")/.."
node scripts/install.mjs all >/dev/null
echo '— format'
node_modules/.bin/oxfmt --check
echo '— lint'
node_modules/.bin/oxlint --type-aware --deny-warnings
echo '— types'
node_modules/.bin/tsc
node_modules/.bin/tsc -p console
