-- The records of requests. No money depends on them. They are kept in parts, which are partitions: a new part begins
-- each day, or when the newest one is large, and the oldest parts are dropped. A record goes to the part that is the
-- newest one when it is written, so that there is always a part for it.

CREATE SEQUENCE request_numbers;
-- Now its last value is always that of the last record.
SELECT setval('request_numbers', 1);

CREATE TABLE request_parts (
  -- Without gaps between the oldest and the newest part.
  number bigint PRIMARY KEY,
  began_at_ms bigint NOT NULL,
  -- The number of the last record before it. A few records of the part before may come later.
  last_before bigint NOT NULL
);

CREATE TABLE requests (
  row_number bigint NOT NULL DEFAULT nextval('request_numbers'),
  part bigint NOT NULL,
  id text NOT NULL,
  at_ms bigint NOT NULL,
  account_id text NOT NULL,
  api_key_id text NOT NULL,
  project_id text,
  route text NOT NULL,
  model text,
  status bigint NOT NULL,
  error_code text,
  duration_us bigint NOT NULL,
  first_byte_us bigint,
  held bigint,
  required bigint,
  available bigint,
  refused_scope text,
  refused_limit text,
  -- A JSON array.
  attempts text NOT NULL,
  cost bigint,
  job_id text,
  is_replay bigint NOT NULL,
  replay_of text,
  client_disconnected bigint NOT NULL,
  -- A JSON object.
  tags text,
  user_id text,
  alike_refusals bigint NOT NULL
) PARTITION BY LIST (part);
CREATE INDEX requests_by_id ON requests (id, row_number);
CREATE INDEX requests_by_time ON requests (at_ms, row_number);
CREATE INDEX requests_by_account ON requests (account_id, at_ms, row_number);
CREATE INDEX requests_by_key ON requests (api_key_id, at_ms, row_number);
CREATE INDEX requests_by_model ON requests (model, at_ms, row_number) WHERE model IS NOT NULL;
CREATE INDEX requests_by_code ON requests (error_code, at_ms, row_number) WHERE error_code IS NOT NULL;
CREATE INDEX requests_by_failure ON requests (at_ms, row_number) WHERE (error_code IS NOT NULL OR status >= 400);
CREATE INDEX requests_by_job ON requests (job_id, is_replay, row_number) WHERE job_id IS NOT NULL;

-- A record as a node writes it.
CREATE TYPE request_v1 AS (
  id text,
  at_ms bigint,
  account_id text,
  api_key_id text,
  project_id text,
  route text,
  model text,
  status bigint,
  error_code text,
  duration_us bigint,
  first_byte_us bigint,
  held bigint,
  required bigint,
  available bigint,
  refused_scope text,
  refused_limit text,
  attempts text,
  cost bigint,
  job_id text,
  is_replay bigint,
  replay_of text,
  client_disconnected bigint,
  tags text,
  user_id text,
  alike_refusals bigint
);

-- Writes records, and the counts of alike refusals that changed, by the ids of their records. Such a record is only
-- minutes old. The plans of the updates must not depend on how many rows a part had when they were made.
CREATE FUNCTION write_requests_v1(p_requests request_v1[], p_ids text[], p_counts bigint[]) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_part bigint;
BEGIN
  -- A crash of the server may lose the last records. Waiting for the disk would cost it a flush for each batch.
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT max(number) INTO v_part FROM request_parts;
  INSERT INTO requests (part, id, at_ms, account_id, api_key_id, project_id, route, model, status, error_code,
      duration_us, first_byte_us, held, required, available, refused_scope, refused_limit, attempts, cost, job_id,
      is_replay, replay_of, client_disconnected, tags, user_id, alike_refusals)
    SELECT v_part, request.* FROM unnest(p_requests) AS request;
  IF cardinality(p_ids) > 0 THEN
    UPDATE requests SET alike_refusals = alike.count FROM unnest(p_ids, p_counts) AS alike (id, count)
      WHERE requests.id = alike.id AND part >= v_part - 1;
  END IF;
END $$;

