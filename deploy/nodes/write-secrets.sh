#!/bin/sh
# Writes new secrets for compose.yaml to a file that only its owner can read: sh write-secrets.sh secrets.env
# Refuses to replace a file: with another TOLLGATE_SECRET_KEY the gateways cannot read what they stored.
set -eu
file=${1:?Usage: sh write-secrets.sh FILE}
umask 077
set -C
word() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
{
  echo "POSTGRES_OWNER_PASSWORD=$(word)"
  echo "POSTGRES_PASSWORD=$(word)"
  echo "VALKEY_PASSWORD=$(word)"
  echo "S3_ACCESS_KEY_ID=$(word)"
  echo "S3_SECRET_ACCESS_KEY=$(word)"
  echo "TOLLGATE_ADMIN_KEY=$(word)"
  echo "TOLLGATE_SECRET_KEY=$(head -c 32 /dev/urandom | base64)"
} > "$file"
echo "Wrote $file. Keep a copy of TOLLGATE_SECRET_KEY in another place." >&2
