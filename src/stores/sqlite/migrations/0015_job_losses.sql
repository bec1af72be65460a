-- A loss is not only the price of a result that came late: also of one that was lost.
ALTER TABLE jobs RENAME COLUMN late_cost TO loss;
ALTER TABLE jobs RENAME COLUMN late_at_ms TO loss_at_ms;
ALTER TABLE jobs RENAME COLUMN late_by TO loss_by;
