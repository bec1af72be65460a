-- What the last check of the books that found nothing had read, so that the next one reads only what was written since.
-- No hash covers it, as with the result of a check: whoever can change it can also stop the checks.

ALTER TABLE book_checks
  -- The number of the last full check with a result, and when it ended. Gateways of earlier versions make only full
  -- checks, and do not write these: their results count as those of checks after it.
  ADD full_number bigint NOT NULL DEFAULT 0,
  ADD full_ended_at_ms bigint NOT NULL DEFAULT 0;
UPDATE book_checks SET full_number = number, full_ended_at_ms = ended_at_ms;

-- One row. Each check that writes what it had read changes it first, so that of two checks at once only one does.
CREATE TABLE checked_books (
  id bigint PRIMARY KEY CHECK (id = 1),
  -- 0 if a check must read everything, because none has ended or because the last full one found a problem.
  is_sound bigint NOT NULL CHECK (is_sound IN (0, 1)),
  -- The correct entries.
  entries bigint NOT NULL
);
INSERT INTO checked_books (id, is_sound, entries) VALUES (1, 0, 0);

-- The lanes as they were then.
CREATE TABLE checked_lanes (
  number bigint PRIMARY KEY,
  last_id bigint NOT NULL,
  sealed_id bigint NOT NULL,
  commit_number bigint NOT NULL,
  commit_hash bytea NOT NULL
);

-- The last row id of each table that commits cover and whose ids come from a sequence.
CREATE TABLE checked_tables (
  name text PRIMARY KEY,
  last_id bigint NOT NULL
);

-- The balances that were compared with all entries, of accounts that have any, and the ends of their chains.
CREATE TABLE checked_balances (
  account_id bigint PRIMARY KEY,
  available bigint NOT NULL,
  held_text bigint NOT NULL,
  held_media bigint NOT NULL,
  cash bigint NOT NULL,
  promotions bigint NOT NULL,
  revenue_text bigint NOT NULL,
  revenue_media bigint NOT NULL,
  losses bigint NOT NULL,
  booked_losses bigint NOT NULL,
  operation_count bigint NOT NULL,
  latest_operation_id bigint,
  latest_charge_id bigint
);
