-- The sums of the charges of each account and day, written with the charges. The day is the number of days since 1970, in UTC. Days come
-- first, so that the rows of today are close together (docs/decisions/usage-days.md).
CREATE TABLE usage_days (
  day INTEGER NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  -- The row ids of the day's first and latest charge. Charges between them may be of other days, if the clock was set back.
  first_charge_id INTEGER NOT NULL,
  latest_charge_id INTEGER NOT NULL,
  charges INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  images INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  PRIMARY KEY (day, account_id)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_days (day, account_id, first_charge_id, latest_charge_id, charges, input_tokens, output_tokens, images,
    duration_ms, cost)
  SELECT at_ms / 86400000, account_id, min(id), max(id), count(*), sum(input + cached_input + cache_write + audio_input),
    sum(output + reasoning + audio_output), sum(ifnull(images, 0)), sum(ifnull(duration_ms, 0)), sum(cost)
  FROM charges GROUP BY 1, 2;
