-- Finds the job of a request by the request's id. A job of an earlier version has no such id.
CREATE INDEX jobs_by_request ON jobs (request_key, request_tail) WHERE request_key IS NOT NULL;
