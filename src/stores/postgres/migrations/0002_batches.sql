-- What a node writes in one batch, and the rule of it: a text charge moves its cost from `available` to `revenue.text`,
-- whatever was held. Functions and types have a version in their names, so that two versions of the gateway can run.

CREATE TYPE text_charge_v1 AS (
  id bigint,
  operation_id bigint,
  id_key bigint,
  id_tail bigint,
  account_id bigint,
  api_key_id bigint,
  route text,
  model text,
  provider text,
  input bigint,
  cached_input bigint,
  cache_write bigint,
  audio_input bigint,
  output bigint,
  reasoning bigint,
  audio_output bigint,
  provenance text,
  is_clamped bigint,
  tariff_id bigint,
  cost bigint,
  at_ms bigint,
  cache_write_1h bigint,
  server_tool_uses bigint,
  provider_cost bigint,
  search_calls bigint,
  file_searches bigint,
  service_tier text,
  assumed_cached bigint,
  tags text,
  user_id text
);
-- A hold, and what its request takes of the limits of its scopes: nothing if `api_key_id` is null.
CREATE TYPE text_hold_v1 AS (
  id_key bigint,
  id_tail bigint,
  account_id bigint,
  amount bigint,
  api_key_id bigint,
  model text,
  tokens bigint,
  worst_case bigint
);

-- What a request changes in the usage of its scopes when it begins or ends. `tokens` is null if it leaves their buckets
-- as they are, and `cost` and `at_ms` are those of its charge.
CREATE TYPE usage_change_v1 AS (
  account_id bigint,
  api_key_id bigint,
  model text,
  requests bigint,
  running bigint,
  tokens bigint,
  reserved_text bigint,
  reserved_media bigint,
  cost bigint,
  at_ms bigint
);

-- A time, and the periods of budgets that it is in.
CREATE TYPE periods_v1 AS (
  now_ms bigint,
  day_start_ms bigint,
  day_end_ms bigint,
  week_start_ms bigint,
  week_end_ms bigint,
  month_start_ms bigint,
  month_end_ms bigint
);

-- The limits of a scope as a text that the node reads, and whether it has room for the requests that ask.
CREATE TYPE asked_limit_v1 AS (account_id bigint, has_room boolean, state text);

-- The place of a batch in its lane: the batch that it follows, the last row id that it may use, the last row id before
-- it, which its commit seals, and the commit of the batch before, if that wrote rows that a commit covers. Numbers of
-- batches grow with each attempt to write one.
CREATE TYPE lane_place_v1 AS (
  lane bigint,
  epoch bigint,
  batch bigint,
  previous_batch bigint,
  last_id bigint,
  sealed_id bigint,
  commit_id bigint,
  commit_number bigint,
  checksums bytea,
  hash bytea
);

