-- The result of the last check of the books, which all gateways use. One row. No hash covers it: whoever can change it
-- can also stop the checks.
CREATE TABLE book_checks (
  id bigint PRIMARY KEY CHECK (id = 1),
  -- The number of the last check that began: the time by the clock of the database, or one more than the number before.
  begun bigint NOT NULL,
  -- The number of the check with this result. 0 before the first one has ended.
  number bigint NOT NULL,
  -- By the clock of the database.
  ended_at_ms bigint NOT NULL,
  entries bigint NOT NULL,
  -- The accounts whose books have a problem that is not accepted. Null for all of them.
  accounts bigint[],
  -- Without accepted ones.
  open_problems bigint NOT NULL
);
INSERT INTO book_checks (id, begun, number, ended_at_ms, entries, accounts, open_problems)
  VALUES (1, 0, 0, 0, 0, '{}', 0);
