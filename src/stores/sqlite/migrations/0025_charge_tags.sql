-- For whom a request was made, as its client says: `team=a,feature=b` in the order of the names, and the id of the customer's own
-- user. Jobs and attempts keep them for the charge that may follow. Null for none. Each one that is not null is covered by the hash
-- of its row's commit, with its name.
ALTER TABLE charges ADD COLUMN tags TEXT;
ALTER TABLE charges ADD COLUMN user_id TEXT;
ALTER TABLE attempts ADD COLUMN tags TEXT;
ALTER TABLE attempts ADD COLUMN user_id TEXT;
ALTER TABLE jobs ADD COLUMN tags TEXT;
ALTER TABLE jobs ADD COLUMN user_id TEXT;
