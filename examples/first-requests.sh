#!/bin/sh
# first-requests.sh KEY: a paid answer, image and clip of the sandbox. Writes image.png and clip.mp4 into this folder.
set -eu
gateway="${GATEWAY_URL:-http://127.0.0.1:8787}"

# call PATH BODY: prints the reply. An error reply goes to standard error and ends the script.
call() {
  if reply=$(curl --silent --show-error --fail-with-body "$gateway/v1/$1" --data "$2" \
    --header "Authorization: Bearer $key" --header 'Content-Type: application/json')
  then printf '%s' "$reply"
  else printf '%s\n' "$reply" >&2; return 1
  fi
}
key=$1

answer=$(call chat/completions '{"model": "sandbox-chat", "messages": [{"role": "user", "content": "Hello"}]}')
image=$(call images/generations '{"model": "sandbox-image", "prompt": "A red fox"}')
clip=$(call videos '{"model": "sandbox-video", "prompt": "A red fox", "seconds": 5, "wait": true}')

# Without a JSON tool, which a machine may not have.
printf '%s' "$image" | sed 's/.*"b64_json":"\([^"]*\).*/\1/' | base64 -d > image.png
id=$(printf '%s' "$clip" | sed 's/.*"id":"\([^"]*\).*/\1/')
curl --silent --show-error --fail-with-body "$gateway/v1/videos/$id/content" \
  --header "Authorization: Bearer $key" --output clip.mp4 || { cat clip.mp4 >&2; exit 1; }

for reply in "$answer" "$image" "$clip"; do
  printf '%s' "$reply" | sed 's/.*"cost_usd":"\([^"]*\).*/cost: \1 USD\n/'
done
