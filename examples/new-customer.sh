#!/bin/sh
# new-customer.sh NAME USD: makes an account with this much money and prints an API key for it.
# TOLLGATE_URL and TOLLGATE_ADMIN_KEY say where and with which admin key.
set -eu
name=$1
usd=$2
api="${TOLLGATE_URL:-http://127.0.0.1:8787}/admin/api"
key="${TOLLGATE_ADMIN_KEY:-$(cat data/admin.key)}"

post() {
  path=$1
  body=$2
  shift 2
  curl --silent --show-error --fail-with-body --request POST "$api/$path" \
    --header "Authorization: Bearer $key" --header 'Content-Type: application/json' --data "$body" "$@"
}

# An account that is there already (409) is as good as a new one.
post accounts "{\"name\": \"$name\"}" >/dev/null || true
# The Idempotency-Key makes a repeat of this script harmless: it is credited once.
post "accounts/$name/grants" "{\"amount_usd\": \"$usd\", \"source\": \"top_up\"}" \
  --header "Idempotency-Key: first-payment" >/dev/null
post "accounts/$name/keys" '{}'
echo
