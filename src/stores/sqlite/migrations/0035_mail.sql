-- Mails about events. No hash covers these tables, because no money depends on them, and because an address of a person must be
-- removable. The audit log has how many contacts an account has, and not their addresses.
CREATE TABLE mail_recipients (
  id INTEGER PRIMARY KEY,
  -- Null for an operator. A contact of an account only gets events about this account.
  account_id INTEGER REFERENCES accounts (id),
  address TEXT NOT NULL COLLATE NOCASE,
  -- The mails that were queued on a day, which is counted from 1970 in UTC.
  day INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0,
  -- The events that were left out since the latest mail that told their number.
  left_out INTEGER NOT NULL DEFAULT 0,
  left_out_since_ms INTEGER,
  CHECK ((left_out = 0) = (left_out_since_ms IS NULL))
) STRICT;

CREATE UNIQUE INDEX mail_recipients_by_address ON mail_recipients (ifnull(account_id, 0), address);
CREATE INDEX mail_recipients_left_out ON mail_recipients (left_out_since_ms) WHERE left_out > 0;

CREATE TABLE mail_messages (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  recipient_id INTEGER NOT NULL REFERENCES mail_recipients (id) ON DELETE CASCADE,
  -- Null for a mail that tells how many events were left out.
  event_id INTEGER REFERENCES webhook_events (id) ON DELETE CASCADE,
  left_out INTEGER,
  left_out_since_ms INTEGER,
  queued_at_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER,
  -- The latest attempt.
  attempted_at_ms INTEGER,
  problem TEXT,
  CHECK ((state = 'waiting') = (next_attempt_at_ms IS NOT NULL)),
  CHECK ((event_id IS NULL) = (left_out IS NOT NULL)),
  CHECK ((left_out IS NULL) = (left_out_since_ms IS NULL))
) STRICT;

CREATE INDEX mail_messages_by_recipient ON mail_messages (recipient_id);
CREATE INDEX mail_messages_by_event ON mail_messages (event_id);
CREATE INDEX mail_messages_by_time ON mail_messages (queued_at_ms) WHERE event_id IS NULL;
CREATE INDEX mail_messages_due ON mail_messages (next_attempt_at_ms) WHERE state = 'waiting';

-- What the latest server that was started has in its settings, so that commands without a server queue mails too.
CREATE TABLE mail_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  is_on INTEGER NOT NULL CHECK (is_on IN (0, 1)),
  -- The most mails to one address, and in all, in a day.
  per_address INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  day INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  -- Of all days.
  left_out INTEGER NOT NULL
) STRICT;

INSERT INTO mail_state VALUES (1, 0, 0, 0, 0, 0, 0);
