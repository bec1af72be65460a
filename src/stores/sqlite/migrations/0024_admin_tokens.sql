-- The tokens of the admin API. The text of a token is never stored, only its SHA-256. Commits cover the rows, except for the last two
-- columns.
CREATE TABLE admin_tokens (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  prefix TEXT NOT NULL,
  -- Words with spaces between them.
  scopes TEXT NOT NULL,
  -- The most that its grants of one day may add up to. Null unless it may give grants.
  grants_per_day INTEGER CHECK (grants_per_day > 0),
  -- Null for a token that does not expire.
  expires_at_ms INTEGER,
  -- The actor in the audit log.
  created_by TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  commit_id INTEGER NOT NULL,
  revoked_at_ms INTEGER,
  -- The number of days from 1970 to its last use, in UTC.
  last_used_day INTEGER
) STRICT;

CREATE UNIQUE INDEX admin_tokens_by_name ON admin_tokens (name) WHERE revoked_at_ms IS NULL;
CREATE TRIGGER admin_tokens_never_go BEFORE DELETE ON admin_tokens BEGIN SELECT RAISE(ABORT, 'admin tokens are never deleted'); END;

-- The token that gave a grant, and the day that the grant counts for: the number of days since 1970, in UTC. Null for every other
-- credit. The hash of the credit's commit covers them, with the names of the columns, if they are not null.
ALTER TABLE credits ADD COLUMN token_id INTEGER;
ALTER TABLE credits ADD COLUMN token_day INTEGER;
CREATE INDEX credits_by_token ON credits (token_id, token_day, amount) WHERE token_id IS NOT NULL;
