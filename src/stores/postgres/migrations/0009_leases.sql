-- Work that one node at a time should do.
CREATE TABLE leases (
  name text PRIMARY KEY,
  -- Grows with each holder.
  fence bigint NOT NULL,
  -- By the clock of the database. 0 after a release.
  until_ms bigint NOT NULL
);
