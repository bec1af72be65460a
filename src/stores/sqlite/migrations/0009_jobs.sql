-- Media jobs. A job's state, its hold, its entries and its stored result change in one transaction.
CREATE TABLE jobs (
  -- In the order of creation.
  row_id INTEGER PRIMARY KEY,
  -- The job's id, which is also its hold's and its charge's.
  id_key INTEGER NOT NULL,
  id_tail INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('image', 'video')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'processing', 'unknown_submit', 'completed', 'failed')),
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  route TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  upstream_model TEXT NOT NULL,
  -- JSON: what the provider gets, and the price it was created with.
  request TEXT NOT NULL,
  quote TEXT NOT NULL,
  held INTEGER NOT NULL CHECK (held >= 0),
  -- The name of the node that recorded it, and submits it.
  node TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  changed_at_ms INTEGER NOT NULL,
  -- Durable before the first byte of the submit leaves.
  submitted_at_ms INTEGER,
  upstream_id TEXT,
  upstream_status TEXT,
  problem TEXT,
  next_poll_at_ms INTEGER NOT NULL,
  -- When the hold is released: for an unknown submit earlier than the deadline that the job was created with.
  deadline_at_ms INTEGER NOT NULL,
  job_deadline_at_ms INTEGER NOT NULL,
  -- JSON: the files of the result.
  outputs TEXT,
  duration_ms INTEGER,
  cost INTEGER CHECK (cost >= 0),
  failure_reason TEXT,
  failure_code TEXT,
  failure_message TEXT,
  failure_retry_after_s INTEGER,
  archived_at_ms INTEGER,
  -- A failed job that its provider may still finish is watched until then.
  watch_until_ms INTEGER,
  -- The price of a result that the provider finished after the release; when it was booked as a loss, and by which operation.
  late_cost INTEGER CHECK (late_cost >= 0),
  late_at_ms INTEGER,
  late_by INTEGER,
  CHECK ((state = 'completed') = (cost IS NOT NULL)),
  CHECK ((state = 'failed') = (failure_reason IS NOT NULL)),
  CHECK (state <> 'processing' OR upstream_id IS NOT NULL),
  CHECK (late_cost IS NULL OR (state = 'failed' AND watch_until_ms IS NULL)),
  CHECK ((late_cost IS NULL) = (late_at_ms IS NULL))
) STRICT;

CREATE UNIQUE INDEX jobs_by_id ON jobs (id_key, id_tail);
-- A provider's job belongs to one of ours.
CREATE UNIQUE INDEX jobs_by_upstream ON jobs (provider, upstream_id) WHERE upstream_id IS NOT NULL;
CREATE INDEX jobs_by_account ON jobs (account_id, row_id);
CREATE INDEX jobs_by_state ON jobs (state, row_id);
CREATE INDEX jobs_to_archive ON jobs (kind, changed_at_ms) WHERE state = 'completed' AND archived_at_ms IS NULL;
CREATE INDEX jobs_watched ON jobs (watch_until_ms) WHERE watch_until_ms IS NOT NULL;

-- What happened to a job, for the operator.
CREATE TABLE job_events (
  row_id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (row_id),
  state TEXT NOT NULL,
  detail TEXT,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX job_events_by_job ON job_events (job, row_id);

-- The idempotency keys of clients. Kept for 24 hours.
CREATE TABLE job_keys (
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  job INTEGER NOT NULL REFERENCES jobs (row_id),
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_keys_by_age ON job_keys (created_at_ms);
CREATE TRIGGER jobs_never_go BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'jobs are never deleted'); END;
