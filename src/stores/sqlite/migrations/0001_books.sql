-- Money is in nano-USD, instants in milliseconds since 1970. Hot tables have integer keys: text keys there cost up to twice
-- the CPU of a request. A caller's 128-bit id is its first 64 bits (the key) and the rest (the tail).

CREATE TABLE accounts (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  sandbox_only INTEGER NOT NULL CHECK (sandbox_only IN (0, 1)),
  created_at_ms INTEGER NOT NULL
) STRICT;

-- A key's text is never stored, only its SHA-256.
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  prefix TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT;

CREATE INDEX api_keys_by_account ON api_keys (account_id);

-- What stands in each book of an account: the fold of its entries, kept so that nobody has to fold them. The house books are
-- kept per account too, so that no row is written by everybody.
CREATE TABLE balances (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
  available INTEGER NOT NULL DEFAULT 0,
  held_text INTEGER NOT NULL DEFAULT 0,
  held_media INTEGER NOT NULL DEFAULT 0,
  cash INTEGER NOT NULL DEFAULT 0,
  promotions INTEGER NOT NULL DEFAULT 0,
  revenue_text INTEGER NOT NULL DEFAULT 0,
  revenue_media INTEGER NOT NULL DEFAULT 0,
  losses INTEGER NOT NULL DEFAULT 0,
  -- Where the account's chains of operations and charges end (docs/decisions/account-chains.md). Null before the first.
  latest_operation_id INTEGER,
  latest_charge_id INTEGER
) STRICT;

-- The journal: what happened, in the order in which it was committed. Ids have no gap.
-- Conditions on hot tables are ORs: SQLite builds a table for an IN of more than two, at every insert.
CREATE TABLE operations (
  id INTEGER PRIMARY KEY,
  -- The account's operation before this one.
  previous_id INTEGER,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (
    kind = 'charge' OR kind = 'hold' OR kind = 'capture' OR kind = 'release' OR kind = 'top_up' OR kind = 'grant'
    OR kind = 'compensation'
  ),
  -- The caller's id of the credit, hold or charge whose operation this is.
  subject_key INTEGER NOT NULL,
  subject_tail INTEGER NOT NULL,
  -- The change of the account's available balance.
  amount INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

-- The legs of the operations, in the books of the operation's account. Those of one operation stand together and sum to
-- zero. Ids have no gap.
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  book TEXT NOT NULL CHECK (
    book = 'available' OR book = 'revenue.text' OR book = 'held.media' OR book = 'revenue.media' OR book = 'held.text'
    OR book = 'cash' OR book = 'promotions' OR book = 'losses'
  ),
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL
) STRICT;

CREATE TABLE credits (
  id INTEGER PRIMARY KEY,
  tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  source TEXT NOT NULL CHECK (source IN ('cash', 'promotions')),
  note TEXT,
  idempotency_key TEXT,
  -- What the account could spend right after, as the caller was told.
  available_after INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX credits_by_idempotency_key ON credits (account_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- Durable holds. Those of text requests live in memory: they die with the process, as their requests do.
CREATE TABLE holds (
  id INTEGER PRIMARY KEY,
  tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (kind IN ('text', 'media')),
  amount INTEGER NOT NULL CHECK (amount >= 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'captured', 'released')),
  -- Null where no money moved: a hold of zero.
  placed_by INTEGER REFERENCES operations (id),
  resolved_by INTEGER REFERENCES operations (id),
  placed_at_ms INTEGER NOT NULL,
  resolved_at_ms INTEGER,
  CHECK ((state = 'open') = (resolved_at_ms IS NULL))
) STRICT;

CREATE INDEX holds_open ON holds (account_id) WHERE state = 'open';

-- The prices that charges were computed with: one row for each different set of them, ever.
CREATE TABLE tariffs (
  id INTEGER PRIMARY KEY,
  content TEXT NOT NULL UNIQUE
) STRICT;

-- Charged requests. The id is the hold's, so that a request is charged once.
CREATE TABLE charges (
  id INTEGER PRIMARY KEY,
  tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  -- The account's charge before this one.
  previous_id INTEGER,
  -- Null where no money moved: a cost of zero. Without REFERENCES, because the charge is written first (it is what happens
  -- once) and a deferred one would scan this table at every operation.
  operation_id INTEGER,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
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
  provenance TEXT NOT NULL CHECK (provenance IN ('reported', 'estimated')),
  is_clamped INTEGER NOT NULL CHECK (is_clamped IN (0, 1)),
  -- Null for free rows and for the upstream's own cost.
  tariff_id INTEGER REFERENCES tariffs (id),
  cost INTEGER NOT NULL CHECK (cost >= 0),
  -- By how much the cost exceeded its hold.
  shortfall INTEGER NOT NULL CHECK (shortfall >= 0),
  at_ms INTEGER NOT NULL
) STRICT;

-- Calls to upstreams whose answer nobody was handed: what they used is the operator's, never the customer's.
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
  state TEXT NOT NULL CHECK (state IN ('abandoned', 'timed_out', 'billed', 'compensated')),
  -- Null as long as the upstream has not told.
  input INTEGER,
  cached_input INTEGER,
  cache_write INTEGER,
  audio_input INTEGER,
  output INTEGER,
  reasoning INTEGER,
  audio_output INTEGER,
  tariff_id INTEGER REFERENCES tariffs (id),
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (request_key, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX attempts_to_settle ON attempts (state) WHERE state IN ('timed_out', 'billed');

CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

-- What was booked stays as it was booked.
CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never updated'); END;
CREATE TRIGGER operations_never_go BEFORE DELETE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never deleted'); END;
CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never updated'); END;
CREATE TRIGGER entries_never_go BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never updated'); END;
CREATE TRIGGER charges_never_go BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END;
CREATE TRIGGER tariffs_never_change BEFORE UPDATE ON tariffs BEGIN SELECT RAISE(ABORT, 'tariffs are never updated'); END;
CREATE TRIGGER tariffs_never_go BEFORE DELETE ON tariffs BEGIN SELECT RAISE(ABORT, 'tariffs are never deleted'); END;
CREATE TRIGGER audit_log_never_changes BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'audit lines are never updated'); END;
CREATE TRIGGER audit_log_never_goes BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'audit lines are never deleted'); END;