CREATE FUNCTION add_request_table(p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Attaching takes a weaker lock than creating the table as a partition, so that records are written meanwhile.
  -- Some room in each page lets a count of alike refusals change without new entries in the indexes.
  EXECUTE format('CREATE TABLE %I (LIKE requests INCLUDING DEFAULTS) WITH (fillfactor = 90)', 'requests_' || p_number);
  EXECUTE format('ALTER TABLE requests ATTACH PARTITION %I FOR VALUES IN (%s)', 'requests_' || p_number, p_number);
END $$;

-- Begins the next part, whose table is already a partition, and makes the table of the part after it. A session can see
-- a row of `request_parts` before it knows a partition that was attached in the same transaction, and then finds none
-- for its records.
CREATE FUNCTION begin_request_part(p_now_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_number bigint;
BEGIN
  INSERT INTO request_parts (number, began_at_ms, last_before)
    SELECT coalesce((SELECT max(number) FROM request_parts), 0) + 1, p_now_ms, last_value FROM request_numbers
    RETURNING number INTO v_number;
  PERFORM add_request_table(v_number + 1);
END $$;

-- The oldest part, if it is too old or if there are too many records. The newest part is never dropped.
CREATE FUNCTION surplus_request_part(p_kept_ms bigint, p_rows_max bigint, p_bytes_max bigint, p_now_ms bigint)
RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT oldest.number FROM request_parts AS oldest
    JOIN request_parts AS following ON following.number = oldest.number + 1
    WHERE oldest.number = (SELECT min(number) FROM request_parts) AND (
      -- The last record of a part was written when the next part began.
      following.began_at_ms <= p_now_ms - p_kept_ms
      OR (SELECT last_value FROM request_numbers) - oldest.last_before > p_rows_max
      OR (SELECT sum(pg_total_relation_size(format('%I', 'requests_' || number)::regclass)) FROM request_parts)
        > p_bytes_max
    )
$$;

-- Begins a part if the newest one is a day old or has an eighth of the rows or bytes that are kept. Long times have 32
-- parts, because a list looks into each of them. Otherwise it drops at most one part: in one transaction with a drop
-- that a long query delays, no part would begin. Returns true if it must be called again, and null if it could not look
-- or drop now, because another node does it or a query reads.
CREATE FUNCTION bound_requests_v1(p_kept_ms bigint, p_rows_max bigint, p_bytes_max bigint, p_now_ms bigint)
RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
  v_now_ms bigint := now_ms(p_now_ms);
  v_newest request_parts;
  v_rows bigint;
  v_part bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7046029254386354) THEN
    RETURN NULL;
  END IF;
  SELECT * INTO v_newest FROM request_parts ORDER BY number DESC LIMIT 1;
  SELECT last_value - v_newest.last_before INTO v_rows FROM request_numbers;
  IF v_rows > 0 AND (
    v_now_ms >= v_newest.began_at_ms + greatest(86400000, p_kept_ms / 32)
    OR v_rows >= p_rows_max / 8
    OR pg_total_relation_size(format('%I', 'requests_' || v_newest.number)::regclass) >= p_bytes_max / 8
  ) THEN
    PERFORM begin_request_part(v_now_ms);
    RETURN surplus_request_part(p_kept_ms, p_rows_max, p_bytes_max, v_now_ms) IS NOT NULL;
  END IF;
  v_part := surplus_request_part(p_kept_ms, p_rows_max, p_bytes_max, v_now_ms);
  IF v_part IS NOT NULL THEN
    EXECUTE format('DROP TABLE %I', 'requests_' || v_part);
    DELETE FROM request_parts WHERE number = v_part;
    RETURN surplus_request_part(p_kept_ms, p_rows_max, p_bytes_max, v_now_ms) IS NOT NULL;
  END IF;
  RETURN false;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;
SELECT run_as_owner('bound_requests_v1');

-- The counts of requests, for reports. A row without a time range of its own is 0 wide: `bucket` is 0 for all measures
-- but times. The free room of a page lets a count change without new entries in the index.
CREATE TABLE request_counts (
  dimension text NOT NULL,
  from_ms bigint NOT NULL,
  name text NOT NULL,
  measure text NOT NULL,
  bucket bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (dimension, from_ms, name, measure, bucket)
) WITH (fillfactor = 70);

CREATE TYPE request_count_v1 AS (
  dimension text,
  from_ms bigint,
  name text,
  measure text,
  bucket bigint,
  count bigint
);

-- Adds to the counts, in the order of the rows, which is that of every node.
CREATE FUNCTION count_requests_v1(p_counts request_count_v1[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO request_counts SELECT * FROM unnest(p_counts)
    ON CONFLICT (dimension, from_ms, name, measure, bucket)
    DO UPDATE SET count = request_counts.count + excluded.count
$$;

SELECT add_request_table(1);
SELECT begin_request_part(now_ms(NULL));
