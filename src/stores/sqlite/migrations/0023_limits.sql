-- The sums of the charges of each account, key, model and provider on each day. Sums of an account are sums over them. The earlier
-- table keeps the sums of the charges that are not in the new one yet: the gateway moves them in short turns while it serves, latest
-- first (docs/decisions/usage-days.md).
ALTER TABLE usage_days RENAME TO usage_days_by_account;

CREATE TABLE usage_days (
  -- The number of days since 1970, in UTC.
  day INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  -- The row ids of the first and the latest of these charges.
  first_charge_id INTEGER NOT NULL,
  latest_charge_id INTEGER NOT NULL,
  charges INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  images INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  -- The part of the cost that was credited back, because the client got an error. It counts for no budget.
  compensated INTEGER NOT NULL,
  PRIMARY KEY (day, account_id, api_key_id, model, provider)
) STRICT, WITHOUT ROWID;

CREATE VIEW account_days AS
  SELECT day, account_id, first_charge_id, latest_charge_id, charges, input_tokens, output_tokens, images, duration_ms, cost
    FROM usage_days
  UNION ALL
  SELECT day, account_id, first_charge_id, latest_charge_id, charges, input_tokens, output_tokens, images, duration_ms, cost
    FROM usage_days_by_account;

-- Charges up to this row id are in `usage_days_by_account`, and later ones in `usage_days`. 0 when all are moved.
CREATE TABLE usage_rebuild (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  charges_to INTEGER NOT NULL
) STRICT;
INSERT INTO usage_rebuild SELECT 1, ifnull(max(id), 0) FROM charges;

-- What an account, a project, a key, or an account or key with a model may use. A scope without limits has no row.
CREATE TABLE limits (
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (kind IN ('account', 'project', 'account_model', 'key', 'key_model')),
  -- The row id of the account, the project or the key.
  scope_id INTEGER NOT NULL,
  -- Empty unless the kind has a model.
  model TEXT NOT NULL,
  -- The limits and budgets, as JSON in the form of the admin API.
  terms TEXT NOT NULL,
  PRIMARY KEY (account_id, kind, scope_id, model)
) STRICT, WITHOUT ROWID;
