-- Webhooks get signed messages about events. No hash covers these tables, because no money depends on them. The audit log has each
-- change of a webhook.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  -- Null for a webhook of the operator. That of an account only gets events about this account.
  account_id INTEGER REFERENCES accounts (id),
  url TEXT NOT NULL,
  -- The types of events, as a JSON array.
  events TEXT NOT NULL,
  note TEXT NOT NULL,
  -- Encrypted with the key of the data folder. Empty after the webhook was removed.
  secret BLOB NOT NULL,
  -- The secret before the latest rotation, which signs too until its end.
  old_secret BLOB,
  old_secret_ends_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL,
  -- Null while it gets messages.
  off_at_ms INTEGER,
  off_reason TEXT CHECK (off_reason IN ('operator', 'failing')),
  -- Since when every attempt failed.
  failing_since_ms INTEGER,
  -- The messages that were not queued, because its queue was full.
  dropped INTEGER NOT NULL DEFAULT 0,
  removed_at_ms INTEGER,
  CHECK ((off_at_ms IS NULL) = (off_reason IS NULL)),
  CHECK ((old_secret IS NULL) = (old_secret_ends_at_ms IS NULL))
) STRICT;

-- An event that no webhook asked for has no row.
CREATE TABLE webhook_events (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  -- JSON. Every attempt sends these bytes.
  body TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- Events of one type with the same text are sent once. Null for those that may repeat.
  once TEXT,
  UNIQUE (type, once)
) STRICT;

CREATE INDEX webhook_events_by_time ON webhook_events (at_ms);

-- One message for each event and webhook.
CREATE TABLE webhook_messages (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (id),
  event_id INTEGER NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER,
  -- The latest attempt.
  attempted_at_ms INTEGER,
  duration_ms INTEGER,
  status INTEGER,
  problem TEXT,
  CHECK ((state = 'waiting') = (next_attempt_at_ms IS NOT NULL))
) STRICT;

CREATE INDEX webhook_messages_by_webhook ON webhook_messages (webhook_id, id);
CREATE INDEX webhook_messages_by_event ON webhook_messages (event_id);
CREATE INDEX webhook_messages_due ON webhook_messages (next_attempt_at_ms, webhook_id) WHERE state = 'waiting';
CREATE INDEX webhook_messages_waiting ON webhook_messages (webhook_id, next_attempt_at_ms) WHERE state = 'waiting';

-- The accounts that are told of a low balance.
CREATE TABLE balance_alerts (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
  below INTEGER NOT NULL,
  -- 1 if the account was told, until its balance is not below again.
  is_low INTEGER NOT NULL CHECK (is_low IN (0, 1))
) STRICT;
