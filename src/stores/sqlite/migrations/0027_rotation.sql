-- The secrets that rotations added to keys. The first secret of a key is in `api_keys`. The text of a secret is never stored, only
-- its SHA-256 and its first characters. Commits cover the rows of both tables (docs/decisions/rotation.md).
CREATE TABLE api_key_secrets (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  prefix TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  commit_id INTEGER NOT NULL
) STRICT;

CREATE INDEX api_key_secrets_by_key ON api_key_secrets (account_id, api_key_id);

-- When secrets end. The latest row of a secret counts.
CREATE TABLE api_key_secret_ends (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  -- The row id of the secret; 0 for the first secret of the key.
  secret INTEGER NOT NULL,
  -- Null if the secret does not end any more.
  ends_at_ms INTEGER,
  at_ms INTEGER NOT NULL,
  commit_id INTEGER NOT NULL
) STRICT;

CREATE INDEX api_key_secret_ends_by_key ON api_key_secret_ends (account_id, api_key_id);

CREATE TRIGGER api_key_secrets_never_change BEFORE UPDATE ON api_key_secrets BEGIN SELECT RAISE(ABORT, 'secrets of keys are never updated'); END;
CREATE TRIGGER api_key_secrets_never_go BEFORE DELETE ON api_key_secrets BEGIN SELECT RAISE(ABORT, 'secrets of keys are never deleted'); END;
CREATE TRIGGER api_key_secret_ends_never_change BEFORE UPDATE ON api_key_secret_ends BEGIN SELECT RAISE(ABORT, 'ends of secrets are never updated'); END;
CREATE TRIGGER api_key_secret_ends_never_go BEFORE DELETE ON api_key_secret_ends BEGIN SELECT RAISE(ABORT, 'ends of secrets are never deleted'); END;

-- The name at its creation, for an account that was renamed. The commit of its creation covers it.
ALTER TABLE accounts ADD COLUMN first_name TEXT;
-- Null unless the account is closed. Nothing opens it again.
ALTER TABLE accounts ADD COLUMN closed_at_ms INTEGER;
