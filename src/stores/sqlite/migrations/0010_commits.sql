-- Each transaction of a node that adds operations, charges, credits or tariffs gets a row in `commits`. Its hash covers the hash of
-- the node's commit before it and the rows that it added (docs/decisions/commit-hashes.md). So `verify` finds every such row that is
-- changed, inserted or deleted later.

CREATE TABLE nodes (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE commits (
  id INTEGER PRIMARY KEY,
  node_id INTEGER NOT NULL REFERENCES nodes (id),
  -- 1 for the first commit of the node, without gaps. `verify` checks it: an index would cost a page at each commit.
  number INTEGER NOT NULL,
  -- For each row that it covers the tag of its table and its CRC-32, to tell which one has changed. Null for rows of earlier versions.
  checksums BLOB,
  -- SHA-256.
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- The commit that added the row. 0 for rows of earlier versions: one commit covers all of them.
ALTER TABLE operations ADD COLUMN commit_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE charges ADD COLUMN commit_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE credits ADD COLUMN commit_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tariffs ADD COLUMN commit_id INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER commits_never_change BEFORE UPDATE ON commits BEGIN SELECT RAISE(ABORT, 'commits are never updated'); END;
CREATE TRIGGER commits_never_go BEFORE DELETE ON commits BEGIN SELECT RAISE(ABORT, 'commits are never deleted'); END;
CREATE TRIGGER credits_never_change BEFORE UPDATE ON credits BEGIN SELECT RAISE(ABORT, 'credits are never updated'); END;
CREATE TRIGGER credits_never_go BEFORE DELETE ON credits BEGIN SELECT RAISE(ABORT, 'credits are never deleted'); END;
