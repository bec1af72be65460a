-- Debits and refunds, each with its operation. Commits cover them.
CREATE TABLE corrections (
  id INTEGER PRIMARY KEY,
  id_key INTEGER NOT NULL,
  id_tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  -- The charge that is refunded; null for a debit.
  charge_id INTEGER REFERENCES charges (id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  note TEXT,
  idempotency_key TEXT,
  -- What the account could spend right after, as the caller was told.
  available_after INTEGER NOT NULL,
  commit_id INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX corrections_by_public_id ON corrections (id_key, id_tail);
CREATE UNIQUE INDEX corrections_by_idempotency_key ON corrections (account_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
-- A charge is refunded once.
CREATE UNIQUE INDEX corrections_by_charge ON corrections (charge_id) WHERE charge_id IS NOT NULL;

CREATE TRIGGER corrections_never_change BEFORE UPDATE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are never updated'); END;
CREATE TRIGGER corrections_never_go BEFORE DELETE ON corrections BEGIN SELECT RAISE(ABORT, 'corrections are never deleted'); END;

-- Null unless the account is suspended: its keys are then refused.
ALTER TABLE accounts ADD COLUMN suspended_at_ms INTEGER;
