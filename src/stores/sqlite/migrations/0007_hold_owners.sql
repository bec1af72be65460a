-- A hold has an owner, which renews it, and expires without a renewal. The hold of a job ends with its job.

-- The node that placed the hold: a random number for each start of a node. Null for holds of earlier versions.
ALTER TABLE holds ADD COLUMN owner INTEGER;
-- Null for the hold of a job, and for holds of earlier versions: these do not expire.
ALTER TABLE holds ADD COLUMN expires_at_ms INTEGER;
-- The id of the job.
ALTER TABLE holds ADD COLUMN job_key INTEGER;
ALTER TABLE holds ADD COLUMN job_tail INTEGER;

CREATE INDEX holds_expiring ON holds (expires_at_ms) WHERE state = 'open' AND expires_at_ms IS NOT NULL;
