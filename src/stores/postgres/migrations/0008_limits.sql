-- Limits and budgets. Their usage changes only under the lock of the account's balances: by batches, and by steps.

-- What an account, a project, a key, or an account or key with a model may use, and what it has used. A scope without
-- limits has no row. Its rules are in src/domain/limits.
CREATE TABLE limits (
  -- No foreign key, which each update would look at. Accounts stay.
  account_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('account', 'project', 'account_model', 'key', 'key_model')),
  -- The row id of the account, the project or the key.
  scope_id bigint NOT NULL,
  -- Empty unless the kind has a model.
  model text COLLATE "C" NOT NULL,
  -- The limits and budgets, as JSON in the form of the admin API.
  terms text NOT NULL,
  -- The same as numbers. Null for what is not limited.
  requests_per_minute bigint,
  tokens_per_minute bigint,
  concurrent_requests bigint,
  day_budget bigint,
  week_budget bigint,
  month_budget bigint,
  total_budget bigint,
  -- What was left in the buckets of the minute at a time, in parts of 1/60,000. Null without a limit.
  request_parts bigint,
  requests_at_ms bigint,
  token_parts bigint,
  tokens_at_ms bigint,
  -- The open requests and jobs, and their worst cases.
  running bigint NOT NULL DEFAULT 0,
  reserved_text bigint NOT NULL DEFAULT 0,
  reserved_media bigint NOT NULL DEFAULT 0,
  -- What was spent in the period that was current at the last charge, and the part of it that was recorded before the
  -- start of the period. Null without a budget.
  day_start_ms bigint,
  day_end_ms bigint,
  day_spent bigint,
  day_spent_before bigint,
  week_start_ms bigint,
  week_end_ms bigint,
  week_spent bigint,
  week_spent_before bigint,
  month_start_ms bigint,
  month_end_ms bigint,
  month_spent bigint,
  month_spent_before bigint,
  total_spent bigint,
  PRIMARY KEY (account_id, kind, scope_id, model)
) WITH (fillfactor = 40);

-- Alerts whose events are not written yet. They are recorded with what caused them, and a node writes their events.
CREATE TABLE untold_alerts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type text NOT NULL CHECK (type IN ('balance.low', 'budget.nearly_spent', 'budget.reached')),
  account_id bigint NOT NULL,
  -- The balance, or what was spent of the budget.
  amount bigint NOT NULL,
  -- The alert of the account, or the budget.
  compared_with bigint NOT NULL,
  at_ms bigint NOT NULL,
  -- The scope and the period of a budget; null for a balance.
  kind text,
  scope_id bigint,
  model text,
  period text,
  start_ms bigint,
  end_ms bigint
);

-- The rules of src/domain/limits/rate-bucket.ts. `/ 60000` instead of `* 60000` because a count can be too large for it.

