-- The usage of an abandoned attempt may be unknown. SQLite cannot change a check of a table, so that the table is made again.
CREATE TABLE attempts_next (
  id INTEGER PRIMARY KEY,
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
  -- Null if the upstream has not reported it, such as for a stream that was given up before its first byte.
  input INTEGER,
  cached_input INTEGER,
  cache_write INTEGER,
  audio_input INTEGER,
  output INTEGER,
  reasoning INTEGER,
  audio_output INTEGER,
  -- The prices the request was admitted with. Null for free rows and for the upstream's own cost.
  tariff_id INTEGER REFERENCES tariffs (id),
  -- What the usage of a late answer costs at these prices.
  cost INTEGER CHECK (cost >= 0),
  is_clamped INTEGER CHECK (is_clamped IN (0, 1)),
  -- The operation that gave the cost back. Null if none did: a cost of zero moves nothing.
  compensated_by INTEGER REFERENCES operations (id),
  -- When it was given up.
  at_ms INTEGER NOT NULL,
  -- The commit that added the row. -1 for rows of earlier versions: one commit covers all of them.
  commit_id INTEGER NOT NULL,
  CHECK ((state IN ('billed', 'compensated')) = (cost IS NOT NULL)),
  CHECK (state NOT IN ('billed', 'compensated') OR input IS NOT NULL)
) STRICT;

INSERT INTO attempts_next (id, request_key, request_tail, number, account_id, api_key_id, route, model, provider, state,
    input, cached_input, cache_write, audio_input, output, reasoning, audio_output, tariff_id, cost, is_clamped,
    compensated_by, at_ms, commit_id)
  SELECT id, request_key, request_tail, number, account_id, api_key_id, route, model, provider, state,
    input, cached_input, cache_write, audio_input, output, reasoning, audio_output, tariff_id, cost, is_clamped,
    compensated_by, at_ms, commit_id
  FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_next RENAME TO attempts;
CREATE UNIQUE INDEX attempts_by_request ON attempts (request_key, request_tail, number);
-- An OR, so that SQLite sees that a query for one of the two states can use it.
CREATE INDEX attempts_to_settle ON attempts (state, at_ms) WHERE state = 'timed_out' OR state = 'billed';
CREATE TRIGGER attempts_never_go BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
