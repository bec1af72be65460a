-- The catalog. Each row is kept as the JSON that the catalog file and the admin API have for it, so that one reader checks
-- all three. `position` is the place in the list.

CREATE TABLE catalog_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  -- Something known, sealed under the secret key: tells a wrong key from a damaged row. Null before the first edit.
  key_check BLOB
) STRICT;

INSERT INTO catalog_state (id, revision, updated_at_ms) VALUES (1, 0, 0);

CREATE TABLE providers (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  content TEXT NOT NULL,
  -- A literal key, sealed under the secret key and bound to this id. Null where there is none.
  sealed_secret BLOB
) STRICT;

CREATE TABLE models (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  content TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
