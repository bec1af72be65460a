-- Attempts get a state for those that came to nothing, and what a late answer is worth. No version ever wrote to the table
-- that this one replaces.

DROP TABLE attempts;

-- Calls to upstreams whose answer nobody was handed.
CREATE TABLE attempts (
  request_key INTEGER NOT NULL,
  request_tail INTEGER NOT NULL,
  -- 1 for a request's first upstream.
  number INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  route TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('abandoned', 'timed_out', 'closed', 'billed', 'compensated')),
  -- Null where the upstream has not told.
  input INTEGER,
  cached_input INTEGER,
  cache_write INTEGER,
  audio_input INTEGER,
  output INTEGER,
  reasoning INTEGER,
  audio_output INTEGER,
  -- The prices the request was admitted with. Null for free rows and for the upstream's own cost.
  tariff_id INTEGER REFERENCES tariffs (id),
  -- What a late answer's usage costs at these prices.
  cost INTEGER CHECK (cost >= 0),
  is_clamped INTEGER CHECK (is_clamped IN (0, 1)),
  -- The operation that gave the cost back. Null where none did: a cost of zero moves nothing.
  compensated_by INTEGER REFERENCES operations (id),
  -- When it was given up.
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (request_key, number),
  CHECK ((state IN ('billed', 'compensated')) = (cost IS NOT NULL)),
  CHECK (state NOT IN ('abandoned', 'billed', 'compensated') OR input IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- An OR, so that SQLite sees that a query for one of the two can use it.
CREATE INDEX attempts_to_settle ON attempts (state, at_ms) WHERE state = 'timed_out' OR state = 'billed';
