-- What a change came to, such as the amount of a grant. Null where action and subject say all, and for changes made before.
ALTER TABLE audit_log ADD COLUMN detail TEXT;
