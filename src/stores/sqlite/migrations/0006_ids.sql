-- The whole 128-bit id becomes the identity of charges, credits, holds and attempts: two nodes can make the same first 64 bits.
-- Rows get integer ids of their own, in the order in which they are written, and the id of each is unique.
-- Operations get a number within their account, without gaps; their row ids may have gaps from now on.

CREATE TABLE numbered_operations (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  -- 1 for the first operation of the account, without gaps.
  number INTEGER NOT NULL,
  -- The account's operation before this one.
  previous_id INTEGER,
  kind TEXT NOT NULL,
  -- The caller's id of the credit, hold or charge that the operation belongs to.
  subject_key INTEGER NOT NULL,
  subject_tail INTEGER NOT NULL,
  -- The change of the account's available balance.
  amount INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  -- The entries: what the operation does to each book of the account. They sum to zero.
  book_1 TEXT NOT NULL,
  amount_1 INTEGER NOT NULL,
  balance_after_1 INTEGER NOT NULL,
  book_2 TEXT NOT NULL,
  amount_2 INTEGER NOT NULL,
  balance_after_2 INTEGER NOT NULL,
  -- Null if the operation touches two books.
  book_3 TEXT,
  amount_3 INTEGER,
  balance_after_3 INTEGER
) STRICT;

INSERT INTO numbered_operations
  SELECT id, account_id, row_number() OVER (PARTITION BY account_id ORDER BY id), previous_id, kind, subject_key,
    subject_tail, amount, at_ms, book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2,
    book_3, amount_3, balance_after_3
  FROM operations ORDER BY id;

ALTER TABLE balances ADD COLUMN operation_count INTEGER NOT NULL DEFAULT 0;
UPDATE balances SET operation_count = counted.operations
  FROM (SELECT account_id, count(*) AS operations FROM operations GROUP BY account_id) AS counted
  WHERE counted.account_id = balances.account_id;

DROP TABLE operations;
ALTER TABLE numbered_operations RENAME TO operations;

-- Charges were stored by the first half of their id. Their new order is by time, and within an account the order of its chain:
-- usage lists show the same lines as before. `back` counts from the newest charge of the account.
CREATE TEMP TABLE chained AS
  WITH RECURSIVE chain (id, back) AS (
    SELECT latest_charge_id, 0 FROM balances WHERE latest_charge_id IS NOT NULL
    UNION ALL
    SELECT charges.previous_id, back + 1 FROM chain JOIN charges USING (id) WHERE charges.previous_id IS NOT NULL
    LIMIT (SELECT count(*) FROM charges)
  )
  SELECT id, min(back) AS back FROM chain GROUP BY id;
CREATE UNIQUE INDEX temp.chained_by_id ON chained (id);

CREATE TEMP TABLE ordered AS
  SELECT id, row_number() OVER (ORDER BY reached_ms, account_id, back DESC, id) AS new_id
  FROM (
    SELECT charges.id, account_id, back,
      max(at_ms) OVER (PARTITION BY account_id ORDER BY back DESC, charges.id) AS reached_ms
    FROM charges LEFT JOIN chained USING (id)
  );
CREATE UNIQUE INDEX temp.ordered_by_id ON ordered (id);

