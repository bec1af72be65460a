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

-- The time with the starts and ends of its periods.
CREATE FUNCTION periods_v1(p_now_ms bigint) RETURNS periods_v1 LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(p_now_ms, day, day + 86400000, week, week + 604800000,
      (extract(epoch FROM month) * 1000)::bigint, (extract(epoch FROM month + interval '1 month') * 1000)::bigint
    )::periods_v1
    FROM (SELECT
      floor(p_now_ms / 86400000.0)::bigint * 86400000 AS day,
      -- 1970-01-05 was a Monday.
      floor((p_now_ms - 345600000) / 604800000.0)::bigint * 604800000 + 345600000 AS week,
      date_trunc('month', to_timestamp(p_now_ms / 1000.0) AT TIME ZONE 'UTC') AS month
    ) AS starts
$$;

-- What the stored sum of a period counts now: nothing if the period is over.
CREATE FUNCTION current_v1(p_value bigint, p_end_ms bigint, p_now_ms bigint, p_else bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN p_now_ms < p_end_ms THEN p_value ELSE p_else END $$;

-- Whether a scope has room for these requests together; that is so if it has for one after the other.
CREATE FUNCTION has_room_v1(
  l limits,
  p_requests bigint,
  p_running bigint,
  p_tokens bigint,
  p_amount bigint,
  p_at periods_v1
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (l.requests_per_minute IS NULL
        OR filled_v1(l.request_parts, l.requests_at_ms, l.requests_per_minute, p_at.now_ms) / 60000 >= p_requests)
    AND (l.tokens_per_minute IS NULL OR p_tokens = 0
        OR filled_v1(l.token_parts, l.tokens_at_ms, l.tokens_per_minute, p_at.now_ms) / 60000 >= p_tokens)
    AND (l.concurrent_requests IS NULL OR p_running = 0 OR l.running + p_running <= l.concurrent_requests)
    AND (p_amount = 0 OR coalesce(least(
        l.day_budget - current_v1(l.day_spent, l.day_end_ms, p_at.now_ms, 0),
        l.week_budget - current_v1(l.week_spent, l.week_end_ms, p_at.now_ms, 0),
        l.month_budget - current_v1(l.month_spent, l.month_end_ms, p_at.now_ms, 0),
        l.total_budget - l.total_spent
      ) >= l.reserved_text + l.reserved_media + p_amount, true))
$$;

-- The bits of `balances.limit_kinds`.
CREATE FUNCTION limit_bit_v1(p_kind text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_kind WHEN 'account' THEN 1 WHEN 'project' THEN 2 WHEN 'account_model' THEN 4 WHEN 'key' THEN 8
    WHEN 'key_model' THEN 16 END
$$;

-- The scopes of a request, of the kinds that have limits in its account. A list of VALUES would be prepared again for
-- each request.
CREATE FUNCTION scopes_v1(p_kinds bigint, p_account bigint, p_key bigint, p_model text)
RETURNS TABLE (kind text, scope_id bigint, model text) LANGUAGE sql STABLE ROWS 2 AS $$
  SELECT 'account', p_account, '' WHERE p_kinds & 1 <> 0
  UNION ALL SELECT 'project', (SELECT project_id FROM api_keys WHERE id = p_key), '' WHERE p_kinds & 2 <> 0
  UNION ALL SELECT 'account_model', p_account, p_model WHERE p_kinds & 4 <> 0
  UNION ALL SELECT 'key', p_key, '' WHERE p_kinds & 8 <> 0
  UNION ALL SELECT 'key_model', p_key, p_model WHERE p_kinds & 16 <> 0
$$;

-- The terms and the usage of a scope, which the node reads.
CREATE FUNCTION limit_state_v1(l limits) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT ROW(l.kind, l.scope_id, l.model, l.requests_per_minute, l.tokens_per_minute, l.concurrent_requests, l.day_budget,
      l.week_budget, l.month_budget, l.total_budget, l.request_parts, l.requests_at_ms, l.token_parts,
      l.tokens_at_ms, l.running, l.reserved_text, l.reserved_media, l.day_start_ms, l.day_end_ms, l.day_spent,
      l.day_spent_before, l.week_start_ms, l.week_end_ms, l.week_spent, l.week_spent_before, l.month_start_ms,
      l.month_end_ms, l.month_spent, l.month_spent_before, l.total_spent)::text
$$;

-- What requests ask of the limits of their scopes.
CREATE FUNCTION asked_limits_v1(p_uses usage_change_v1[], p_at periods_v1) RETURNS SETOF asked_limit_v1
LANGUAGE sql STABLE AS $$
  WITH asked AS (
    SELECT u.account_id, s.kind, s.scope_id, s.model, sum_v1(u.requests) AS requests,
        sum_v1(u.running) AS running, coalesce(sum_v1(u.tokens), 0) AS tokens,
        sum_v1(u.reserved_text + u.reserved_media) AS amount
      FROM unnest(p_uses) AS u JOIN balances b ON b.account_id = u.account_id
        CROSS JOIN scopes_v1(b.limit_kinds, u.account_id, u.api_key_id, u.model) AS s
      GROUP BY u.account_id, s.kind, s.scope_id, s.model
  )
  SELECT l.account_id, a.requests, a.running, a.tokens, a.amount,
      has_room_v1(l, a.requests, a.running, a.tokens, a.amount, p_at), l.ctid, l.kind, l.scope_id, l.model,
      l.requests_per_minute, filled_v1(l.request_parts, l.requests_at_ms, l.requests_per_minute, p_at.now_ms),
      l.tokens_per_minute, filled_v1(l.token_parts, l.tokens_at_ms, l.tokens_per_minute, p_at.now_ms)
    FROM asked a JOIN limits l
      ON l.account_id = a.account_id AND l.kind = a.kind AND l.scope_id = a.scope_id AND l.model = a.model
$$;

-- Takes what text requests asked of their limits, without those of some accounts. Does what `change_usage_v1` does,
-- with what `asked_limits_v1` found.
CREATE FUNCTION take_asked_v1(p_asked asked_limit_v1[], p_apart bigint[], p_now_ms bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE limits l SET
      request_parts = taken_now_v1(a.request_parts, a.requests),
      requests_at_ms = CASE WHEN a.request_parts IS NOT NULL THEN p_now_ms END,
      token_parts = taken_now_v1(a.token_parts, a.tokens),
      tokens_at_ms = CASE WHEN a.token_parts IS NOT NULL THEN p_now_ms END,
      running = l.running + a.running,
      reserved_text = l.reserved_text + a.amount
    FROM unnest(p_asked) AS a
    WHERE l.ctid = a.place AND a.account_id <> ALL (p_apart)
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

-- What was spent on days before the start of a period. The sums of days have it on these days.
CREATE FUNCTION spent_before_v1(p_days bigint[], p_costs bigint[], p_start_ms bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT sum_v1(of.cost) FROM unnest(p_days, p_costs) AS of (day_ms, cost) WHERE of.day_ms < p_start_ms
$$;

-- Adds the changes of requests that began or ended to the usage of their scopes, and records what is to be told of
-- budgets. Several changes at one time are the same as one after the other, if debts of tokens come first. Returns the
-- number of alerts.
CREATE FUNCTION change_usage_v1(p_changes usage_change_v1[], p_at periods_v1) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_untold bigint;
BEGIN
  WITH requested AS MATERIALIZED (
    SELECT u.account_id, u.api_key_id, u.model, u.at_ms / 86400000 * 86400000 AS day_ms, sum_v1(u.requests) AS requests,
        sum_v1(u.tokens) AS tokens, sum_v1(u.running) AS running, sum_v1(u.reserved_text) AS reserved_text,
        sum_v1(u.reserved_media) AS reserved_media, sum_v1(u.cost) AS cost
      FROM unnest(p_changes) AS u GROUP BY 1, 2, 3, 4
  ), changes AS (
    SELECT r.account_id, s.kind, s.scope_id, s.model, sum_v1(r.requests) AS requests, sum_v1(r.tokens) AS tokens,
        sum_v1(r.running) AS running, sum_v1(r.reserved_text) AS reserved_text,
        sum_v1(r.reserved_media) AS reserved_media, sum_v1(r.cost) AS cost,
        min(r.day_ms) FILTER (WHERE r.cost > 0) AS first_day_ms, array_agg(r.day_ms) FILTER (WHERE r.cost > 0) AS days,
        array_agg(r.cost) FILTER (WHERE r.cost > 0) AS costs
      FROM requested r JOIN balances b ON b.account_id = r.account_id
        CROSS JOIN scopes_v1(b.limit_kinds, r.account_id, r.api_key_id, r.model) AS s
      GROUP BY 1, 2, 3, 4
  ), changed AS (
    UPDATE limits l SET
        request_parts = CASE WHEN c.requests > 0 AND l.requests_at_ms IS NOT NULL
          THEN taken_v1(l.request_parts, l.requests_at_ms, l.requests_per_minute, c.requests, p_at.now_ms)
          ELSE l.request_parts END,
        requests_at_ms = CASE WHEN c.requests > 0 AND l.requests_at_ms IS NOT NULL THEN p_at.now_ms
          ELSE l.requests_at_ms END,
        token_parts = CASE WHEN c.tokens IS NOT NULL AND l.tokens_at_ms IS NOT NULL
          THEN taken_v1(l.token_parts, l.tokens_at_ms, l.tokens_per_minute, c.tokens, p_at.now_ms)
          ELSE l.token_parts END,
        tokens_at_ms = CASE WHEN c.tokens IS NOT NULL AND l.tokens_at_ms IS NOT NULL THEN p_at.now_ms
          ELSE l.tokens_at_ms END,
        running = l.running + c.running,
        reserved_text = l.reserved_text + c.reserved_text,
        reserved_media = l.reserved_media + c.reserved_media,
        day_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN p_at.day_start_ms
          ELSE l.day_start_ms END,
        day_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN p_at.day_end_ms ELSE l.day_end_ms END,
        day_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN 0 ELSE l.day_spent END + c.cost,
        day_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.day_end_ms THEN 0 ELSE l.day_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.day_start_ms, l.day_end_ms, p_at.now_ms, p_at.day_start_ms)
            THEN spent_before_v1(c.days, c.costs,
              current_v1(l.day_start_ms, l.day_end_ms, p_at.now_ms, p_at.day_start_ms))
            ELSE 0 END,
        week_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN p_at.week_start_ms
          ELSE l.week_start_ms END,
        week_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN p_at.week_end_ms ELSE l.week_end_ms END,
        week_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN 0 ELSE l.week_spent END + c.cost,
        week_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.week_end_ms THEN 0 ELSE l.week_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.week_start_ms, l.week_end_ms, p_at.now_ms, p_at.week_start_ms)
            THEN spent_before_v1(c.days, c.costs,
              current_v1(l.week_start_ms, l.week_end_ms, p_at.now_ms, p_at.week_start_ms))
            ELSE 0 END,
        month_start_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN p_at.month_start_ms
          ELSE l.month_start_ms END,
        month_end_ms = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN p_at.month_end_ms ELSE l.month_end_ms END,
        month_spent = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN 0 ELSE l.month_spent END + c.cost,
        month_spent_before = CASE WHEN c.cost > 0 AND p_at.now_ms >= l.month_end_ms THEN 0 ELSE l.month_spent_before END
          + CASE WHEN c.first_day_ms < current_v1(l.month_start_ms, l.month_end_ms, p_at.now_ms, p_at.month_start_ms)
            THEN spent_before_v1(c.days, c.costs,
              current_v1(l.month_start_ms, l.month_end_ms, p_at.now_ms, p_at.month_start_ms))
            ELSE 0 END,
        total_spent = l.total_spent + c.cost
      FROM changes c
      WHERE l.account_id = c.account_id AND l.kind = c.kind AND l.scope_id = c.scope_id AND l.model = c.model
      RETURNING l.account_id, l.kind, l.scope_id, l.model, l.day_budget, l.day_spent, l.day_start_ms, l.day_end_ms,
        l.week_budget, l.week_spent, l.week_start_ms, l.week_end_ms, l.month_budget, l.month_spent, l.month_start_ms,
        l.month_end_ms, l.total_budget, l.total_spent, c.cost
  ), news AS MATERIALIZED (
    -- A budget is nearly spent from 80 % on.
    SELECT c.account_id, c.kind, c.scope_id, c.model, p.period, p.start_ms, p.end_ms, p.budget, p.spent,
        coalesce(t.is_near, 0) = 0 AS is_near_new,
        p.spent >= p.budget AND coalesce(t.is_reached, 0) = 0 AS is_reached_new,
        greatest((p.spent >= p.budget)::integer, t.is_reached) AS is_reached
      FROM changed c CROSS JOIN LATERAL (VALUES
          ('day', c.day_budget, c.day_spent, c.day_start_ms, c.day_end_ms),
          ('week', c.week_budget, c.week_spent, c.week_start_ms, c.week_end_ms),
          ('month', c.month_budget, c.month_spent, c.month_start_ms, c.month_end_ms),
          ('total', c.total_budget, c.total_spent, 0, NULL)
        ) AS p (period, budget, spent, start_ms, end_ms)
        LEFT JOIN budget_alerts t ON t.account_id = c.account_id AND t.kind = c.kind AND t.scope_id = c.scope_id
          AND t.model = c.model AND t.period = p.period AND t.start_ms = p.start_ms AND t.budget = p.budget
      WHERE p.spent >= (4 * p.budget + 4) / 5
        -- Of most scopes no budget is, so their periods are not looked at one by one.
        AND c.cost > 0 AND (
          c.day_spent >= (4 * c.day_budget + 4) / 5 OR c.week_spent >= (4 * c.week_budget + 4) / 5
          OR c.month_spent >= (4 * c.month_budget + 4) / 5 OR c.total_spent >= (4 * c.total_budget + 4) / 5
        )
  ), told AS (
    INSERT INTO budget_alerts (account_id, kind, scope_id, model, period, start_ms, budget, is_near, is_reached)
      SELECT account_id, kind, scope_id, model, period, start_ms, budget, 1, is_reached FROM news
        WHERE is_near_new OR is_reached_new
      ON CONFLICT (account_id, kind, scope_id, model, period) DO UPDATE SET start_ms = excluded.start_ms,
        budget = excluded.budget, is_near = excluded.is_near, is_reached = excluded.is_reached
  ), untold AS (
    INSERT INTO untold_alerts (type, account_id, amount, compared_with, at_ms, kind, scope_id, model, period, start_ms,
        end_ms)
      SELECT of.type, n.account_id, n.spent, n.budget, p_at.now_ms, n.kind, n.scope_id, n.model, n.period, n.start_ms,
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
  v_use usage_change_v1 := ROW(p_account, p_key, '', 1, 0, NULL, 0, 0, 0, NULL)::usage_change_v1;
  v_limits asked_limit_v1[];
BEGIN
  IF NOT EXISTS (SELECT FROM balances WHERE account_id = p_account AND limit_kinds <> 0) THEN
    RETURN;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM FROM balances WHERE account_id = p_account FOR NO KEY UPDATE;
  v_limits := ARRAY(SELECT asked FROM asked_limits_v1(ARRAY[v_use], v_at) AS asked);
  IF EXISTS (SELECT FROM unnest(v_limits) WHERE NOT has_room) THEN
    PERFORM refuse_use_v1(v_use, v_at.now_ms);
  ELSE
    PERFORM change_usage_v1(ARRAY[v_use], v_at);
  END IF;
  RETURN QUERY SELECT v_at.now_ms, (SELECT k.project_id FROM api_keys k WHERE k.id = p_key), a.kind, a.scope_id,
      a.model, a.requests_per_minute, a.request_parts, a.tokens_per_minute, a.token_parts
    FROM unnest(v_limits) AS a WHERE a.requests_per_minute IS NOT NULL OR a.tokens_per_minute IS NOT NULL;
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
