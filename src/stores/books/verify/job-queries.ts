/** The queries of the checks of jobs. Those of jobs have no conditions and no order, which their readers add. */

/** Jobs with their hold, their charge, the operation of their loss, and their latest event. */
export const JOBS = `SELECT jobs.*, holds.state AS hold, holds.amount AS hold_amount,
    (SELECT charges.cost FROM charges WHERE charges.id_key = jobs.id_key AND charges.id_tail = jobs.id_tail
      AND charges.account_id = jobs.account_id) AS charged,
    (SELECT operations.kind FROM operations WHERE operations.id = loss_by AND operations.account_id = jobs.account_id
      AND subject_key = jobs.id_key AND subject_tail = jobs.id_tail) AS loss_operation,
    (SELECT job_events.state FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS event,
    (SELECT facts FROM job_events WHERE job = jobs.row_id ORDER BY job_events.row_id DESC LIMIT 1) AS facts
  FROM jobs LEFT JOIN holds ON holds.id_key = jobs.id_key AND holds.id_tail = jobs.id_tail
    AND holds.account_id = jobs.account_id`

/** The facts of the event that created a job. */
const FIRST_FACTS = `(SELECT facts FROM job_events WHERE job_events.job = jobs.row_id ORDER BY job_events.row_id LIMIT 1)
  AS facts`

/** The next idempotency keys with their jobs. */
export const KEYS = `SELECT job_keys.*, jobs.account_id AS owner, jobs.created_at_ms AS job_created_at_ms, ${FIRST_FACTS}
  FROM job_keys LEFT JOIN jobs ON jobs.row_id = job
  WHERE (job_keys.account_id, key) > (?, ?) ORDER BY job_keys.account_id, key LIMIT ?`

/** Jobs with the facts of their first event, and whether the row of their idempotency key exists. */
export const KEYED_JOBS = `SELECT jobs.row_id, jobs.account_id, jobs.created_at_ms, ${FIRST_FACTS},
    EXISTS (SELECT 1 FROM job_keys WHERE job = jobs.row_id AND job_keys.account_id = jobs.account_id) AS is_kept,
    (SELECT max(created_at_ms) FROM job_keys) AS newest
  FROM jobs`