-- Begins a batch. Fails with TG001 if another process took the lane, or if the batch does not follow the last one that
-- was committed: it was committed already, or would use row ids again.
CREATE FUNCTION enter_lane_v1(p_place lane_place_v1, p_now_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_node bigint;
BEGIN
  UPDATE lanes SET
      batch = p_place.batch,
      last_id = p_place.last_id,
      sealed_id = p_place.sealed_id,
      commit_number = coalesce(p_place.commit_number, commit_number),
      commit_hash = coalesce(p_place.hash, commit_hash),
      seen_at_ms = p_now_ms
    WHERE number = p_place.lane AND epoch = p_place.epoch AND batch = p_place.previous_batch
      AND last_id = p_place.sealed_id
    RETURNING node_id INTO v_node;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'Lane % has another epoch, batch or last row id.', p_place.lane USING ERRCODE = 'TG001';
  END IF;
  IF p_place.hash IS NOT NULL THEN
    INSERT INTO commits (id, node_id, number, checksums, hash)
      VALUES (p_place.commit_id, v_node, p_place.commit_number, p_place.checksums, p_place.hash);
  END IF;
END $$;

-- The clock of the database. Tests pass their own time.
CREATE FUNCTION now_ms(p_now_ms bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT coalesce(p_now_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) $$;

-- Takes the lowest lane that is sealed and not seen, or a new one. `p_ttl_ms` is how long a lane may be silent.
CREATE FUNCTION claim_lane_v1(p_label text, p_version text, p_migration bigint, p_ttl_ms bigint, p_now_ms bigint)
RETURNS lanes LANGUAGE plpgsql AS $$
DECLARE
  v_lane lanes;
  v_number bigint;
  v_node bigint;
BEGIN
  SELECT number INTO v_number FROM lanes
    WHERE sealed_id = last_id AND seen_at_ms <= now_ms(p_now_ms) - p_ttl_ms
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE lanes SET label = p_label, version = p_version, migration = p_migration, epoch = epoch + 1, batch = 0,
        seen_at_ms = now_ms(p_now_ms), clock_offset_ms = NULL
      WHERE number = v_number RETURNING * INTO v_lane;
    RETURN v_lane;
  END IF;
  -- Two starts at once take different numbers.
  LOCK TABLE lanes IN SHARE UPDATE EXCLUSIVE MODE;
  SELECT coalesce(max(number), 0) + 1 INTO v_number FROM lanes;
  SELECT coalesce(max(id), 0) + 1 INTO v_node FROM nodes;
  INSERT INTO nodes (id, name) VALUES (v_node, 'lane-' || v_number);
  INSERT INTO lanes (number, node_id, label, version, migration, epoch, batch, last_id, sealed_id, commit_number,
      commit_hash, seen_at_ms)
    VALUES (v_number, v_node, p_label, p_version, p_migration, 1, 0, v_number << 43, v_number << 43, 0,
      decode(repeat('00', 32), 'hex'), now_ms(p_now_ms))
    RETURNING * INTO v_lane;
  RETURN v_lane;
END $$;

-- Posts one batch of charges, ends of holds and holds. The rows of its result say what is not as asked:
--   1 (books): the account, and its available, revenue_text, operation_count, latest_operation_id and latest_charge_id
--     before the batch, of each account with charges;
--   2 (charge): its position, and 0 with its shortfall; or 1, not charged now, with the account, cost and shortfall of the
--     first charge of its id, null if there is none;
--   3 (hold): its position, and 0 refused with the free, media and text amounts, 1 another hold has its id, 2 expired,
--     3 the account is closed, 4 there is no account, 5 limited with the free amount, 6 it was placed before;
--   4 (limits): the account, the time, and as `state` the limits of a scope before the holds of the batch;
--   5 (project): a key of an account whose projects have limits, and its project;
--   6 (alerts): 0; there are new rows in `untold_alerts`.
-- Without `enable_seqscan = off`, a session that began with small tables would go on to read them from end to end.
CREATE FUNCTION post_v1(
  p_place lane_place_v1,
  p_accounts bigint[],
  p_charges text_charge_v1[],
  p_ends text_hold_v1[],
  p_holds text_hold_v1[],
  p_now_ms bigint
) RETURNS TABLE (part integer, subject bigint, v0 bigint, v1 bigint, v2 bigint, v3 bigint, v4 bigint, state text)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_now_ms bigint := now_ms(p_now_ms);
  v_books balances[];
  v_is_limited boolean;
  v_at periods_v1;
  -- What the holds of the accounts with limits ask of their scopes.
  v_uses usage_change_v1[];
  v_use usage_change_v1;
  v_limits asked_limit_v1[];
  -- The accounts whose holds are decided one after the other.
  v_apart bigint[] := '{}';
  v_untold bigint := 0;
  v_first bigint;
  v_last bigint;
  v_hold record;
  v_account record;
  v_code bigint;
BEGIN
  -- The caller waits for the disk in a transaction of its own, after the locks of this one are released. A lock that
  -- another transaction does not release must not make the node believe that the database is lost.
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  PERFORM enter_lane_v1(p_place, v_now_ms);
  SELECT array_agg(locked.book) INTO v_books FROM (
    SELECT balances AS book FROM balances WHERE account_id = ANY (p_accounts)
      ORDER BY account_id FOR NO KEY UPDATE
  ) AS locked;
  v_is_limited := EXISTS (SELECT FROM unnest(v_books) WHERE limit_kinds <> 0);
  IF v_is_limited THEN
    v_at := periods_v1(v_now_ms);
  END IF;
  -- Only the partitions between these are opened.
  SELECT min(id_key), max(id_key) INTO v_first, v_last FROM unnest(p_charges);

  IF v_is_limited AND cardinality(p_charges) + cardinality(p_ends) > 0 THEN
    -- Of `balances`, because a join with `v_books` would compare each part with each account.
    v_untold := change_usage_v1(ARRAY(
      SELECT given_back_v1(h, e.tokens)
        FROM (
          SELECT id_key, id_tail, account_id, input + cached_input + cache_write + coalesce(cache_write_1h, 0)
              + audio_input + output + reasoning + audio_output AS tokens
            FROM unnest(p_charges)
          UNION ALL SELECT id_key, id_tail, account_id, 0 FROM unnest(p_ends)
        ) AS e
          JOIN balances b ON b.account_id = e.account_id AND b.limit_kinds <> 0
          JOIN text_holds h ON h.id_key = e.id_key AND h.id_tail = e.id_tail AND h.account_id = e.account_id
        WHERE h.api_key_id IS NOT NULL
      UNION ALL
      SELECT ROW(g.account_id, g.api_key_id, g.model, 0, 0, NULL, 0, 0, g.cost, g.at_ms)::usage_change_v1
        FROM unnest(p_charges) AS g
          JOIN balances b ON b.account_id = g.account_id AND b.limit_kinds <> 0
          JOIN text_holds h ON h.id_key = g.id_key AND h.id_tail = g.id_tail AND h.account_id = g.account_id
        WHERE g.cost > 0 AND NOT EXISTS (
          SELECT FROM charges c WHERE c.id_key = g.id_key AND c.id_tail = g.id_tail
            AND c.id_key BETWEEN v_first AND v_last
        )
    ), v_at);
  END IF;

  IF cardinality(p_charges) > 0 THEN
    RETURN QUERY SELECT 1, b.account_id, b.available, b.revenue_text, b.operation_count, b.latest_operation_id,
        b.latest_charge_id, NULL::text
      FROM unnest(v_books) AS b WHERE b.account_id IN (SELECT account_id FROM unnest(p_charges));

    RETURN QUERY WITH given AS MATERIALIZED (
      SELECT * FROM unnest(p_charges) WITH ORDINALITY
    ), earlier AS MATERIALIZED (
      SELECT g.ordinality, c.account_id, c.cost, c.shortfall
        FROM given g JOIN charges c ON c.id_key = g.id_key AND c.id_tail = g.id_tail
        WHERE c.id_key BETWEEN v_first AND v_last
    ), ended AS (
      DELETE FROM text_holds h USING given g
        WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail AND h.account_id = g.account_id
        RETURNING g.ordinality, h.account_id, CASE WHEN h.expired_at_ms IS NULL THEN h.amount ELSE 0 END AS freed
    ), taken AS MATERIALIZED (
      SELECT g.*, greatest(g.cost - e.freed, 0) AS shortfall,
          lag(g.id) OVER account AS previous_charge,
          -- Operation ids grow in the order of the batch.
          max(g.operation_id) FILTER (WHERE g.cost > 0) OVER (account ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS previous_operation,
          count(*) FILTER (WHERE g.cost > 0) OVER account AS operations,
          sum(g.cost) OVER account AS spent
        FROM given g JOIN ended e ON e.ordinality = g.ordinality
        WHERE g.ordinality NOT IN (SELECT ordinality FROM earlier)
        WINDOW account AS (PARTITION BY g.account_id ORDER BY g.ordinality)
    ), insert_charges AS (
      INSERT INTO charges (id, id_key, id_tail, account_id, previous_id, operation_id, api_key_id, route, model,
          provider, input, cached_input, cache_write, audio_input, output, reasoning, audio_output, provenance,
          is_clamped, tariff_id, cost, shortfall, at_ms, cache_write_1h, server_tool_uses, provider_cost, search_calls,
          file_searches, service_tier, assumed_cached, tags, user_id, commit_id)
        SELECT t.id, t.id_key, t.id_tail, t.account_id, coalesce(t.previous_charge, b.latest_charge_id),
            CASE WHEN t.cost > 0 THEN t.operation_id END, t.api_key_id, t.route, t.model, t.provider, t.input,
            t.cached_input, t.cache_write, t.audio_input, t.output, t.reasoning, t.audio_output, t.provenance,
            t.is_clamped, t.tariff_id, t.cost, t.shortfall, t.at_ms, t.cache_write_1h, t.server_tool_uses,
            t.provider_cost, t.search_calls, t.file_searches, t.service_tier, t.assumed_cached, t.tags, t.user_id,
            p_place.sealed_id + 1
          FROM taken t JOIN unnest(v_books) AS b ON b.account_id = t.account_id
    ), insert_operations AS (
      INSERT INTO operations (id, account_id, number, previous_id, kind, subject_key, subject_tail, amount, at_ms,
          book_1, amount_1, balance_after_1, book_2, amount_2, balance_after_2, commit_id)
        SELECT t.operation_id, t.account_id, b.operation_count + t.operations,
            coalesce(t.previous_operation, b.latest_operation_id), 'charge', t.id_key, t.id_tail, -t.cost, t.at_ms,
            'available', -t.cost, b.available - t.spent, 'revenue.text', t.cost, b.revenue_text + t.spent,
            p_place.sealed_id + 1
          FROM taken t JOIN unnest(v_books) AS b ON b.account_id = t.account_id WHERE t.cost > 0
    ), add_to_days AS (
      INSERT INTO usage_days AS d (day, account_id, api_key_id, model, provider, first_charge_id, latest_charge_id,
          charges, input_tokens, output_tokens, images, duration_ms, cost, compensated, provider_cost,
          charges_without_cost)
        SELECT floor(t.at_ms / 86400000.0)::bigint, t.account_id, t.api_key_id, t.model, t.provider, min(t.id),
            max(t.id), count(*),
            sum(t.input + t.cached_input + t.cache_write + coalesce(t.cache_write_1h, 0) + t.audio_input),
            sum(t.output + t.reasoning + t.audio_output), 0, 0, sum(t.cost), 0,
            coalesce(sum(t.provider_cost), 0), count(*) FILTER (WHERE t.provider_cost IS NULL)
          FROM taken t GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (day, account_id, api_key_id, model, provider) DO UPDATE SET
          first_charge_id = least(d.first_charge_id, excluded.first_charge_id),
          latest_charge_id = greatest(d.latest_charge_id, excluded.latest_charge_id),
          charges = d.charges + excluded.charges,
          input_tokens = d.input_tokens + excluded.input_tokens,
          output_tokens = d.output_tokens + excluded.output_tokens,
          cost = d.cost + excluded.cost,
          provider_cost = d.provider_cost + excluded.provider_cost,
          charges_without_cost = d.charges_without_cost + excluded.charges_without_cost
    ), write_books AS (
      UPDATE balances b SET
          available = b.available - s.spent,
          revenue_text = b.revenue_text + s.spent,
          operation_count = b.operation_count + s.operations,
          latest_operation_id = coalesce(s.latest_operation, b.latest_operation_id),
          latest_charge_id = coalesce(s.latest_charge, b.latest_charge_id),
          reserved = b.reserved - s.freed
        FROM (
          SELECT account_id, sum(spent) AS spent, sum(freed) AS freed, max(id) AS latest_charge,
              count(operation_id) AS operations, max(operation_id) AS latest_operation
            FROM (
              SELECT account_id, cost AS spent, 0 AS freed, id, CASE WHEN cost > 0 THEN operation_id END AS operation_id
                FROM taken
              -- Also the hold of an id that was charged before.
              UNION ALL SELECT account_id, 0, freed, NULL, NULL FROM ended
            ) AS changes GROUP BY account_id
        ) AS s
        WHERE b.account_id = s.account_id
    )
    SELECT 2, g.ordinality, CASE WHEN t.id IS NULL THEN 1 ELSE 0 END::bigint, f.account_id, f.cost,
        coalesce(t.shortfall, f.shortfall), NULL::bigint, NULL::text
      FROM given g LEFT JOIN taken t ON t.ordinality = g.ordinality LEFT JOIN earlier f ON f.ordinality = g.ordinality
      WHERE t.id IS NULL OR t.shortfall > 0;

    IF EXISTS (SELECT FROM unnest(v_books) WHERE has_alert <> 0) THEN
      v_untold := v_untold + tell_low_balances_v1(ARRAY(SELECT account_id FROM unnest(p_charges)), v_now_ms);
    END IF;
  END IF;

  IF cardinality(p_ends) > 0 THEN
    WITH ended AS (
      DELETE FROM text_holds h USING unnest(p_ends) AS g
        WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail AND h.account_id = g.account_id
        RETURNING h.account_id, h.amount, h.expired_at_ms
    )
    UPDATE balances b SET reserved = b.reserved - s.freed
      FROM (SELECT account_id, sum(amount) AS freed FROM ended WHERE expired_at_ms IS NULL GROUP BY account_id) AS s
      WHERE b.account_id = s.account_id;
  END IF;

  IF v_is_limited AND cardinality(p_holds) > 0 THEN
    v_uses := ARRAY(
      SELECT ROW(g.account_id, g.api_key_id, g.model, count(*), count(*), sum(g.tokens)::bigint,
          sum(g.worst_case)::bigint, 0, 0, NULL)::usage_change_v1
        FROM unnest(p_holds) AS g JOIN balances b ON b.account_id = g.account_id
        WHERE b.limit_kinds <> 0 AND g.api_key_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
        GROUP BY g.account_id, g.api_key_id, g.model
    );
    v_limits := ARRAY(SELECT asked FROM asked_limits_v1(v_uses, v_at) AS asked);
    v_apart := ARRAY(SELECT DISTINCT account_id FROM unnest(v_limits) WHERE NOT has_room);
    RETURN QUERY SELECT 4, l.account_id, v_now_ms, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, l.state
      FROM unnest(v_limits) AS l;
    RETURN QUERY SELECT 5, k.id, k.project_id, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text
      FROM unnest(v_books) AS b JOIN unnest(v_uses) AS u ON u.account_id = b.account_id
        JOIN api_keys k ON k.id = u.api_key_id
      WHERE b.limit_kinds & limit_bit_v1('project') <> 0 AND k.project_id IS NOT NULL;
  END IF;

  IF cardinality(p_holds) > 0 THEN
    -- Those that repeat an earlier one. The others of an account are placed together if its money and its limits have
    -- room for all of them.
    RETURN QUERY WITH given AS MATERIALIZED (
      SELECT * FROM unnest(p_holds) WITH ORDINALITY
    ), earlier AS MATERIALIZED (
      SELECT g.ordinality, g.account_id = h.account_id AND g.amount = h.amount AS is_same, h.expired_at_ms
        FROM given g JOIN text_holds h ON h.id_key = g.id_key AND h.id_tail = g.id_tail
    ), asked AS (
      SELECT g.account_id, sum(g.amount) AS amount FROM given g
        WHERE NOT EXISTS (SELECT FROM earlier f WHERE f.ordinality = g.ordinality) GROUP BY g.account_id
    ), fitting AS MATERIALIZED (
      SELECT a.account_id, a.amount FROM asked a JOIN balances b ON b.account_id = a.account_id
        WHERE (a.amount = 0 OR a.amount <= b.available - b.reserved)
          AND EXISTS (SELECT FROM accounts WHERE id = a.account_id AND closed_at_ms IS NULL)
          AND a.account_id <> ALL (v_apart)
    ), insert_holds AS (
      INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch, api_key_id, model, tokens, worst_case)
        SELECT g.id_key, g.id_tail, g.account_id, g.amount, p_place.lane, p_place.epoch, g.api_key_id,
            g.model, g.tokens, g.worst_case
          FROM given g JOIN fitting f ON f.account_id = g.account_id
          WHERE NOT EXISTS (SELECT FROM earlier e WHERE e.ordinality = g.ordinality)
    ), write_books AS (
      UPDATE balances b SET reserved = b.reserved + f.amount FROM fitting f
        WHERE b.account_id = f.account_id AND f.amount > 0
    )
    SELECT 3, f.ordinality, CASE WHEN NOT f.is_same THEN 1 WHEN f.expired_at_ms IS NULL THEN 6 ELSE 2 END::bigint,
        NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text
      FROM earlier f;

    IF v_is_limited THEN
      v_apart := ARRAY(
        SELECT DISTINCT g.account_id FROM unnest(p_holds) AS g
          WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
      );
      PERFORM change_usage_v1(ARRAY(SELECT u FROM unnest(v_uses) AS u WHERE u.account_id <> ALL (v_apart)), v_at);
    END IF;

    FOR v_hold IN
      SELECT g.* FROM unnest(p_holds) WITH ORDINALITY AS g
        WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
        ORDER BY g.ordinality
    LOOP
      SELECT b.available - b.reserved AS free, b.held_media, b.held_text + b.reserved AS held_text,
          a.closed_at_ms IS NOT NULL AS is_closed, v_hold.api_key_id IS NOT NULL AND b.limit_kinds <> 0 AS is_limited
        INTO v_account FROM balances b JOIN accounts a ON a.id = b.account_id WHERE b.account_id = v_hold.account_id;
      v_use := ROW(v_hold.account_id, v_hold.api_key_id, v_hold.model, 1, 1, v_hold.tokens, v_hold.worst_case,
        0, 0, NULL)::usage_change_v1;
      v_code := CASE
        WHEN v_account.free IS NULL THEN 4
        WHEN v_account.is_closed THEN 3
        -- The limits are asked first, so that a limited request never waits for money.
        WHEN v_account.is_limited
          AND EXISTS (SELECT FROM asked_limits_v1(ARRAY[v_use], v_at) WHERE NOT has_room) THEN 5
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
          PERFORM change_usage_v1(ARRAY[v_use], v_at);
        END IF;
      END IF;
    END LOOP;
  END IF;

  IF v_untold > 0 THEN
    RETURN QUERY SELECT 6, 0::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text;
  END IF;
END $$;
