import type { Audit } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** Whoever changes something: the holder of the admin key, or the gateway itself at its start. */
export type Actor = 'admin' | 'startup'

/** The audit line of a change that is being made now. */
export function auditOf(
  change: { readonly actor: Actor } & Pick<Audit, 'action' | 'subject' | 'detail'>,
  clock: Clock,
): Audit {
  return { ...change, atMs: clock.now() }
}
