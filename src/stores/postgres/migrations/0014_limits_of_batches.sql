-- A batch takes what its requests ask of their limits with one statement, which finds the row of each scope once.
-- `post_v1`, which older gateways call, asks all scopes for room with one statement and changes them with another. What
-- is decided for one request goes on in that way, with `scope_changes_v1` and `write_scopes_v1`.

-- What a scope that requests were taken from had in its buckets before them. Null without a limit.
CREATE TYPE scope_rates_v2 AS (
  account_id bigint,
  kind text,
  scope_id bigint,
  model text,
  requests_per_minute bigint,
  request_parts bigint,
  tokens_per_minute bigint,
  token_parts bigint
);

-- What `take_together_v2` did: the rates of the scopes that were asked, the accounts with a budget that is nearly
-- spent, and those whose usage it left as it was. Null for none.
CREATE TYPE scopes_taken_v2 AS (rates scope_rates_v2[], near bigint[], undone bigint[]);

-- The parts in a bucket, to which a count is given back before another one is taken. Null without a limit.
CREATE FUNCTION parts_after_v2(
  p_parts bigint,
  p_at_ms bigint,
  p_per_minute bigint,
  p_used bigint,
  p_count bigint,
  p_now_ms bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_per_minute IS NOT NULL
    THEN greatest(
      taken_v1(p_parts, p_at_ms, p_per_minute, p_used, p_now_ms) - least(p_count, 100000000000) * 60000,
      -9007199254740991
    ) END
$$;

-- Adds the changes of requests to the usage of their scopes, and takes what other requests ask: all of it, as if every
-- limit had room and no period of a budget had ended. That is nearly always so, and looking at a row before its change
-- costs as much as the change. The accounts for which it was not so get their usage back, and those of `p_apart` are
-- left out.
CREATE FUNCTION take_together_v2(
  p_changes usage_change_v1[],
  p_apart bigint[],
  p_kinds bigint,
  p_now_ms bigint
) RETURNS scopes_taken_v2 LANGUAGE plpgsql AS $$
DECLARE
  v_taken scopes_taken_v2;
  v_before limits[];
BEGIN
  WITH changed AS (
    UPDATE limits l SET
        request_parts = CASE WHEN c.asked > 0
          THEN parts_after_v2(l.request_parts, l.requests_at_ms, l.requests_per_minute, 0, c.asked, p_now_ms)
          ELSE l.request_parts END,
        requests_at_ms = CASE WHEN c.asked > 0 AND l.requests_at_ms IS NOT NULL THEN p_now_ms
          ELSE l.requests_at_ms END,
        token_parts = CASE WHEN c.used_tokens IS NOT NULL OR c.asked_tokens IS NOT NULL
          THEN parts_after_v2(l.token_parts, l.tokens_at_ms, l.tokens_per_minute, coalesce(c.used_tokens, 0),
            coalesce(c.asked_tokens, 0), p_now_ms)
          ELSE l.token_parts END,
        tokens_at_ms = CASE
          WHEN (c.used_tokens IS NOT NULL OR c.asked_tokens IS NOT NULL) AND l.tokens_at_ms IS NOT NULL THEN p_now_ms
          ELSE l.tokens_at_ms END,
        running = l.running + c.running,
        reserved_text = l.reserved_text + c.reserved_text,
        day_spent = l.day_spent + c.cost,
        week_spent = l.week_spent + c.cost,
        month_spent = l.month_spent + c.cost,
        total_spent = l.total_spent + c.cost
      FROM (
        SELECT u.account_id, k.kind,
            CASE k.bit WHEN 1 THEN u.account_id WHEN 4 THEN u.account_id
              WHEN 2 THEN (SELECT project_id FROM api_keys WHERE id = u.api_key_id) ELSE u.api_key_id END AS scope_id,
            CASE WHEN k.bit IN (4, 16) THEN u.model ELSE '' END AS model,
            sum_v1(u.running) AS running,
            sum_v1(u.reserved_text) AS reserved_text,
            sum_v1(u.tokens) FILTER (WHERE u.cost IS NOT NULL) AS used_tokens,
            coalesce(sum_v1(u.cost), 0) AS cost,
            min(u.at_ms / 86400000 * 86400000) AS first_day_ms,
            count(*) FILTER (WHERE u.cost IS NULL) AS asked,
            sum_v1(u.tokens) FILTER (WHERE u.cost IS NULL) AS asked_tokens,
            sum_v1(u.reserved_text) FILTER (WHERE u.cost IS NULL) AS asked_amount
          -- As in `scopes_v1`.
          FROM unnest('{1, 2, 4, 8, 16}'::bigint[], '{account, project, account_model, key, key_model}'::text[])
            AS k (bit, kind) CROSS JOIN unnest(p_changes) AS u
          WHERE p_kinds & k.bit <> 0 AND u.account_id <> ALL (p_apart)
          GROUP BY 1, 2, 3, 4
      ) AS c
      WHERE l.account_id = c.account_id AND l.kind = c.kind AND l.scope_id = c.scope_id AND l.model = c.model
      RETURNING l.account_id, l.kind, l.scope_id, l.model, c.asked, c.asked_tokens, l.requests_per_minute,
        l.request_parts, l.tokens_per_minute, l.token_parts,
        c.cost > 0 AND (
          l.day_spent >= (4 * l.day_budget + 4) / 5 OR l.week_spent >= (4 * l.week_budget + 4) / 5
          OR l.month_spent >= (4 * l.month_budget + 4) / 5 OR l.total_spent >= (4 * l.total_budget + 4) / 5
        ) AS is_near,
        -- The costs are of the periods that the scope has.
        (c.cost = 0 OR coalesce(
          p_now_ms < least(l.day_end_ms, l.week_end_ms, l.month_end_ms)
            AND c.first_day_ms >= greatest(l.day_start_ms, l.week_start_ms, l.month_start_ms),
          true
        ))
        -- And there was room: a bucket never has more than its limit.
        AND (c.asked = 0 OR
          (l.requests_per_minute IS NULL OR c.asked <= l.requests_per_minute AND l.request_parts >= 0)
          AND (l.tokens_per_minute IS NULL OR c.asked_tokens = 0
            OR c.asked_tokens <= l.tokens_per_minute AND l.token_parts >= 0)
          AND (l.concurrent_requests IS NULL OR l.running <= l.concurrent_requests)
          AND (c.asked_amount = 0 OR coalesce(least(
              l.day_budget - current_v1(l.day_spent, l.day_end_ms, p_now_ms, 0),
              l.week_budget - current_v1(l.week_spent, l.week_end_ms, p_now_ms, 0),
              l.month_budget - current_v1(l.month_spent, l.month_end_ms, p_now_ms, 0),
              l.total_budget - l.total_spent
            ) >= l.reserved_text + l.reserved_media, true))
        ) AS fits
  )
  SELECT
      array_agg(ROW(account_id, kind, scope_id, model, requests_per_minute, request_parts + asked * 60000,
        tokens_per_minute, token_parts + least(coalesce(asked_tokens, 0), 100000000000) * 60000)::scope_rates_v2)
        FILTER (WHERE asked > 0 AND (requests_per_minute IS NOT NULL OR tokens_per_minute IS NOT NULL)),
      array_agg(account_id) FILTER (WHERE is_near),
      array_agg(account_id) FILTER (WHERE NOT fits),
      -- The rows before their change: a query does not see what it changes.
      (
        SELECT array_agg(l) FROM (SELECT DISTINCT account_id FROM changed WHERE NOT fits) AS w
          JOIN changed c ON c.account_id = w.account_id
          JOIN limits l
            ON l.account_id = c.account_id AND l.kind = c.kind AND l.scope_id = c.scope_id AND l.model = c.model
      )
    INTO v_taken.rates, v_taken.near, v_taken.undone, v_before FROM changed;
  IF v_before IS NOT NULL THEN
    UPDATE limits l SET
        request_parts = b.request_parts, requests_at_ms = b.requests_at_ms,
        token_parts = b.token_parts, tokens_at_ms = b.tokens_at_ms,
        running = b.running, reserved_text = b.reserved_text,
        day_spent = b.day_spent, week_spent = b.week_spent, month_spent = b.month_spent, total_spent = b.total_spent
      FROM unnest(v_before) AS b
      WHERE l.account_id = b.account_id AND l.kind = b.kind AND l.scope_id = b.scope_id AND l.model = b.model;
    v_taken.rates := ARRAY(SELECT r FROM unnest(v_taken.rates) AS r WHERE r.account_id <> ALL (v_taken.undone));
    v_taken.near := ARRAY(SELECT n FROM unnest(v_taken.near) AS n WHERE n <> ALL (v_taken.undone));
  END IF;
  RETURN v_taken;
END $$;

-- Posts one batch of charges, ends of holds and holds. The rows of its result say what is not as asked:
--   1 (books): the account, and its available, revenue_text, operation_count, latest_operation_id and latest_charge_id
--     before the batch, of each account with new charges;
--   2 (charge): its position, and 0 with its shortfall; or 1, not charged now, with the account, cost and shortfall of
--     the first charge of its id, null if there is none;
--   3 (hold): its position, and 0 refused with the free, media and text amounts, 1 another hold has its id, 2 expired,
--     3 the account is closed, 4 there is no account, 5 limited with the free amount, 6 it was placed before;
--   4 (limits): the account, the time, and as `state` the limits of a scope before the holds of the batch, if the
--     account does not have room for all of its holds;
--   5 (project): a key of an account whose projects have limits, and its project;
--   6 (alerts): 0; there are new rows in `untold_alerts`;
--   7 (rates): the account, the row id of a scope, its requests a minute with the parts in their bucket before the
--     holds of the batch, the same for tokens, and as `state` the kind and the model, if the account has room for all
--     of its holds;
--   8 (time): 0, and the time of the rates.
-- `p_first_key` and `p_last_key` are the smallest and the largest `id_key` of the charges: only their partitions are
-- read.
-- Without `enable_seqscan = off`, a session that began with small tables would go on to read them from end to end.
-- Without generic plans, the planner would take a third of the time of a small batch, and more with limits.
CREATE FUNCTION post_v2(
  p_place lane_place_v1,
  p_accounts bigint[],
  p_charges text_charge_v1[],
  p_first_key bigint,
  p_last_key bigint,
  p_ends text_hold_v1[],
  p_holds text_hold_v1[],
  p_now_ms bigint
) RETURNS TABLE (part integer, subject bigint, v0 bigint, v1 bigint, v2 bigint, v3 bigint, v4 bigint, state text)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now_ms bigint := now_ms(p_now_ms);
  v_books balances[];
  -- The accounts with limits, and the kinds of scopes that have limits in any of them.
  v_limited bigint[];
  v_kinds bigint;
  v_has_alert boolean;
  v_at periods_v1;
  -- What the charges, ends and holds of accounts with limits change in the usage of their scopes.
  v_uses usage_change_v1[];
  v_together scopes_taken_v2;
  -- For one request.
  v_use usage_change_v1;
  v_scopes scope_change_v1[];
  -- The accounts that do not have room for all of their holds, which are decided one by one.
  v_apart bigint[] := '{}';
  v_untold bigint := 0;
  v_ended ended_hold_v1[];
  -- The charges that are made now, and how many of them were added to sums of days that there were.
  v_charges text_charge_v1[] := p_charges;
  v_taken bigint;
  v_added bigint;
  -- The holds that do not repeat an earlier one, and how many of them were placed together.
  v_holds text_hold_v1[] := p_holds;
  v_repeated bigint;
  v_placed bigint;
  v_hold record;
  v_account record;
  v_code bigint;
  v_ignored text;
BEGIN
  -- The caller waits for the disk in a transaction of its own, after the locks of this one are released. A lock that
  -- another transaction does not release must not make the node believe that the database is lost.
  -- An assignment costs less than PERFORM, which runs a query.
  v_ignored := set_config('synchronous_commit', 'off', true);
  v_ignored := set_config('lock_timeout', '2s', true);
  v_ignored := enter_lane_v1(p_place, v_now_ms);
  SELECT array_agg(locked.book), array_agg(account_id) FILTER (WHERE limit_kinds <> 0), bit_or(limit_kinds),
      bool_or(has_alert <> 0)
    INTO v_books, v_limited, v_kinds, v_has_alert
    FROM (
      SELECT balances AS book, account_id, limit_kinds, has_alert FROM balances WHERE account_id = ANY (p_accounts)
        ORDER BY account_id FOR NO KEY UPDATE
    ) AS locked;
  IF cardinality(p_charges) + cardinality(p_ends) > 0 THEN
    WITH ended AS (
      DELETE FROM text_holds h USING (
          SELECT id, id_key, id_tail, account_id FROM unnest(p_charges)
          UNION ALL SELECT NULL, id_key, id_tail, account_id FROM unnest(p_ends)
        ) AS g
        WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail AND h.account_id = g.account_id
        RETURNING ROW(
          g.id,
          -- One look at the index for each charge. A join could read all charges of the time of the batch.
          (SELECT c.id FROM charges c
            WHERE c.id_key = g.id_key AND c.id_tail = g.id_tail AND c.id_key BETWEEN p_first_key AND p_last_key),
          CASE WHEN h.expired_at_ms IS NULL THEN h.amount ELSE 0 END,
          h
        )::ended_hold_v1 AS hold
    )
    SELECT array_agg(hold), count(*) FILTER (WHERE (hold).charge_id IS NOT NULL AND (hold).first_charge_id IS NULL)
      INTO v_ended, v_taken FROM ended;
    IF v_taken < cardinality(p_charges) THEN
      RETURN QUERY SELECT 2, g.id - p_place.sealed_id - 1, 1::bigint, f.account_id, f.cost, f.shortfall, NULL::bigint,
          NULL::text
        FROM unnest(p_charges) AS g LEFT JOIN LATERAL (
          SELECT c.account_id, c.cost, c.shortfall FROM charges c
            WHERE c.id_key = g.id_key AND c.id_tail = g.id_tail AND c.id_key BETWEEN p_first_key AND p_last_key
            LIMIT 1
        ) AS f ON true
        WHERE NOT EXISTS (SELECT FROM unnest(v_ended) AS e WHERE e.charge_id = g.id AND e.first_charge_id IS NULL);
      v_charges := ARRAY(
        SELECT g FROM unnest(p_charges) AS g
          WHERE EXISTS (SELECT FROM unnest(v_ended) AS e WHERE e.charge_id = g.id AND e.first_charge_id IS NULL)
      );
    END IF;

    -- Without the columns that only the row of a charge has: each step of a query copies its rows.
    RETURN QUERY WITH taken AS MATERIALIZED (
      -- The books are those before each charge. An operation has the row id of its charge.
      SELECT g.id, g.id_key, g.id_tail, g.account_id, g.cost, g.at_ms, greatest(g.cost - e.freed, 0) AS shortfall,
          max(g.id) OVER before IS NULL AS is_first,
          coalesce(max(g.id) OVER before, b.latest_charge_id) AS previous_charge,
          coalesce(max(g.id) FILTER (WHERE g.cost > 0) OVER before, b.latest_operation_id) AS previous_operation,
          b.operation_count + count(*) FILTER (WHERE g.cost > 0) OVER before AS operations,
          b.available - coalesce(sum_v1(g.cost) OVER before, 0) AS available,
          b.revenue_text + coalesce(sum_v1(g.cost) OVER before, 0) AS revenue_text
        FROM unnest(p_charges) AS g JOIN unnest(v_ended) AS e ON e.charge_id = g.id
          JOIN unnest(v_books) AS b ON b.account_id = g.account_id
        WHERE e.first_charge_id IS NULL
        WINDOW before AS (PARTITION BY g.account_id ORDER BY g.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ), insert_charges AS (
      INSERT INTO charges (id, id_key, id_tail, account_id, previous_id, operation_id, api_key_id, route, model,
          provider, input, cached_input, cache_write, audio_input, output, reasoning, audio_output, provenance,
          is_clamped, tariff_id, cost, shortfall, at_ms, cache_write_1h, server_tool_uses, provider_cost, search_calls,
          file_searches, service_tier, assumed_cached, tags, user_id, commit_id)
        SELECT g.id, g.id_key, g.id_tail, g.account_id, t.previous_charge, CASE WHEN g.cost > 0 THEN g.id END,
            g.api_key_id, g.route, g.model, g.provider, g.input, g.cached_input, g.cache_write, g.audio_input, g.output,
            g.reasoning, g.audio_output, g.provenance, g.is_clamped, g.tariff_id, g.cost, t.shortfall, g.at_ms,
            g.cache_write_1h, g.server_tool_uses, g.provider_cost, g.search_calls, g.file_searches, g.service_tier,
            g.assumed_cached, g.tags, g.user_id, p_place.sealed_id + 1
          FROM unnest(p_charges) AS g JOIN taken t ON t.id = g.id
    ), insert_operations AS (
      INSERT INTO operations (id, account_id, number, previous_id, kind, subject_key, subject_tail, amount, at_ms,
          book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2, commit_id)
        SELECT id, account_id, operations + 1, previous_operation, 'charge', id_key, id_tail, -cost, at_ms, 'available',
            -cost, available - cost, 'revenue.text', cost, revenue_text + cost, p_place.sealed_id + 1
          FROM taken WHERE cost > 0
    ), write_books AS (
      UPDATE balances b SET
          available = b.available - s.spent,
          revenue_text = b.revenue_text + s.spent,
          operation_count = b.operation_count + s.operations,
          latest_operation_id = coalesce(s.latest_operation, b.latest_operation_id),
          latest_charge_id = coalesce(s.latest_charge, b.latest_charge_id),
          reserved = b.reserved - s.freed
        FROM (
          -- Also the hold of an id that was charged before.
          SELECT (e.hold).account_id, sum_v1(e.freed) AS freed, coalesce(sum_v1(t.cost), 0) AS spent,
              max(t.id) AS latest_charge, count(*) FILTER (WHERE t.cost > 0) AS operations,
              max(t.id) FILTER (WHERE t.cost > 0) AS latest_operation
            FROM unnest(v_ended) AS e LEFT JOIN taken t ON t.id = e.charge_id GROUP BY 1
        ) AS s
        WHERE b.account_id = s.account_id
    )
    SELECT 1, account_id, available, revenue_text, operations, previous_operation, previous_charge, NULL::text
      FROM taken WHERE is_first
    UNION ALL
    SELECT 2, id - p_place.sealed_id - 1, 0, NULL, cost, shortfall, NULL, NULL FROM taken WHERE shortfall > 0;

    -- Nobody else writes rows of these accounts now. An insert with a conflict would lock each row before its change.
    IF v_taken > 0 THEN
      WITH added AS (
        UPDATE usage_days d SET
            first_charge_id = least(d.first_charge_id, a.first_charge_id),
            latest_charge_id = greatest(d.latest_charge_id, a.latest_charge_id),
            charges = d.charges + a.charges,
            input_tokens = d.input_tokens + a.input_tokens,
            output_tokens = d.output_tokens + a.output_tokens,
            cost = d.cost + a.cost,
            provider_cost = d.provider_cost + a.provider_cost,
            charges_without_cost = d.charges_without_cost + a.charges_without_cost
          FROM usage_of_v1(v_charges) AS a
          WHERE d.day = a.day AND d.account_id = a.account_id AND d.api_key_id = a.api_key_id AND d.model = a.model
            AND d.provider = a.provider
          RETURNING a.charges
      )
      SELECT coalesce(sum_v1(charges), 0) INTO v_added FROM added;
      IF v_added < v_taken THEN
        INSERT INTO usage_days (day, account_id, api_key_id, model, provider, first_charge_id, latest_charge_id,
            charges, input_tokens, output_tokens, images, duration_ms, cost, compensated, provider_cost,
            charges_without_cost)
          SELECT a.day, a.account_id, a.api_key_id, a.model, a.provider, a.first_charge_id, a.latest_charge_id,
              a.charges, a.input_tokens, a.output_tokens, 0, 0, a.cost, 0, a.provider_cost, a.charges_without_cost
            FROM usage_of_v1(v_charges) AS a
          ON CONFLICT DO NOTHING;
      END IF;
    END IF;

    IF v_has_alert THEN
      v_untold := v_untold + tell_low_balances_v1(ARRAY(SELECT account_id FROM unnest(p_charges)), v_now_ms);
    END IF;
  END IF;

  IF cardinality(p_holds) > 0 THEN
    -- Those that repeat an earlier one.
    RETURN QUERY SELECT 3, g.ordinality,
        CASE WHEN h.account_id <> g.account_id OR h.amount <> g.amount THEN 1 WHEN h.expired_at_ms IS NULL THEN 6 ELSE 2
          END::bigint,
        NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text
      FROM unnest(p_holds) WITH ORDINALITY AS g JOIN text_holds h ON h.id_key = g.id_key AND h.id_tail = g.id_tail;
    GET DIAGNOSTICS v_repeated = ROW_COUNT;
    IF v_repeated > 0 THEN
      v_holds := ARRAY(
        SELECT g FROM unnest(p_holds) AS g
          WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
      );
    END IF;

    -- The others of an account are placed together if its money has room for all of them. Its limits are asked below.
    WITH fitting AS (
      UPDATE balances b SET reserved = b.reserved + a.amount
        FROM (SELECT account_id, sum_v1(amount) AS amount FROM unnest(v_holds) GROUP BY account_id) AS a
        WHERE b.account_id = a.account_id AND (a.amount = 0 OR a.amount <= b.available - b.reserved)
          AND (SELECT closed_at_ms IS NULL FROM accounts WHERE id = a.account_id)
        RETURNING b.account_id
    )
    INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch, api_key_id, model, tokens, worst_case)
      SELECT g.id_key, g.id_tail, g.account_id, g.amount, p_place.lane, p_place.epoch, g.api_key_id, g.model, g.tokens,
          g.worst_case
        FROM unnest(v_holds) AS g JOIN fitting f ON f.account_id = g.account_id;
    GET DIAGNOSTICS v_placed = ROW_COUNT;
    IF v_placed < cardinality(v_holds) THEN
      v_apart := ARRAY(
        SELECT DISTINCT g.account_id FROM unnest(v_holds) AS g
          WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
      );
    END IF;
  END IF;

  IF v_kinds <> 0 THEN
    v_at := periods_v1(v_now_ms);
    v_uses := ARRAY(
      SELECT change
        FROM unnest(v_ended) AS e JOIN unnest(v_limited) AS b (account_id) ON b.account_id = (e.hold).account_id
          LEFT JOIN unnest(p_charges) AS g ON g.id = e.charge_id
          -- Nearly all charges are of the scopes of their holds.
          CROSS JOIN LATERAL (
            SELECT g.api_key_id = (e.hold).api_key_id AND g.model = (e.hold).model
          ) AS same (is_of_hold)
          CROSS JOIN LATERAL (
            SELECT given_back_v1(
                e.hold,
                coalesce(g.input + g.cached_input + g.cache_write + coalesce(g.cache_write_1h, 0) + g.audio_input
                  + g.output + g.reasoning + g.audio_output, 0),
                CASE WHEN e.first_charge_id IS NULL AND is_of_hold THEN g.cost ELSE 0 END,
                g.at_ms
              ) WHERE (e.hold).api_key_id IS NOT NULL
            UNION ALL
            SELECT ROW(g.account_id, g.api_key_id, g.model, 0, 0, NULL, 0, 0, g.cost, g.at_ms)::usage_change_v1
              WHERE g.cost > 0 AND e.first_charge_id IS NULL AND is_of_hold IS NOT TRUE
          ) AS changes (change)
      UNION ALL
      SELECT ROW(g.account_id, g.api_key_id, g.model, 1, 1, g.tokens, g.worst_case, 0, NULL, NULL)::usage_change_v1
        FROM unnest(v_holds) AS g JOIN unnest(v_limited) AS b (account_id) ON b.account_id = g.account_id
        WHERE g.api_key_id IS NOT NULL
    );
    v_together := take_together_v2(v_uses, v_apart, v_kinds, v_now_ms);
    RETURN QUERY
      SELECT 8, 0::bigint, v_now_ms, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text
      UNION ALL
      SELECT 7, r.account_id, r.scope_id, r.requests_per_minute, r.request_parts, r.tokens_per_minute, r.token_parts,
          r.kind || ' ' || r.model
        FROM unnest(v_together.rates) AS r;
    IF v_kinds & limit_bit_v1('project') <> 0 THEN
      RETURN QUERY SELECT 5, k.id, k.project_id, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text
        FROM unnest(v_uses) AS u JOIN api_keys k ON k.id = u.api_key_id
        WHERE u.cost IS NULL AND k.project_id IS NOT NULL;
    END IF;
    IF cardinality(v_together.near) > 0 THEN
      v_untold := v_untold + tell_budgets_v1(
        ARRAY(
          SELECT c FROM scope_changes_v1(
            ARRAY(SELECT u FROM unnest(v_uses) AS u WHERE u.account_id = ANY (v_together.near)), v_at
          ) AS c
        ),
        v_now_ms
      );
    END IF;
    IF cardinality(v_together.undone) > 0 THEN
      WITH withdrawn AS (
        DELETE FROM text_holds h USING unnest(v_holds) AS g
          WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail AND g.account_id = ANY (v_together.undone)
          RETURNING h.account_id, h.amount
      )
      UPDATE balances b SET reserved = b.reserved - w.amount
        FROM (SELECT account_id, sum_v1(amount) AS amount FROM withdrawn GROUP BY account_id) AS w
        WHERE b.account_id = w.account_id;
      v_apart := v_apart || v_together.undone;
    END IF;
    IF cardinality(v_apart) > 0 THEN
      v_untold := v_untold + change_usage_v1(
        ARRAY(SELECT u FROM unnest(v_uses) AS u WHERE u.account_id = ANY (v_apart) AND u.cost IS NOT NULL), v_at
      );
      RETURN QUERY SELECT 4, l.account_id, v_now_ms, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
          limit_state_v1(l)
        FROM (
          SELECT DISTINCT u.account_id, s.kind, s.scope_id, s.model
            FROM unnest(v_uses) AS u CROSS JOIN scopes_v1(v_kinds, u.account_id, u.api_key_id, u.model) AS s
            WHERE u.cost IS NULL AND u.account_id = ANY (v_apart)
        ) AS s JOIN limits l
          ON l.account_id = s.account_id AND l.kind = s.kind AND l.scope_id = s.scope_id AND l.model = s.model;
    END IF;
  END IF;

  IF cardinality(v_apart) > 0 THEN
    FOR v_hold IN
      SELECT g.* FROM unnest(p_holds) WITH ORDINALITY AS g
        WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
        ORDER BY g.ordinality
    LOOP
      SELECT b.available - b.reserved AS free, b.held_media, b.held_text + b.reserved AS held_text,
          a.closed_at_ms IS NOT NULL AS is_closed, v_hold.api_key_id IS NOT NULL AND b.limit_kinds <> 0 AS is_limited
        INTO v_account FROM balances b JOIN accounts a ON a.id = b.account_id WHERE b.account_id = v_hold.account_id;
      IF v_account.is_limited THEN
        v_use := ROW(v_hold.account_id, v_hold.api_key_id, v_hold.model, 1, 1, v_hold.tokens, v_hold.worst_case, 0,
          NULL, NULL);
        v_scopes := ARRAY(SELECT c FROM scope_changes_v1(ARRAY[v_use], v_at) AS c);
      END IF;
      v_code := CASE
        WHEN v_account.free IS NULL THEN 4
        WHEN v_account.is_closed THEN 3
        -- The limits are asked first, so that a limited request never waits for money.
        WHEN v_account.is_limited AND EXISTS (SELECT FROM unnest(v_scopes) WHERE NOT has_room) THEN 5
        WHEN v_hold.amount > 0 AND v_hold.amount > v_account.free THEN 0
      END;
      IF v_code IS NOT NULL THEN
        IF v_code = 5 THEN
          PERFORM refuse_use_v1(v_use, v_now_ms);
        END IF;
        RETURN QUERY SELECT 3, v_hold.ordinality, v_code, v_account.free, v_account.held_media, v_account.held_text,
          NULL::bigint, NULL::text;
      ELSE
        INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch, api_key_id, model, tokens, worst_case)
          VALUES (v_hold.id_key, v_hold.id_tail, v_hold.account_id, v_hold.amount, p_place.lane, p_place.epoch,
            v_hold.api_key_id, v_hold.model, v_hold.tokens, v_hold.worst_case);
        UPDATE balances b SET reserved = b.reserved + v_hold.amount WHERE b.account_id = v_hold.account_id;
        IF v_account.is_limited THEN
          PERFORM write_scopes_v1(v_scopes, '{}', ARRAY[v_use], v_at);
        END IF;
      END IF;
    END LOOP;
  END IF;

  IF v_untold > 0 THEN
    RETURN QUERY SELECT 6, 0::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text;
  END IF;
END $$;
