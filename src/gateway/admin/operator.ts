import type { Audit } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** Who makes a change: the holder of the admin key, or the gateway itself at its start. */
export type Actor = 'admin' | 'startup'

/** The audit line of a change at the current time. */
export function auditOf(
  change: { readonly actor: Actor } & Pick<Audit, 'action' | 'subject' | 'detail'>,
  clock: Clock,
): Audit {
  return { ...change, atMs: clock.now() }
}
