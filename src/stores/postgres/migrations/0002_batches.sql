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
CREATE TYPE text_hold_v1 AS (id_key bigint, id_tail bigint, account_id bigint, amount bigint);

-- The place of a batch in its lane: the last row id that it may use, what of the lane is sealed, and the commit of the
-- batch before, if that wrote rows that a commit covers.
CREATE TYPE lane_place_v1 AS (
  lane bigint,
  epoch bigint,
  batch bigint,
  last_id bigint,
  sealed_id bigint,
  commit_id bigint,
  commit_number bigint,
  checksums bytea,
  hash bytea
);

-- Begins a batch. Fails with TG001 if another process took the lane, or if this batch or a later one was committed.
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
    WHERE number = p_place.lane AND epoch = p_place.epoch AND batch = p_place.batch - 1
    RETURNING node_id INTO v_node;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'Lane % has another epoch or batch.', p_place.lane USING ERRCODE = 'TG001';
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
CREATE FUNCTION claim_lane_v1(p_label text, p_ttl_ms bigint, p_now_ms bigint) RETURNS lanes
LANGUAGE plpgsql AS $$
DECLARE
  v_lane lanes;
  v_number bigint;
  v_node bigint;
BEGIN
  SELECT number INTO v_number FROM lanes
    WHERE sealed_id = last_id AND seen_at_ms <= now_ms(p_now_ms) - p_ttl_ms
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE lanes SET label = p_label, epoch = epoch + 1, batch = 0, seen_at_ms = now_ms(p_now_ms)
      WHERE number = v_number RETURNING * INTO v_lane;
    RETURN v_lane;
  END IF;
  -- Two starts at once take different numbers.
  LOCK TABLE lanes IN SHARE UPDATE EXCLUSIVE MODE;
  SELECT coalesce(max(number), 0) + 1 INTO v_number FROM lanes;
  SELECT coalesce(max(id), 0) + 1 INTO v_node FROM nodes;
  INSERT INTO nodes (id, name) VALUES (v_node, 'lane-' || v_number);
  INSERT INTO lanes (number, node_id, label, epoch, batch, last_id, sealed_id, commit_number, commit_hash, seen_at_ms)
    VALUES (v_number, v_node, p_label, 1, 0, v_number << 43, v_number << 43, 0, decode(repeat('00', 32), 'hex'),
      now_ms(p_now_ms))
    RETURNING * INTO v_lane;
  RETURN v_lane;
END $$;

-- Posts one batch of charges, ends of holds and holds. The rows of its result say what is not as asked:
--   1 (books): the account, and its available, revenue_text, operation_count, latest_operation_id and latest_charge_id
--     before the batch, of each account with charges;
--   2 (charge): its position, and 0 with its shortfall; or 1, not charged now, with the account, cost and shortfall of the
--     first charge of its id, null if there is none;
--   3 (hold): its position, and 0 refused with the free, media and text amounts, 1 another hold has its id, 2 expired,
--     3 the account is closed, 4 there is no account.
-- Without `enable_seqscan = off`, a session that began with small tables would go on to read them from end to end.
CREATE FUNCTION post_v1(
  p_place lane_place_v1,
  p_accounts bigint[],
  p_charges text_charge_v1[],
  p_ends text_hold_v1[],
  p_holds text_hold_v1[],
  p_now_ms bigint
) RETURNS TABLE (part integer, subject bigint, v0 bigint, v1 bigint, v2 bigint, v3 bigint, v4 bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_books balances[];
  v_first bigint;
  v_last bigint;
  v_hold record;
  v_account record;
BEGIN
  -- The caller waits for the disk in a transaction of its own, after the locks of this one are released.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM enter_lane_v1(p_place, now_ms(p_now_ms));
  SELECT array_agg(locked.book) INTO v_books FROM (
    SELECT balances AS book FROM balances WHERE account_id = ANY (p_accounts)
      ORDER BY account_id FOR NO KEY UPDATE
  ) AS locked;

  IF cardinality(p_charges) > 0 THEN
    RETURN QUERY SELECT 1, b.account_id, b.available, b.revenue_text, b.operation_count, b.latest_operation_id,
        b.latest_charge_id
      FROM unnest(v_books) AS b WHERE b.account_id IN (SELECT account_id FROM unnest(p_charges));

    -- Only the partitions between these are opened.
    SELECT min(id_key), max(id_key) INTO v_first, v_last FROM unnest(p_charges);
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
        coalesce(t.shortfall, f.shortfall), NULL::bigint
      FROM given g LEFT JOIN taken t ON t.ordinality = g.ordinality LEFT JOIN earlier f ON f.ordinality = g.ordinality
      WHERE t.id IS NULL OR t.shortfall > 0;
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

  IF cardinality(p_holds) > 0 THEN
    -- Those that repeat an earlier one. The others of an account are placed together if all of them fit.
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
    ), insert_holds AS (
      INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch)
        SELECT g.id_key, g.id_tail, g.account_id, g.amount, p_place.lane, p_place.epoch
          FROM given g JOIN fitting f ON f.account_id = g.account_id
          WHERE NOT EXISTS (SELECT FROM earlier e WHERE e.ordinality = g.ordinality)
    ), write_books AS (
      UPDATE balances b SET reserved = b.reserved + f.amount FROM fitting f
        WHERE b.account_id = f.account_id AND f.amount > 0
    )
    SELECT 3, f.ordinality, CASE WHEN f.is_same THEN 2 ELSE 1 END::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
        NULL::bigint
      FROM earlier f WHERE NOT f.is_same OR f.expired_at_ms IS NOT NULL;

    FOR v_hold IN
      SELECT g.* FROM unnest(p_holds) WITH ORDINALITY AS g
        WHERE NOT EXISTS (SELECT FROM text_holds h WHERE h.id_key = g.id_key AND h.id_tail = g.id_tail)
        ORDER BY g.ordinality
    LOOP
      SELECT b.available - b.reserved AS free, b.held_media, b.held_text + b.reserved AS held_text,
          a.closed_at_ms IS NOT NULL AS is_closed
        INTO v_account FROM balances b JOIN accounts a ON a.id = b.account_id WHERE b.account_id = v_hold.account_id;
      IF NOT FOUND THEN
        RETURN QUERY VALUES (3, v_hold.ordinality, 4::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint);
      ELSIF v_account.is_closed THEN
        RETURN QUERY VALUES (3, v_hold.ordinality, 3::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint);
      ELSIF v_hold.amount = 0 OR v_hold.amount <= v_account.free THEN
        INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch)
          VALUES (v_hold.id_key, v_hold.id_tail, v_hold.account_id, v_hold.amount, p_place.lane, p_place.epoch);
        UPDATE balances b SET reserved = b.reserved + v_hold.amount WHERE b.account_id = v_hold.account_id;
      ELSE
        RETURN QUERY VALUES (3, v_hold.ordinality, 0::bigint, v_account.free, v_account.held_media,
          v_account.held_text, NULL::bigint);
      END IF;
    END LOOP;
  END IF;
END $$;
