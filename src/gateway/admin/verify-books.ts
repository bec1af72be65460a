import { GatewayError } from '../../domain/errors.ts'
import type { AnchorKeeper } from '../books/anchor-keeper.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger, Verification } from '../ports/ledger.ts'
import { auditOf, type Actor } from './operator.ts'

/** What of the anchor the operator can see and decide. */
export type Anchoring = Pick<AnchorKeeper, 'problem' | 'acceptLoss'>

type Ports = { readonly ledger: Ledger; readonly anchor: Anchoring; readonly clock: Clock }

/** Checks the ledger and whether it fits its anchor. */
export async function verifyBooks({ ledger, anchor }: Ports): Promise<Verification> {
  const verification = await ledger.verify()
  if (anchor.problem === undefined) return verification
  const problem = { entryId: null, message: anchor.problem }
  return { ...verification, problems: [problem, ...verification.problems] }
}

/**
 * Accepts that commits which the anchor names are lost, so that the gateway sells again. Throws `invalid_field` if there is
 * nothing to accept.
 */
export async function acceptLoss(
  { reason, actor }: { readonly reason: string; readonly actor: Actor },
  { anchor, clock }: Ports,
): Promise<void> {
  if (anchor.problem === undefined)
    throw new GatewayError('invalid_field', 'There is no loss to accept: the books fit their anchor.', {
      param: 'accept_loss',
    })
  const detail = `${reason} (${anchor.problem})`
  await anchor.acceptLoss(auditOf({ actor, action: 'books.accept_loss', subject: 'anchor', detail }, clock))
}
