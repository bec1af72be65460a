-- The catalog and its history.

CREATE TABLE catalog_state (
  id bigint PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  -- Something known, sealed under the secret key: tells a wrong key from a damaged row. Null before the first start.
  key_check bytea
);
INSERT INTO catalog_state (id, revision, updated_at_ms) VALUES (1, 0, 0);

CREATE TABLE catalog_revisions (
  revision bigint PRIMARY KEY,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  at_ms bigint NOT NULL
);

CREATE TABLE providers (
  id text PRIMARY KEY,
  position bigint NOT NULL,
  content text NOT NULL,
  -- A literal key, sealed under the secret key and bound to this id. Null where there is none.
  sealed_secret bytea
);

CREATE TABLE models (
  id text PRIMARY KEY,
  position bigint NOT NULL,
  content text NOT NULL,
  created_at_ms bigint NOT NULL
);

CREATE TABLE price_lists (
  id text PRIMARY KEY,
  position bigint NOT NULL,
  content text NOT NULL
);

CREATE TABLE provider_versions (
  id text NOT NULL,
  revision bigint NOT NULL REFERENCES catalog_revisions (revision),
  position bigint NOT NULL,
  content text,
  sealed_secret bytea,
  PRIMARY KEY (id, revision)
);
CREATE INDEX provider_versions_by_revision ON provider_versions (revision, id);

CREATE TABLE model_versions (
  id text NOT NULL,
  revision bigint NOT NULL REFERENCES catalog_revisions (revision),
  position bigint NOT NULL,
  content text,
  PRIMARY KEY (id, revision)
);
CREATE INDEX model_versions_by_revision ON model_versions (revision, id);

CREATE TABLE price_list_versions (
  id text NOT NULL,
  revision bigint NOT NULL REFERENCES catalog_revisions (revision),
  position bigint NOT NULL,
  content text,
  PRIMARY KEY (id, revision)
);
CREATE INDEX price_list_versions_by_revision ON price_list_versions (revision, id);
