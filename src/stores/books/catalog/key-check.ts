import type { SecretBox } from '../secrets/secret-box.ts'
import { first, run, type Step } from '../steps.ts'

/** The way in which an edit seals secrets. */
export type Sealing = {
  readonly box: SecretBox
  /** Whether the stored check was sealed under a key that is lost, so that an edit replaces it. */
  readonly isCheckLost: boolean
}

/** The text of the check, and the owner that it is bound to. */
const CHECK = 'tollgate'

/**
 * Compares the key of a box with the key that the check in the database was sealed under. The check is something known,
 * so that a wrong key can be told from a damaged row.
 */
export function* compareKey(box: SecretBox): Step<'same' | 'another' | 'unchecked'> {
  const row = yield* first<{ key_check: Uint8Array | null }>('SELECT key_check FROM catalog_state')
  const check = row?.key_check ?? null
  if (check === null) return 'unchecked'
  return box.open(check, CHECK) === undefined ? 'another' : 'same'
}

/** Writes the check of the key of a box. */
export function writeKeyCheck(box: SecretBox): Step<void> {
  return run('UPDATE catalog_state SET key_check = ?', box.seal(CHECK, CHECK))
}

/** Writes the check if there is none, or if it is lost. */
export function* completeKeyCheck({ box, isCheckLost }: Sealing): Step<void> {
  if (isCheckLost || (yield* compareKey(box)) === 'unchecked') yield* writeKeyCheck(box)
}
