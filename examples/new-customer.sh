#!/bin/sh
# new-customer.sh NAME USD: creates an account with this balance and prints an API key for it.
# GATEWAY_URL is the address of the gateway, and TOLLGATE_ADMIN_KEY is the admin key.
set -eu
name=$1
usd=$2
api="${GATEWAY_URL:-http://127.0.0.1:8787}/admin/api"
key="${TOLLGATE_ADMIN_KEY:-$(cat data/admin.key)}"

# post PATH BODY [OPTION…]: prints the reply. An error reply goes to standard error and ends the script.
post() {
  path=$1
  body=$2
  shift 2
  if reply=$(curl --silent --show-error --fail-with-body --request POST "$api/$path" \
    --header "Authorization: Bearer $key" --header 'Content-Type: application/json' --data "$body" "$@")
  then printf '%s' "$reply"
  else printf '%s\n' "$reply" >&2; return 1
  fi
}

# If the account exists already, its error names it as in use, and the script continues with it.
post accounts "{\"name\": \"$name\"}" >/dev/null || true
# The Idempotency-Key makes the script safe to repeat: the account is credited once.
post "accounts/$name/grants" "{\"amount_usd\": \"$usd\", \"source\": \"top_up\"}" \
  --header "Idempotency-Key: first-payment" >/dev/null
post "accounts/$name/keys" '{}'
echo
