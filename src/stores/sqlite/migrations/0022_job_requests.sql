-- The id of the request that created the job. Null for a job of an earlier version. The hash of the job's commit covers
-- it, with the names of its columns, if it is not null.
ALTER TABLE jobs ADD COLUMN request_key INTEGER;
ALTER TABLE jobs ADD COLUMN request_tail INTEGER;
