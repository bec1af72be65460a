-- The name at its creation, for a key that was renamed. The commit of its creation covers it.
ALTER TABLE api_keys ADD COLUMN first_name TEXT;
