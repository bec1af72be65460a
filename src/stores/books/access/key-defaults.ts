import {
  NO_KEY_DEFAULTS,
  patchKeyDefaults,
  readKeyDefaults,
  writeKeyDefaults,
  type NewKeyDefaults,
  type NewKeyDefaultsPatch,
} from '../../../domain/accounts/key-defaults.ts'
import type { KeyDefaults } from '../../../gateway/ports/access/key-defaults.ts'
import { first, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import type { AuditedChange } from './changes.ts'
import { refuseClosed } from './closed-accounts.ts'

/** The row of the gateway. Those of accounts have the ids of accounts, which begin with 1. */
const GATEWAY = 0

/** The subject of the audit lines of the gateway's defaults. */
const GATEWAY_SUBJECT = 'gateway'

/** Defaults of this text have no row. */
const NONE = writeKeyDefaults(NO_KEY_DEFAULTS)

/** `KeyDefaults` of one node. */
export function createKeyDefaults(stepRunner: StepRunner): KeyDefaults {
  return {
    of: accountId => stepRunner.read(() => defaultsOf(accountId ?? GATEWAY)),
    change: (patch, by) =>
      stepRunner.write('access', function* () {
        const line = { action: 'gateway.key_defaults', subject: GATEWAY_SUBJECT }
        for (const change of yield* changeDefaults(GATEWAY, patch, line))
          yield* appendAudit({ ...by, ...change })
        return yield* defaultsOf(GATEWAY)
      }),
  }
}

/** The limits and settings of a new key of an account, unless its creator gives others. */
export function* defaultsOfNewKey(accountId: number): Step<NewKeyDefaults> {
  return patchKeyDefaults(yield* defaultsOf(GATEWAY), yield* defaultsOf(accountId))
}

/**
 * Returns the audit line if the patch changes the defaults, with the new ones as its detail. Throws `already_closed`
 * for a closed account.
 */
export function* changeDefaults(
  accountId: number,
  patch: NewKeyDefaultsPatch | undefined,
  line: AuditedChange,
): Step<readonly AuditedChange[]> {
  if (patch === undefined) return []
  yield* refuseClosed(accountId, 'defaults for new keys')
  const before = yield* defaultsOf(accountId)
  const after = writeKeyDefaults(patchKeyDefaults(before, patch))
  if (after === writeKeyDefaults(before)) return []
  if (after === NONE) yield* run('DELETE FROM key_defaults WHERE account_id = ?', accountId)
  else
    yield* run(
      `INSERT INTO key_defaults (account_id, terms) VALUES (?, ?)
        ON CONFLICT (account_id) DO UPDATE SET terms = excluded.terms`,
      accountId,
      after,
    )
  return [{ ...line, detail: after }]
}

function* defaultsOf(accountId: number): Step<NewKeyDefaults> {
  const row = yield* first<{ terms: string }>(
    'SELECT terms FROM key_defaults WHERE account_id = ?',
    accountId,
  )
  return row === undefined ? NO_KEY_DEFAULTS : readKeyDefaults(row.terms)
}
