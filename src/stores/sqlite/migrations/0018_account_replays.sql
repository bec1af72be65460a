-- Null unless the operator switched replays off for the account.
ALTER TABLE accounts ADD COLUMN replays_off_at_ms INTEGER;
