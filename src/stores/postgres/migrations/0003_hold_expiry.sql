-- How text holds end without their requests. Like a batch, each function locks the books of accounts in their order
-- before it reads holds.

-- Expires an open hold whose lane another process took, or that was not seen for `p_ttl_ms`. False if it is not open or
-- its lane was seen.
CREATE FUNCTION expire_hold_v1(
  p_hold text_hold_v1,
  p_ttl_ms bigint,
  p_at_ms bigint,
  p_now_ms bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now_ms bigint := now_ms(p_now_ms);
  v_hold text_holds;
BEGIN
  PERFORM FROM balances WHERE account_id = p_hold.account_id FOR NO KEY UPDATE;
  UPDATE text_holds h SET expired_at_ms = p_at_ms FROM lanes l
    WHERE h.id_key = p_hold.id_key AND h.id_tail = p_hold.id_tail AND h.account_id = p_hold.account_id
      AND h.expired_at_ms IS NULL AND l.number = h.lane
      AND (l.epoch <> h.epoch OR l.seen_at_ms <= v_now_ms - p_ttl_ms)
    RETURNING h.* INTO v_hold;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE balances SET reserved = reserved - v_hold.amount WHERE account_id = p_hold.account_id;
  IF v_hold.api_key_id IS NOT NULL THEN
    -- It is ended for its limits, which do not know that it expired.
    v_hold.expired_at_ms := NULL;
    PERFORM change_usage_v1(ARRAY[given_back_v1(v_hold, 0, 0, NULL)], periods_v1(v_now_ms));
  END IF;
  RETURN true;
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
