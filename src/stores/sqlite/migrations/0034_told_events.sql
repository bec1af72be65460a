-- What webhooks were told of each budget: once in a period. No hash covers these tables, because no money depends on them. A budget of
-- another amount is another budget.
CREATE TABLE budget_alerts (
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  -- The scope, as in the table `limits`.
  kind TEXT NOT NULL,
  scope_id INTEGER NOT NULL,
  model TEXT NOT NULL,
  period TEXT NOT NULL,
  -- The start of the period that was told.
  start_ms INTEGER NOT NULL,
  budget INTEGER NOT NULL,
  is_near INTEGER NOT NULL CHECK (is_near IN (0, 1)),
  is_reached INTEGER NOT NULL CHECK (is_reached IN (0, 1)),
  PRIMARY KEY (account_id, kind, scope_id, model, period)
) STRICT, WITHOUT ROWID;

-- The accounts that are told of each job that ends.
CREATE TABLE job_alerts (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id)
) STRICT;

-- The keys that were told to expire, each with the time at which it expires.
CREATE TABLE expiry_alerts (
  api_key_id INTEGER PRIMARY KEY REFERENCES api_keys (id),
  expires_at TEXT NOT NULL
) STRICT;

-- A sweep looks for keys that expire soon.
CREATE INDEX api_keys_by_expiry ON api_keys (CASE WHEN json_valid(settings) THEN settings ->> '$.expires_at' END)
  WHERE settings IS NOT NULL;

-- The providers that were told to fail, with the models that failed, until they are told to have recovered.
CREATE TABLE provider_alerts (
  provider TEXT PRIMARY KEY,
  -- A JSON array.
  models TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
