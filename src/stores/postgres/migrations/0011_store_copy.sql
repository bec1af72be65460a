-- A copy of books that were in SQLite, which `tollgate migrate-store` makes. No gateway starts before it is complete.

CREATE TABLE store_copy (
  id bigint PRIMARY KEY CHECK (id = 1),
  -- The hashes of the first and the last commit of the books that are copied.
  first_commit bytea NOT NULL,
  last_commit bytea NOT NULL,
  -- Null until all rows are copied and compared.
  finished_at_ms bigint
);

-- How many rows of each table are copied, in the order of its primary key.
CREATE TABLE store_copy_tables (
  name text PRIMARY KEY,
  copied bigint NOT NULL
);

CREATE FUNCTION refuse_unfinished_copy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM store_copy WHERE finished_at_ms IS NULL) THEN
    RAISE EXCEPTION 'The database has an unfinished copy of other books. Finish it with "tollgate migrate-store".';
  END IF;
  RETURN NULL;
END $$;

-- The first gateway of a database makes its first lane.
CREATE TRIGGER lanes_wait_for_the_copy BEFORE INSERT ON lanes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unfinished_copy();
