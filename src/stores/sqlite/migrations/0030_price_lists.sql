-- The price lists of customers. They are rows of the catalog, with the same history (docs/decisions/price-lists.md).
CREATE TABLE price_lists (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;

-- Without content, the revision removed the list.
CREATE TABLE price_list_versions (
  id TEXT NOT NULL,
  revision INTEGER NOT NULL REFERENCES catalog_revisions (revision),
  position INTEGER NOT NULL,
  content TEXT,
  PRIMARY KEY (id, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX price_list_versions_by_revision ON price_list_versions (revision, id);

-- The id of its price list; null for the prices of the catalog.
ALTER TABLE accounts ADD COLUMN price_list TEXT;
CREATE INDEX accounts_by_price_list ON accounts (price_list) WHERE price_list IS NOT NULL;
