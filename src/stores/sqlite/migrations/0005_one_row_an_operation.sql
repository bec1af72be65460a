-- An operation and its entries become one row: of the four rows that each charge wrote, two were entries. And the hot tables lose
-- the conditions that cost a look-up or a comparison at each insert: `verify` finds what they kept out.

CREATE TABLE operations_with_entries (
  id INTEGER PRIMARY KEY,
  -- The account's operation before this one.
  previous_id INTEGER,
  account_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  -- The caller's id of the credit, hold or charge whose operation this is.
  subject_key INTEGER NOT NULL,
  subject_tail INTEGER NOT NULL,
  -- The change of the account's available balance.
  amount INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  -- The entries: what it did to each book of the account. They sum to zero.
  book_1 TEXT NOT NULL,
  amount_1 INTEGER NOT NULL,
  balance_after_1 INTEGER NOT NULL,
  book_2 TEXT NOT NULL,
  amount_2 INTEGER NOT NULL,
  balance_after_2 INTEGER NOT NULL,
  -- Null where two books were touched.
  book_3 TEXT,
  amount_3 INTEGER,
  balance_after_3 INTEGER
) STRICT;

CREATE TEMP TABLE folded AS
  SELECT operation_id, book, sum(amount) AS amount, min(id) AS first_id, max(id) AS last_id
  FROM entries GROUP BY operation_id, book;

CREATE TEMP TABLE placed AS
  SELECT folded.operation_id, folded.book, folded.amount, balance_after,
    row_number() OVER (PARTITION BY folded.operation_id ORDER BY first_id) AS place
  FROM folded JOIN entries ON entries.id = last_id;
CREATE UNIQUE INDEX temp.placed_by_operation ON placed (operation_id, place);

INSERT INTO operations_with_entries
  SELECT operations.id, previous_id, account_id, kind, subject_key, subject_tail, operations.amount, at_ms,
    one.book, one.amount, one.balance_after, two.book, two.amount, two.balance_after,
    three.book, three.amount, three.balance_after
  FROM operations
    LEFT JOIN placed AS one ON one.operation_id = operations.id AND one.place = 1
    LEFT JOIN placed AS two ON two.operation_id = operations.id AND two.place = 2
    LEFT JOIN placed AS three ON three.operation_id = operations.id AND three.place = 3
  ORDER BY operations.id;

DROP TABLE placed;
DROP TABLE folded;
DROP TABLE entries;
DROP TABLE operations;
ALTER TABLE operations_with_entries RENAME TO operations;

CREATE TABLE charges_unchecked (
  id INTEGER PRIMARY KEY,
  tail INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  -- The account's charge before this one.
  previous_id INTEGER,
  -- Null where no money moved: a cost of zero.
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
  provenance TEXT NOT NULL,
  is_clamped INTEGER NOT NULL,
  -- Null for free rows and for the upstream's own cost.
  tariff_id INTEGER,
  cost INTEGER NOT NULL,
  -- By how much the cost exceeded its hold.
  shortfall INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

INSERT INTO charges_unchecked SELECT * FROM charges ORDER BY id;
DROP TABLE charges;
ALTER TABLE charges_unchecked RENAME TO charges;

CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never updated'); END;
CREATE TRIGGER operations_never_go BEFORE DELETE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never deleted'); END;
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never updated'); END;
CREATE TRIGGER charges_never_go BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END;
