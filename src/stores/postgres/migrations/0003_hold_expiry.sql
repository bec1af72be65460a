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
  v_amount bigint;
BEGIN
  PERFORM FROM balances WHERE account_id = p_hold.account_id FOR NO KEY UPDATE;
  UPDATE text_holds h SET expired_at_ms = p_at_ms FROM lanes l
    WHERE h.id_key = p_hold.id_key AND h.id_tail = p_hold.id_tail AND h.account_id = p_hold.account_id
      AND h.expired_at_ms IS NULL AND l.number = h.lane
      AND (l.epoch <> h.epoch OR l.seen_at_ms <= now_ms(p_now_ms) - p_ttl_ms)
    RETURNING h.amount INTO v_amount;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE balances SET reserved = reserved - v_amount WHERE account_id = p_hold.account_id;
  RETURN true;
END $$;

-- Ends all holds of a lane, whose process has ended its requests, and gives the lane back.
CREATE FUNCTION close_lane_v1(p_lane bigint, p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM balances WHERE account_id IN (SELECT account_id FROM text_holds WHERE lane = p_lane AND epoch = p_epoch)
    ORDER BY account_id FOR NO KEY UPDATE;
  WITH ended AS (
    DELETE FROM text_holds WHERE lane = p_lane AND epoch = p_epoch RETURNING account_id, amount, expired_at_ms
  )
  UPDATE balances b SET reserved = b.reserved - s.freed
    FROM (SELECT account_id, sum(amount) AS freed FROM ended WHERE expired_at_ms IS NULL GROUP BY account_id) AS s
    WHERE b.account_id = s.account_id;
  UPDATE lanes SET seen_at_ms = 0 WHERE number = p_lane AND epoch = p_epoch;
END $$;
