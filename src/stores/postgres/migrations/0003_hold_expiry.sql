-- How text holds end without their requests. Like a batch, each function locks the books of accounts in their order
-- before it reads holds.

-- Expires those of these holds that are open and whose lane another process took, or was not seen for `p_ttl_ms`. Those
-- of an account whose books another transaction has locked are left for the next pass. Returns a row for each of them. The caller waits for the disk in a transaction of its own, as after a batch.
CREATE FUNCTION expire_holds_v1(
  p_holds text_hold_v1[],
  p_ttl_ms bigint,
  p_at_ms bigint,
  p_now_ms bigint
) RETURNS TABLE (account_id bigint) LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_now_ms bigint := now_ms(p_now_ms);
  v_accounts bigint[];
  v_expired text_holds[];
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  v_accounts := ARRAY(
    SELECT account_id FROM balances WHERE account_id IN (SELECT account_id FROM unnest(p_holds))
      ORDER BY account_id FOR NO KEY UPDATE SKIP LOCKED
  );
  -- As they are now, because their limits do not know that they expired. Holds change under the locks of their accounts.
  v_expired := ARRAY(
    SELECT h FROM text_holds h JOIN lanes l ON l.number = h.lane
      WHERE (h.id_key, h.id_tail, h.account_id) IN (SELECT id_key, id_tail, account_id FROM unnest(p_holds))
        AND h.account_id = ANY (v_accounts)
        AND h.expired_at_ms IS NULL AND (l.epoch <> h.epoch OR l.seen_at_ms <= v_now_ms - p_ttl_ms)
  );
  IF cardinality(v_expired) = 0 THEN
    RETURN;
  END IF;
  UPDATE text_holds h SET expired_at_ms = p_at_ms FROM unnest(v_expired) AS e
    WHERE h.id_key = e.id_key AND h.id_tail = e.id_tail;
  UPDATE balances b SET reserved = b.reserved - s.freed
    FROM (SELECT account_id, sum_v1(amount) AS freed FROM unnest(v_expired) GROUP BY account_id) AS s
    WHERE b.account_id = s.account_id;
  PERFORM change_usage_v1(
    ARRAY(SELECT given_back_v1(e, 0, 0, NULL) FROM unnest(v_expired) AS e WHERE e.api_key_id IS NOT NULL),
    periods_v1(v_now_ms)
  );
  RETURN QUERY SELECT account_id FROM unnest(v_expired);
END $$;

-- Ends all holds of a lane, whose process has ended its requests, and gives the lane back.
CREATE FUNCTION close_lane_v1(p_lane bigint, p_epoch bigint, p_now_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_ended text_holds[];
BEGIN
  PERFORM FROM balances WHERE account_id IN (SELECT account_id FROM text_holds WHERE lane = p_lane AND epoch = p_epoch)
    ORDER BY account_id FOR NO KEY UPDATE;
  v_ended := ARRAY(SELECT h FROM text_holds h WHERE h.lane = p_lane AND h.epoch = p_epoch);
  DELETE FROM text_holds WHERE lane = p_lane AND epoch = p_epoch;
  UPDATE balances b SET reserved = b.reserved - s.freed
    FROM (
      SELECT account_id, sum(amount) AS freed FROM unnest(v_ended) WHERE expired_at_ms IS NULL GROUP BY account_id
    ) AS s
    WHERE b.account_id = s.account_id;
  PERFORM change_usage_v1(
    ARRAY(SELECT given_back_v1(h, 0, 0, NULL) FROM unnest(v_ended) AS h WHERE h.api_key_id IS NOT NULL),
    periods_v1(now_ms(p_now_ms))
  );
  UPDATE lanes SET seen_at_ms = 0 WHERE number = p_lane AND epoch = p_epoch;
END $$;
