-- Commits also cover what was written when an attempt, an audit line, an account, an API key, a hold, a job or an event of a job was
-- created (docs/decisions/commit-hashes.md). So `verify` finds every such row that is inserted, deleted or given to another account.

-- The commit that added the row. -1 for rows of earlier versions: one commit covers all of them.
ALTER TABLE attempts ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE audit_log ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE accounts ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE api_keys ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE holds ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;
ALTER TABLE job_events ADD COLUMN commit_id INTEGER NOT NULL DEFAULT -1;

CREATE TRIGGER attempts_never_go BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
CREATE TRIGGER accounts_never_go BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'accounts are never deleted'); END;
CREATE TRIGGER api_keys_never_go BEFORE DELETE ON api_keys BEGIN SELECT RAISE(ABORT, 'API keys are never deleted'); END;
CREATE TRIGGER balances_never_go BEFORE DELETE ON balances BEGIN SELECT RAISE(ABORT, 'balances are never deleted'); END;
CREATE TRIGGER holds_never_go BEFORE DELETE ON holds BEGIN SELECT RAISE(ABORT, 'holds are never deleted'); END;
CREATE TRIGGER job_events_never_change BEFORE UPDATE ON job_events BEGIN SELECT RAISE(ABORT, 'events of jobs are never updated'); END;
CREATE TRIGGER job_events_never_go BEFORE DELETE ON job_events BEGIN SELECT RAISE(ABORT, 'events of jobs are never deleted'); END;
