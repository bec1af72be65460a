#!/bin/sh
# chat.sh KEY [MODEL]: sends one chat request. The header x-service-cost-usd and usage.cost_usd have its cost.
set -eu
curl --silent --show-error --include "${GATEWAY_URL:-http://127.0.0.1:8787}/v1/chat/completions" \
  --header "Authorization: Bearer $1" --header 'Content-Type: application/json' \
  --data "{\"model\": \"${2:-sandbox-chat}\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}"
echo
