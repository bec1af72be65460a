-- The costs of providers for the charges of a row, and the number of its charges whose cost is not known.
ALTER TABLE usage_days ADD COLUMN provider_cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN charges_without_cost INTEGER NOT NULL DEFAULT 0;

-- The charges after `costs_after` and up to `costs_to` are in `usage_days` without their costs. The gateway adds these in short turns while
-- it serves, latest first. Equal when all are added (docs/decisions/usage-days.md).
ALTER TABLE usage_rebuild ADD COLUMN costs_after INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_rebuild ADD COLUMN costs_to INTEGER NOT NULL DEFAULT 0;
UPDATE usage_rebuild SET costs_after = charges_to, costs_to = (SELECT ifnull(max(id), 0) FROM charges);

-- Lists work that no customer paid for by its time. Such work is rare, so most steps write neither index.
CREATE INDEX attempts_not_sold ON attempts (at_ms) 
  WHERE provider_cost > 0 OR state = 'abandoned' OR (state = 'compensated' AND cost > 0);
CREATE INDEX jobs_not_sold ON jobs (ifnull(loss_at_ms, changed_at_ms))
  WHERE state = 'failed' AND (loss > 0 OR provider_cost > 0);
