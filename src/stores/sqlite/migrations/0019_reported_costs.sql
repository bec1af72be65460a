-- The facts that a provider reports about a charge beside its tokens: its own cost in nano-USD, the calls of its search
-- tools and its service tier. `assumed_cached` is the part of an estimated input that counts as cached. Null for none.
-- Each one that is not null is covered by the hash of its row's commit, with its name.
ALTER TABLE charges ADD COLUMN provider_cost INTEGER;
ALTER TABLE charges ADD COLUMN search_calls INTEGER;
ALTER TABLE charges ADD COLUMN file_searches INTEGER;
ALTER TABLE charges ADD COLUMN service_tier TEXT;
ALTER TABLE charges ADD COLUMN assumed_cached INTEGER;
ALTER TABLE attempts ADD COLUMN provider_cost INTEGER;
ALTER TABLE attempts ADD COLUMN search_calls INTEGER;
ALTER TABLE attempts ADD COLUMN file_searches INTEGER;
ALTER TABLE attempts ADD COLUMN service_tier TEXT;
-- What the provider reports as its cost of the job, however the job ended.
ALTER TABLE jobs ADD COLUMN provider_cost INTEGER;
-- The columns of the job that have changed since its creation, as JSON, after the step of this event. The hash of the
-- event covers them.
ALTER TABLE job_events ADD COLUMN facts TEXT;
