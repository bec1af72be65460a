-- Null unless the operator disabled the key.
ALTER TABLE api_keys ADD COLUMN disabled_at_ms INTEGER;
-- What the key may be used for, as JSON in the form of the admin API. Null for a key that nothing restricts.
ALTER TABLE api_keys ADD COLUMN settings TEXT;
-- The latest day on which the key was used, as the number of days since 1970 in UTC. Null for a key that was never used.
ALTER TABLE api_keys ADD COLUMN last_used_day INTEGER;
