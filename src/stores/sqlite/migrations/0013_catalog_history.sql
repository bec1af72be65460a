-- What each revision of the catalog changed. The catalog at a revision is, for each id, the latest version up to it
-- (docs/decisions/catalog-history.md).

CREATE TABLE catalog_revisions (
  revision INTEGER PRIMARY KEY,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

-- The columns of `providers` and `models`. Without content, the revision removed the row.
CREATE TABLE provider_versions (
  id TEXT NOT NULL,
  revision INTEGER NOT NULL REFERENCES catalog_revisions (revision),
  position INTEGER NOT NULL,
  content TEXT,
  sealed_secret BLOB,
  PRIMARY KEY (id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_versions (
  id TEXT NOT NULL,
  revision INTEGER NOT NULL REFERENCES catalog_revisions (revision),
  position INTEGER NOT NULL,
  content TEXT,
  PRIMARY KEY (id, revision)
) STRICT, WITHOUT ROWID;

-- The history begins with the catalog that an earlier version left.
INSERT INTO catalog_revisions (revision, actor, action, subject, at_ms)
  SELECT revision, 'startup', 'history.begin', 'catalog', updated_at_ms FROM catalog_state WHERE revision > 0;
INSERT INTO provider_versions (id, revision, position, content, sealed_secret)
  SELECT providers.id, revision, position, content, sealed_secret FROM providers, catalog_state;
INSERT INTO model_versions (id, revision, position, content)
  SELECT models.id, revision, position, content FROM models, catalog_state;