CREATE FUNCTION filled_v1(p_parts bigint, p_at_ms bigint, p_per_minute bigint, p_now_ms bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  -- More than the time until the bucket is full changes nothing, and its product could be too large.
  SELECT least(
    p_parts + least(greatest(p_now_ms - p_at_ms, 0), (p_per_minute * 60000 - p_parts) / p_per_minute + 1) * p_per_minute,
    p_per_minute * 60000
  )
$$;

-- Takes a count, or gives back a negative one.
CREATE FUNCTION taken_v1(p_parts bigint, p_at_ms bigint, p_per_minute bigint, p_count bigint, p_now_ms bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT least(
    greatest(
      filled_v1(p_parts, p_at_ms, p_per_minute, p_now_ms)
        - greatest(least(p_count, 100000000000), -100000000000) * 60000,
      -9007199254740991
    ),
    p_per_minute * 60000
  )
$$;

-- The same for a bucket that is filled to now, of which a count is taken. Null without a bucket.
CREATE FUNCTION taken_now_v1(p_parts bigint, p_count bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_parts IS NOT NULL
    THEN greatest(p_parts - least(p_count, 100000000000) * 60000, -9007199254740991) END
$$;

-- The rules of src/domain/limits/periods.ts.

-- The last time before, or at, a time that is a whole number of lengths after another one.
CREATE FUNCTION start_of_v1(p_now_ms bigint, p_length_ms bigint, p_from_ms bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT p_now_ms - ((p_now_ms - p_from_ms) % p_length_ms + p_length_ms) % p_length_ms
$$;

-- The start of the month that a time is in, and a while later.
CREATE FUNCTION month_v1(p_now_ms bigint, p_later interval) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (extract(epoch FROM date_trunc('month', to_timestamp(p_now_ms / 1000.0) AT TIME ZONE 'UTC') + p_later)
    * 1000)::bigint
$$;

-- The time with the starts and ends of its periods. An expression without FROM: it costs a batch less than a query.
CREATE FUNCTION periods_v1(p_now_ms bigint) RETURNS periods_v1 LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(
    p_now_ms,
    start_of_v1(p_now_ms, 86400000, 0),
    start_of_v1(p_now_ms, 86400000, 0) + 86400000,
    -- 1970-01-05 was a Monday.
    start_of_v1(p_now_ms, 604800000, 345600000),
    start_of_v1(p_now_ms, 604800000, 345600000) + 604800000,
    month_v1(p_now_ms, '0'),
    month_v1(p_now_ms, '1 month')
  )::periods_v1
$$;

-- What the stored sum of a period counts now: nothing if the period is over.
CREATE FUNCTION current_v1(p_value bigint, p_end_ms bigint, p_now_ms bigint, p_else bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN p_now_ms < p_end_ms THEN p_value ELSE p_else END $$;

-- The bits of `balances.limit_kinds`.
CREATE FUNCTION limit_bit_v1(p_kind text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_kind WHEN 'account' THEN 1 WHEN 'project' THEN 2 WHEN 'account_model' THEN 4 WHEN 'key' THEN 8
    WHEN 'key_model' THEN 16 END
$$;

-- The scopes of a request, of the kinds that have limits in its account. Lists of VALUES, or queries for each kind,
-- would be prepared again for each request.
CREATE FUNCTION scopes_v1(p_kinds bigint, p_account bigint, p_key bigint, p_model text)
RETURNS TABLE (kind text, scope_id bigint, model text) LANGUAGE sql STABLE ROWS 2 AS $$
  SELECT k.kind,
      CASE k.bit WHEN 1 THEN p_account WHEN 4 THEN p_account
        WHEN 2 THEN (SELECT project_id FROM api_keys WHERE id = p_key) ELSE p_key END,
      CASE WHEN k.bit IN (4, 16) THEN p_model ELSE '' END
    FROM unnest('{1, 2, 4, 8, 16}'::bigint[], '{account, project, account_model, key, key_model}'::text[])
      AS k (bit, kind)
    WHERE p_kinds & k.bit <> 0
$$;

-- The terms and the usage of a scope, which the node reads.
CREATE FUNCTION limit_state_v1(l limits) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT ROW(l.kind, l.scope_id, l.model, l.requests_per_minute, l.tokens_per_minute, l.concurrent_requests, l.day_budget,
      l.week_budget, l.month_budget, l.total_budget, l.request_parts, l.requests_at_ms, l.token_parts,
      l.tokens_at_ms, l.running, l.reserved_text, l.reserved_media, l.day_start_ms, l.day_end_ms, l.day_spent,
      l.day_spent_before, l.week_start_ms, l.week_end_ms, l.week_spent, l.week_spent_before, l.month_start_ms,
      l.month_end_ms, l.month_spent, l.month_spent_before, l.total_spent)::text
$$;

-- What requests change in the usage of their scopes, and whether these then have room for what other requests ask: they
-- have it for all together if they have it for one after the other. Several changes at one time are the same as one
-- after the other, if debts of tokens come first.
CREATE FUNCTION scope_changes_v1(p_changes usage_change_v1[], p_at periods_v1) RETURNS SETOF scope_change_v1
LANGUAGE sql STABLE AS $$
  WITH changes AS (
    SELECT u.account_id, s.kind, s.scope_id, s.model,
        coalesce(sum_v1(u.requests) FILTER (WHERE u.cost IS NOT NULL), 0) AS requests,
        coalesce(sum_v1(u.running) FILTER (WHERE u.cost IS NOT NULL), 0) AS running,
        sum_v1(u.tokens) FILTER (WHERE u.cost IS NOT NULL) AS tokens,
        coalesce(sum_v1(u.reserved_text) FILTER (WHERE u.cost IS NOT NULL), 0) AS reserved_text,
        coalesce(sum_v1(u.reserved_media) FILTER (WHERE u.cost IS NOT NULL), 0) AS reserved_media,
        coalesce(sum_v1(u.cost), 0) AS cost,
        min(u.at_ms / 86400000 * 86400000) FILTER (WHERE u.cost > 0) AS first_day_ms,
        coalesce(sum_v1(u.requests) FILTER (WHERE u.cost IS NULL), 0) AS asked_requests,
        coalesce(sum_v1(u.running) FILTER (WHERE u.cost IS NULL), 0) AS asked_running,
        sum_v1(u.tokens) FILTER (WHERE u.cost IS NULL) AS asked_tokens,
        coalesce(sum_v1(u.reserved_text) FILTER (WHERE u.cost IS NULL), 0) AS asked_amount
      FROM unnest(p_changes) AS u JOIN balances b ON b.account_id = u.account_id
        CROSS JOIN scopes_v1(b.limit_kinds, u.account_id, u.api_key_id, u.model) AS s
      GROUP BY u.account_id, s.kind, s.scope_id, s.model
  )
  SELECT l.ctid, c.account_id, c.kind, c.scope_id, c.model, c.requests, c.running, c.tokens, c.reserved_text,
      c.reserved_media, c.cost, c.first_day_ms, c.asked_requests, c.asked_running, c.asked_tokens, c.asked_amount,
      (l.requests_per_minute IS NULL OR c.asked_requests = 0 OR buckets.requests / 60000 >= c.asked_requests)
        AND (l.tokens_per_minute IS NULL OR coalesce(c.asked_tokens, 0) = 0
          OR buckets.tokens / 60000 >= c.asked_tokens)
        AND (l.concurrent_requests IS NULL OR c.asked_running = 0
          OR l.running + c.running + c.asked_running <= l.concurrent_requests)
        AND (c.asked_amount = 0 OR coalesce(least(
            l.day_budget - current_v1(l.day_spent, l.day_end_ms, p_at.now_ms, 0),
            l.week_budget - current_v1(l.week_spent, l.week_end_ms, p_at.now_ms, 0),
            l.month_budget - current_v1(l.month_spent, l.month_end_ms, p_at.now_ms, 0),
            l.total_budget - l.total_spent
          ) - c.cost >= l.reserved_text + l.reserved_media + c.reserved_text + c.reserved_media + c.asked_amount,
          true)),
      l.requests_per_minute, buckets.requests, l.tokens_per_minute, buckets.tokens
    FROM changes c JOIN limits l
        ON l.account_id = c.account_id AND l.kind = c.kind AND l.scope_id = c.scope_id AND l.model = c.model
      CROSS JOIN LATERAL (
        SELECT taken_v1(l.request_parts, l.requests_at_ms, l.requests_per_minute, c.requests, p_at.now_ms),
          taken_v1(l.token_parts, l.tokens_at_ms, l.tokens_per_minute, coalesce(c.tokens, 0), p_at.now_ms)
      ) AS buckets (requests, tokens)
$$;

-- What the end of a request that used these tokens gives back of what its hold took, and its cost if that counts for
-- the same scopes. An expired hold gave it back before. `p_at_ms` is the time of its charge.
CREATE FUNCTION given_back_v1(h text_holds, p_used_tokens bigint, p_cost bigint, p_at_ms bigint) RETURNS usage_change_v1
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN h.expired_at_ms IS NULL
    THEN ROW(h.account_id, h.api_key_id, h.model, 0, -1, p_used_tokens - h.tokens, -h.worst_case, 0, p_cost,
      p_at_ms)::usage_change_v1
    ELSE ROW(h.account_id, h.api_key_id, h.model, 0, 0, nullif(p_used_tokens, 0), 0, 0, p_cost,
      p_at_ms)::usage_change_v1
  END
$$;

-- What requests spent of a scope on days before the start of a period. The sums of days have it on these days.
CREATE FUNCTION spent_before_v1(p_changes usage_change_v1[], c scope_change_v1, p_start_ms bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT sum_v1(u.cost) FROM unnest(p_changes) AS u CROSS JOIN scopes_v1(31, u.account_id, u.api_key_id, u.model) AS s
    WHERE u.account_id = c.account_id AND s.kind = c.kind AND s.scope_id = c.scope_id AND s.model = c.model
      AND u.at_ms / 86400000 * 86400000 < p_start_ms
$$;

-- Writes the changes of scopes that `scope_changes_v1` found for these changes of requests, and takes what is asked,
-- without that of some accounts. Records what is to be told of budgets. Returns the number of alerts.
CREATE FUNCTION write_scopes_v1(
  p_scopes scope_change_v1[],
  p_apart bigint[],
  p_changes usage_change_v1[],
  p_at periods_v1
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_is_near boolean;
BEGIN
  WITH changed AS (
    UPDATE limits l SET
        request_parts = CASE WHEN c.requests > 0 OR c.is_taken
          THEN taken_now_v1(c.request_parts, CASE WHEN c.is_taken THEN c.asked_requests ELSE 0 END)
          ELSE l.request_parts END,
        requests_at_ms = CASE WHEN (c.requests > 0 OR c.is_taken) AND l.requests_at_ms IS NOT NULL THEN p_at.now_ms
          ELSE l.requests_at_ms END,
        token_parts = CASE WHEN c.tokens IS NOT NULL OR c.is_taken AND c.asked_tokens IS NOT NULL
          THEN taken_now_v1(c.token_parts, CASE WHEN c.is_taken THEN coalesce(c.asked_tokens, 0) ELSE 0 END)
          ELSE l.token_parts END,
        tokens_at_ms = CASE
          WHEN (c.tokens IS NOT NULL OR c.is_taken AND c.asked_tokens IS NOT NULL) AND l.tokens_at_ms IS NOT NULL
          THEN p_at.now_ms ELSE l.tokens_at_ms END,
        running = l.running + c.running + CASE WHEN c.is_taken THEN c.asked_running ELSE 0 END,
        reserved_text = l.reserved_text + c.reserved_text + CASE WHEN c.is_taken THEN c.asked_amount ELSE 0 END,
        reserved_media = l.reserved_media + c.reserved_media,
        day_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN p_at.day_start_ms
          ELSE l.day_start_ms END,
        day_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN p_at.day_end_ms ELSE l.day_end_ms END,
        day_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN 0 ELSE l.day_spent END + c.cost,
        day_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN 0 ELSE l.day_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.day_start_ms, l.day_end_ms, p_at.now_ms, p_at.day_start_ms)
            THEN spent_before_v1(p_changes, c.change,
              current_v1(l.day_start_ms, l.day_end_ms, p_at.now_ms, p_at.day_start_ms))
            ELSE 0 END,
        week_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN p_at.week_start_ms
          ELSE l.week_start_ms END,
        week_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN p_at.week_end_ms ELSE l.week_end_ms END,
        week_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN 0 ELSE l.week_spent END + c.cost,
        week_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN 0 ELSE l.week_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.week_start_ms, l.week_end_ms, p_at.now_ms, p_at.week_start_ms)
            THEN spent_before_v1(p_changes, c.change,
              current_v1(l.week_start_ms, l.week_end_ms, p_at.now_ms, p_at.week_start_ms))
            ELSE 0 END,
        month_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN p_at.month_start_ms
          ELSE l.month_start_ms END,
        month_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN p_at.month_end_ms ELSE l.month_end_ms END,
        month_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN 0 ELSE l.month_spent END + c.cost,
        month_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN 0 ELSE l.month_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.month_start_ms, l.month_end_ms, p_at.now_ms, p_at.month_start_ms)
            THEN spent_before_v1(p_changes, c.change,
              current_v1(l.month_start_ms, l.month_end_ms, p_at.now_ms, p_at.month_start_ms))
            ELSE 0 END,
        total_spent = l.total_spent + c.cost
      FROM (
        SELECT s.*, s AS change, s.asked_requests > 0 AND s.account_id <> ALL (p_apart) AS is_taken
          FROM unnest(p_scopes) AS s
      ) AS c
      WHERE l.ctid = c.place
      -- Of most scopes no budget is nearly spent, so their periods are not looked at one by one.
      RETURNING c.cost > 0 AND (
        l.day_spent >= (4 * l.day_budget + 4) / 5 OR l.week_spent >= (4 * l.week_budget + 4) / 5
        OR l.month_spent >= (4 * l.month_budget + 4) / 5 OR l.total_spent >= (4 * l.total_budget + 4) / 5
      ) AS is_near
  )
  SELECT bool_or(is_near) INTO v_is_near FROM changed;
  RETURN CASE WHEN v_is_near THEN tell_budgets_v1(p_scopes, p_at.now_ms) ELSE 0 END;
END $$;

-- Adds the changes of requests that began or ended to the usage of their scopes. Returns the number of alerts.
CREATE FUNCTION change_usage_v1(p_changes usage_change_v1[], p_at periods_v1) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN write_scopes_v1(ARRAY(SELECT c FROM scope_changes_v1(p_changes, p_at) AS c), '{}', p_changes, p_at);
END $$;

-- Records what is to be told of the budgets of scopes that spent. A budget is nearly spent from 80 % on.
CREATE FUNCTION tell_budgets_v1(p_scopes scope_change_v1[], p_now_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_untold bigint;
BEGIN
  WITH news AS MATERIALIZED (
    SELECT l.account_id, l.kind, l.scope_id, l.model, p.period, p.start_ms, p.end_ms, p.budget, p.spent,
        coalesce(t.is_near, 0) = 0 AS is_near_new,
        p.spent >= p.budget AND coalesce(t.is_reached, 0) = 0 AS is_reached_new,
        greatest((p.spent >= p.budget)::integer, t.is_reached) AS is_reached
      FROM unnest(p_scopes) AS c JOIN limits l
          ON l.account_id = c.account_id AND l.kind = c.kind AND l.scope_id = c.scope_id AND l.model = c.model
        CROSS JOIN LATERAL (VALUES
          ('day', l.day_budget, l.day_spent, l.day_start_ms, l.day_end_ms),
          ('week', l.week_budget, l.week_spent, l.week_start_ms, l.week_end_ms),
          ('month', l.month_budget, l.month_spent, l.month_start_ms, l.month_end_ms),
          ('total', l.total_budget, l.total_spent, 0, NULL)
        ) AS p (period, budget, spent, start_ms, end_ms)
        LEFT JOIN budget_alerts t ON t.account_id = l.account_id AND t.kind = l.kind AND t.scope_id = l.scope_id
          AND t.model = l.model AND t.period = p.period AND t.start_ms = p.start_ms AND t.budget = p.budget
      WHERE c.cost > 0 AND p.spent >= (4 * p.budget + 4) / 5
  ), told AS (
    INSERT INTO budget_alerts (account_id, kind, scope_id, model, period, start_ms, budget, is_near, is_reached)
      SELECT account_id, kind, scope_id, model, period, start_ms, budget, 1, is_reached FROM news
        WHERE is_near_new OR is_reached_new
      ON CONFLICT (account_id, kind, scope_id, model, period) DO UPDATE SET start_ms = excluded.start_ms,
        budget = excluded.budget, is_near = excluded.is_near, is_reached = excluded.is_reached
  ), untold AS (
    INSERT INTO untold_alerts (type, account_id, amount, compared_with, at_ms, kind, scope_id, model, period, start_ms,
        end_ms)
      SELECT of.type, n.account_id, n.spent, n.budget, p_now_ms, n.kind, n.scope_id, n.model, n.period, n.start_ms,
          n.end_ms
        FROM news n CROSS JOIN LATERAL (VALUES
          ('budget.nearly_spent', n.is_near_new), ('budget.reached', n.is_reached_new)
        ) AS of (type, is_new)
        WHERE of.is_new
        -- In the order in which scopes are asked.
        ORDER BY array_position(ARRAY['account', 'project', 'account_model', 'key', 'key_model'], n.kind),
          array_position(ARRAY['day', 'week', 'month', 'total'], n.period), of.type
      RETURNING 1
  )
  SELECT count(*) INTO v_untold FROM untold;
  RETURN v_untold;
END $$;

-- The buckets of the scopes of a refused request fill from now on, also if the clock was set back.
CREATE FUNCTION refuse_use_v1(p_use usage_change_v1, p_now_ms bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE limits l SET
      requests_at_ms = CASE WHEN l.requests_at_ms > p_now_ms THEN p_now_ms ELSE l.requests_at_ms END,
      tokens_at_ms = CASE WHEN l.tokens_at_ms > p_now_ms THEN p_now_ms ELSE l.tokens_at_ms END
    FROM balances b, scopes_v1(b.limit_kinds, b.account_id, p_use.api_key_id, p_use.model) AS s
    WHERE b.account_id = p_use.account_id AND l.account_id = b.account_id AND l.kind = s.kind
      AND l.scope_id = s.scope_id AND l.model = s.model
      AND (l.requests_at_ms > p_now_ms OR l.tokens_at_ms > p_now_ms)
$$;

-- Tells of accounts whose balances fell below their alerts. Held money counts, because it can come back.
CREATE FUNCTION tell_low_balances_v1(p_accounts bigint[], p_now_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_untold bigint;
BEGIN
  WITH low AS (
    UPDATE balance_alerts a SET is_low = 1 FROM balances b
      WHERE a.account_id = ANY (p_accounts) AND b.account_id = a.account_id AND a.is_low = 0
        AND b.available + b.held_text + b.held_media < a.below
      RETURNING a.account_id, b.available + b.held_text + b.held_media AS balance, a.below
  ), untold AS (
    INSERT INTO untold_alerts (type, account_id, amount, compared_with, at_ms)
      SELECT 'balance.low', account_id, balance, below, p_now_ms FROM low RETURNING 1
  )
  SELECT count(*) INTO v_untold FROM untold;
  RETURN v_untold;
END $$;

-- Counts a request that holds nothing. Returns the rates of its scopes before it, and its project if it has one.
CREATE FUNCTION count_read_v1(p_account bigint, p_key bigint, p_now_ms bigint)
RETURNS TABLE (read_at_ms bigint, project_id bigint, kind text, scope_id bigint, model text, requests_per_minute bigint,
  request_parts bigint, tokens_per_minute bigint, token_parts bigint) LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_at periods_v1 := periods_v1(now_ms(p_now_ms));
  v_uses usage_change_v1[] := ARRAY[ROW(p_account, p_key, '', 1, 0, NULL, 0, 0, NULL, NULL)::usage_change_v1];
  v_scopes scope_change_v1[];
BEGIN
  IF NOT EXISTS (SELECT FROM balances WHERE account_id = p_account AND limit_kinds <> 0) THEN
    RETURN;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM FROM balances WHERE account_id = p_account FOR NO KEY UPDATE;
  v_scopes := ARRAY(SELECT c FROM scope_changes_v1(v_uses, v_at) AS c);
  IF EXISTS (SELECT FROM unnest(v_scopes) WHERE NOT has_room) THEN
    PERFORM refuse_use_v1(v_uses[1], v_at.now_ms);
  ELSE
    PERFORM write_scopes_v1(v_scopes, '{}', v_uses, v_at);
  END IF;
  RETURN QUERY SELECT v_at.now_ms, (SELECT k.project_id FROM api_keys k WHERE k.id = p_key), a.kind, a.scope_id,
      a.model, a.requests_per_minute, a.request_parts, a.tokens_per_minute, a.token_parts
    FROM unnest(v_scopes) AS a WHERE a.requests_per_minute IS NOT NULL OR a.tokens_per_minute IS NOT NULL;
END $$;

-- Batches look for an alert only if this is set. A step that changes an alert locks the balances of the account before,
-- as batches do.
CREATE FUNCTION note_balance_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE balances SET has_alert = 1 WHERE account_id = NEW.account_id;
  ELSE
    UPDATE balances SET has_alert = 0 WHERE account_id = OLD.account_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER balance_alerts_noted AFTER INSERT OR DELETE ON balance_alerts
  FOR EACH ROW EXECUTE FUNCTION note_balance_alert();
