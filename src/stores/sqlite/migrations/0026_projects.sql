-- Groups of keys of an account, each with limits and budgets of its own. Commits cover what is known at the creation of a project. The
-- audit log has its name, and when it was closed.
CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- Null unless the project was closed: its keys are then refused.
  closed_at_ms INTEGER,
  commit_id INTEGER NOT NULL,
  UNIQUE (account_id, name)
) STRICT;

CREATE TRIGGER projects_never_go BEFORE DELETE ON projects BEGIN SELECT RAISE(ABORT, 'projects are never deleted'); END;

-- The project of a key, which never changes; null for none. The hash of the key's commit covers it, with the name of its column, if it
-- is not null.
ALTER TABLE api_keys ADD COLUMN project_id INTEGER REFERENCES projects (id);

CREATE INDEX api_keys_by_project ON api_keys (project_id) WHERE project_id IS NOT NULL;

-- The limits and budgets that a new key begins with: those of the gateway (account 0), and of accounts.
CREATE TABLE key_defaults (
  account_id INTEGER PRIMARY KEY,
  -- As JSON in the form of the admin API.
  terms TEXT NOT NULL
) STRICT;
