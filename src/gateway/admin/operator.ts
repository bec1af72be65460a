import type { Audit } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** Whoever changes something: the holder of the admin key, or the gateway itself at its start. */
export type Actor = 'admin' | 'startup'

/** The audit line of a change that is being made now. */
export function auditOf(
  { actor, action, subject }: { readonly actor: Actor; readonly action: string; readonly subject: string },
  clock: Clock,
): Audit {
  return { actor, action, subject, atMs: clock.now() }
}
