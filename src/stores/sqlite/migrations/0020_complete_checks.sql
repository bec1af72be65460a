-- The sum of the account's loss operations. It is a part of `revenue_media` that no customer paid for, and of `losses`, so that
-- what the account spent and was credited leave it out.
ALTER TABLE balances ADD COLUMN booked_losses INTEGER NOT NULL DEFAULT 0;
UPDATE balances SET booked_losses = lost.amount
  FROM (SELECT account_id, sum(loss) AS amount FROM jobs WHERE loss_by IS NOT NULL GROUP BY account_id) AS lost
  WHERE lost.account_id = balances.account_id;

-- Of the line of a catalog edit: its revision, and the SHA-256 of the history of the catalog up to it. Null for other lines. The
-- hash of the line's commit covers both (docs/decisions/complete-checks.md).
ALTER TABLE audit_log ADD COLUMN revision INTEGER;
ALTER TABLE audit_log ADD COLUMN history_sha256 TEXT;

CREATE INDEX audit_log_by_revision ON audit_log (revision) WHERE revision IS NOT NULL;

-- The key of a job.
CREATE INDEX job_keys_by_job ON job_keys (job);

-- The rows of a revision, in the order in which they are hashed.
CREATE INDEX provider_versions_by_revision ON provider_versions (revision, id);
CREATE INDEX model_versions_by_revision ON model_versions (revision, id);
