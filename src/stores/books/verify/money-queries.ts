/** The queries of the checks of money, without conditions and order, which each store adds. */

/**
 * `subject_at_ms` is the time of the row that an operation belongs to. A credit or an attempt has no such time of its
 * own.
 */
export const OPERATIONS = `SELECT *,
    CASE WHEN kind IN ('charge', 'capture')
      THEN (SELECT cost FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
        AND charges.operation_id = operations.id) END AS cost,
    CASE WHEN kind = 'loss'
      THEN (SELECT loss FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
        AND loss_by = operations.id) END AS loss,
    CASE WHEN kind = 'refund'
      THEN (SELECT amount FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
        AND corrections.operation_id = operations.id) END AS refunded,
    CASE
      WHEN kind IN ('debit', 'refund')
        THEN (SELECT operations.at_ms FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
          AND corrections.operation_id = operations.id AND corrections.amount = abs(operations.amount)
          AND (charge_id IS NULL) = (kind = 'debit'))
      WHEN kind IN ('top_up', 'grant')
        THEN (SELECT operations.at_ms FROM credits WHERE id_key = subject_key AND id_tail = subject_tail
          AND credits.operation_id = operations.id AND credits.amount = operations.amount)
      WHEN kind = 'charge'
        THEN coalesce((SELECT at_ms FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
          AND charges.operation_id = operations.id), operations.at_ms)
      WHEN kind = 'hold'
        THEN (SELECT placed_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND placed_by = operations.id)
      WHEN kind IN ('capture', 'release', 'expire')
        THEN (SELECT resolved_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND resolved_by = operations.id)
      WHEN kind = 'compensation'
        THEN (SELECT operations.at_ms FROM attempts WHERE request_key = subject_key AND request_tail = subject_tail
          AND compensated_by = operations.id LIMIT 1)
      WHEN kind = 'loss'
        THEN (SELECT loss_at_ms FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
          AND loss_by = operations.id)
      ELSE operations.at_ms
    END AS subject_at_ms
  FROM operations`

export const CHARGES = `SELECT charges.*, content,
    (SELECT subject_tail = id_tail AND account_id = charges.account_id AND kind IN ('charge', 'capture')
        AND at_ms = charges.at_ms
      FROM operations WHERE operations.id = operation_id AND subject_key = id_key) AS is_of_operation,
    EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = api_key_id AND api_keys.account_id = charges.account_id)
      AS is_of_key
  FROM charges LEFT JOIN tariffs ON tariffs.id = tariff_id`

/** The balances of each account, and the sum of its open holds that are rows of `holds`. */
export const BALANCES = `SELECT accounts.id, balances.*, (
    SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM holds WHERE holds.account_id = accounts.id AND state = 'open'
  ) AS open_holds
  FROM accounts LEFT JOIN balances ON balances.account_id = accounts.id`

/** Holds with the operations and the charge that name them. */
export const HOLDS = `SELECT holds.id, holds.id_key, holds.id_tail, holds.account_id, holds.amount, state,
    (SELECT kind FROM operations WHERE operations.id = placed_by
      AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS placing,
    (SELECT kind FROM operations WHERE operations.id = resolved_by
      AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS resolving,
    (SELECT cost FROM charges WHERE charges.id_key = holds.id_key AND charges.id_tail = holds.id_tail) AS cost,
    job_key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id_key = job_key AND jobs.id_tail = job_tail
      AND jobs.account_id = holds.account_id) AS is_orphan
  FROM holds`

/** Attempts with their tariff, and what their charge and their compensation moved. */
export const ATTEMPTS = `SELECT attempts.*, content,
    (SELECT cost FROM charges WHERE id_key = request_key AND id_tail = request_tail
      AND charges.account_id = attempts.account_id) AS charged,
    (SELECT amount FROM operations WHERE operations.id = compensated_by AND kind = 'compensation'
      AND subject_key = request_key AND subject_tail = request_tail
      AND operations.account_id = attempts.account_id) AS credited
  FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id`

/** Corrections with their operation and the charge that they refund. */
export const CORRECTIONS = `SELECT corrections.id, id_key, id_tail, account_id, charge_id,
    (SELECT kind FROM operations WHERE operations.id = operation_id AND subject_key = id_key AND subject_tail = id_tail
      AND operations.account_id = corrections.account_id) AS operation,
    (SELECT cost FROM charges WHERE charges.id = charge_id AND charges.account_id = corrections.account_id LIMIT 1) AS cost,
    CASE WHEN NOT EXISTS (SELECT 1 FROM corrections AS later
        WHERE later.charge_id = corrections.charge_id AND later.id > corrections.id)
      THEN (SELECT CAST(sum(every.amount) AS bigint) FROM corrections AS every
          WHERE every.charge_id = corrections.charge_id)
    END AS refunded,
    EXISTS (SELECT 1 FROM charges JOIN attempts ON request_key = charges.id_key AND request_tail = charges.id_tail
      WHERE charges.id = charge_id AND state = 'compensated') AS is_compensated
  FROM corrections`