CREATE TABLE charges_by_row (
  id INTEGER PRIMARY KEY,
  id_key INTEGER NOT NULL,
  id_tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  -- The account's charge before this one.
  previous_id INTEGER,
  -- Null if no money moved: a cost of zero.
  operation_id INTEGER,
  api_key_id INTEGER NOT NULL,
  route TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  input INTEGER NOT NULL,
  cached_input INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  audio_input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  audio_output INTEGER NOT NULL,
  -- Null for charges that are not for text.
  provenance TEXT,
  is_clamped INTEGER NOT NULL,
  -- Null for free rows and for the upstream's own cost.
  tariff_id INTEGER,
  cost INTEGER NOT NULL,
  -- By how much the cost exceeded its hold.
  shortfall INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

INSERT INTO charges_by_row
  SELECT ordered.new_id, charges.id, tail, account_id,
    (SELECT new_id FROM ordered AS previous WHERE previous.id = charges.previous_id),
    operation_id, api_key_id, route, model, provider, input, cached_input, cache_write, audio_input, output, reasoning,
    audio_output, provenance, is_clamped, tariff_id, cost, shortfall, at_ms
  FROM ordered CROSS JOIN charges USING (id) ORDER BY ordered.new_id;

UPDATE balances SET latest_charge_id = (SELECT new_id FROM ordered WHERE ordered.id = latest_charge_id)
  WHERE latest_charge_id IS NOT NULL;

DROP TABLE ordered;
DROP TABLE chained;
DROP TABLE charges;
ALTER TABLE charges_by_row RENAME TO charges;
CREATE UNIQUE INDEX charges_by_public_id ON charges (id_key, id_tail);

CREATE TABLE credits_by_row (
  id INTEGER PRIMARY KEY,
  id_key INTEGER NOT NULL,
  id_tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  source TEXT NOT NULL CHECK (source IN ('cash', 'promotions')),
  note TEXT,
  idempotency_key TEXT,
  -- What the account could spend right after, as the caller was told.
  available_after INTEGER NOT NULL
) STRICT;

INSERT INTO credits_by_row (id_key, id_tail, account_id, operation_id, amount, source, note, idempotency_key, available_after)
  SELECT id, tail, account_id, operation_id, amount, source, note, idempotency_key, available_after
  FROM credits ORDER BY operation_id;
DROP TABLE credits;
ALTER TABLE credits_by_row RENAME TO credits;
CREATE UNIQUE INDEX credits_by_public_id ON credits (id_key, id_tail);
CREATE UNIQUE INDEX credits_by_idempotency_key ON credits (account_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

CREATE TABLE holds_by_row (
  id INTEGER PRIMARY KEY,
  id_key INTEGER NOT NULL,
  id_tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (kind IN ('text', 'media')),
  amount INTEGER NOT NULL CHECK (amount >= 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'captured', 'released', 'expired')),
  -- Null if no money moved: a hold of zero.
  placed_by INTEGER REFERENCES operations (id),
  resolved_by INTEGER REFERENCES operations (id),
  placed_at_ms INTEGER NOT NULL,
  resolved_at_ms INTEGER,
  CHECK ((state = 'open') = (resolved_at_ms IS NULL))
) STRICT;

INSERT INTO holds_by_row (id_key, id_tail, account_id, kind, amount, state, placed_by, resolved_by, placed_at_ms, resolved_at_ms)
  SELECT id, tail, account_id, kind, amount, state, placed_by, resolved_by, placed_at_ms, resolved_at_ms
  FROM holds ORDER BY id;
DROP TABLE holds;
ALTER TABLE holds_by_row RENAME TO holds;
CREATE UNIQUE INDEX holds_by_public_id ON holds (id_key, id_tail);
CREATE INDEX holds_open ON holds (account_id) WHERE state = 'open';

CREATE TABLE attempts_by_row (
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
  -- Null if the upstream has not reported it.
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
  CHECK ((state IN ('billed', 'compensated')) = (cost IS NOT NULL)),
  CHECK (state NOT IN ('abandoned', 'billed', 'compensated') OR input IS NOT NULL)
) STRICT;

INSERT INTO attempts_by_row (request_key, request_tail, number, account_id, api_key_id, route, model, provider, state,
    input, cached_input, cache_write, audio_input, output, reasoning, audio_output, tariff_id, cost, is_clamped,
    compensated_by, at_ms)
  SELECT request_key, request_tail, number, account_id, api_key_id, route, model, provider, state,
    input, cached_input, cache_write, audio_input, output, reasoning, audio_output, tariff_id, cost, is_clamped,
    compensated_by, at_ms
  FROM attempts ORDER BY at_ms, request_key, number;
DROP TABLE attempts;
ALTER TABLE attempts_by_row RENAME TO attempts;
CREATE UNIQUE INDEX attempts_by_request ON attempts (request_key, request_tail, number);
-- An OR, so that SQLite sees that a query for one of the two states can use it.
CREATE INDEX attempts_to_settle ON attempts (state, at_ms) WHERE state = 'timed_out' OR state = 'billed';

CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never updated'); END;
CREATE TRIGGER operations_never_go BEFORE DELETE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never deleted'); END;
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never updated'); END;
CREATE TRIGGER charges_never_go BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END;
