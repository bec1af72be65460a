-- The people who sign in to the console, with what they sign in with. No hash covers these tables, because no money
-- depends on them, and because what is known of a person changes. The audit log has who was invited, and what changed.
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  -- In lower case.
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  -- The account of a customer. Null for the people of the operator.
  account_id INTEGER REFERENCES accounts (id),
  -- The most that the grants of one day may add up to. Null for a role
  -- without such a limit.
  grants_per_day INTEGER CHECK (grants_per_day > 0),
  -- Argon2id in the PHC format. Null until the user has set a password.
  password_hash TEXT,
  -- The secret of one-time codes, encrypted with the key of the data folder. Null while codes are off.
  totp_secret BLOB,
  -- A secret that the user has not confirmed with a code yet.
  totp_pending BLOB,
  -- The number of the period of 30 seconds whose code was used last: no code counts twice.
  totp_used_step INTEGER NOT NULL DEFAULT 0,
  -- Who the user is at the OpenID provider.
  oidc_issuer TEXT,
  oidc_subject TEXT,
  -- Counts the changes that end all sessions. A sign-in that began before such a change opens none.
  sign_in_version INTEGER NOT NULL DEFAULT 1,
  -- The actor in the audit log.
  created_by TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  signed_in_at_ms INTEGER,
  disabled_at_ms INTEGER,
  CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL))
) STRICT;

CREATE UNIQUE INDEX users_by_identity ON users (oidc_issuer, oidc_subject) WHERE oidc_issuer IS NOT NULL;
-- Grants of removed users would count for others.
CREATE TRIGGER users_never_go BEFORE DELETE ON users BEGIN SELECT RAISE(ABORT, 'users are never deleted'); END;

-- The browsers that are signed in. The text of a cookie is never stored, only its SHA-256.
CREATE TABLE user_sessions (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- Written at most every five minutes.
  used_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX user_sessions_by_user ON user_sessions (user_id);

-- One-time links, with which a person sets a password. The text of a link is never stored, only its SHA-256.
CREATE TABLE user_links (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  kind TEXT NOT NULL CHECK (kind IN ('first', 'invitation', 'reset')),
  -- Null for the first owner, who does not exist yet.
  user_id INTEGER REFERENCES users (id),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  CHECK ((kind = 'first') = (user_id IS NULL))
) STRICT;

CREATE INDEX user_links_by_user ON user_links (user_id);

-- The user who gave a grant, and the day that the grant counts for, like the token of migration 0024.
ALTER TABLE credits ADD COLUMN by_user_id INTEGER;
ALTER TABLE credits ADD COLUMN by_user_day INTEGER;
CREATE INDEX credits_by_user ON credits (by_user_id, by_user_day, amount) WHERE by_user_id IS NOT NULL;
