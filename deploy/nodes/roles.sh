#!/bin/sh
# Makes the role of the gateways, which owns no tables. The image of PostgreSQL runs this in a new database.
set -eu
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set=password="$GATEWAY_PASSWORD" <<'SQL'
CREATE ROLE tollgate LOGIN PASSWORD :'password';
GRANT CONNECT ON DATABASE tollgate TO tollgate;
SQL
