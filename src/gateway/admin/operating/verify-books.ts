import { GatewayError } from '../../../domain/errors.ts'
import type { AnchorKeeper } from '../../books/anchor-keeper.ts'
import type { BooksGuard } from '../../books/books-guard.ts'
import { checkBooks, type CheckResult } from '../../books/check-books.ts'
import type { SharedChecks } from '../../books/shared-checks.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { AuditLog } from '../../ports/access/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ledger, Problem, VerifiedPart } from '../../ports/ledger/ledger.ts'
import { auditOf, type Actor } from '../operator.ts'

/** The part of the anchor keeper that the operator can use. */
export type Anchoring = Pick<AnchorKeeper, 'problem' | 'acceptLoss'>

type CheckPorts = {
  readonly ledger: Pick<Ledger, 'verify'>
  readonly guard: Pick<BooksGuard, 'noteCheck' | 'noteFailedCheck'>
  readonly blobs: Pick<Blobs, 'damageOf'>
  readonly anchor: Anchoring
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** Only if several nodes may share the books. */
  readonly sharedChecks?: Pick<SharedChecks, 'begin'> | undefined
}

type Ports = CheckPorts & { readonly auditLog: AuditLog; readonly clock: Clock }

/** The id of the problem that the books do not match their anchor. */
const ANCHOR_PROBLEM = 'anchor'

/** A check of the books that an operator started, while it runs. */
export type RunningCheck = {
  readonly startedAtMs: number
  /** Undefined before it has begun the first one. */
  readonly part: VerifiedPart | undefined
}

/** The last check of an operator that ended. */
export type EndedCheck = CheckResult & { readonly startedAtMs: number; readonly endedAtMs: number }

/** The checks of the books that operators start. One runs at a time, because each can read for minutes. */
export class OperatorChecks {
  readonly #ports: CheckPorts
  #running: { readonly startedAtMs: number; readonly result: Promise<CheckResult> } | undefined
  #part: VerifiedPart | undefined
  #last: EndedCheck | undefined

  constructor(ports: CheckPorts) {
    this.#ports = ports
  }

  get running(): RunningCheck | undefined {
    return this.#running && { startedAtMs: this.#running.startedAtMs, part: this.#part }
  }

  get last(): EndedCheck | undefined {
    return this.#last
  }

  /**
   * Checks the books, or joins the check that runs. `isAfterDecision` begins a new one after that: a check that began
   * before the operator accepted a problem does not know it.
   */
  async check({ isAfterDecision }: { readonly isAfterDecision: boolean }): Promise<CheckResult> {
    if (isAfterDecision) while (this.#running !== undefined) await this.#running.result.catch(() => undefined)
    if (this.#running === undefined) {
      const startedAtMs = this.#ports.clock.now()
      this.#part = undefined
      this.#running = { startedAtMs, result: this.#run(startedAtMs) }
    }
    return this.#running.result
  }

  async #run(startedAtMs: number): Promise<CheckResult> {
    try {
      const verification = await verifyBooks(this.#ports, part => (this.#part = part))
      this.#last = { ...verification, startedAtMs, endedAtMs: this.#ports.clock.now() }
      return verification
    } finally {
      this.#running = undefined
    }
  }
}

/** Checks the ledger and the stored results, and compares the ledger with its anchor. */
async function verifyBooks(ports: CheckPorts, onPart: (part: VerifiedPart) => void): Promise<CheckResult> {
  const verification = await checkBooks(ports, ports.blobs, onPart)
  const { problem: message } = ports.anchor
  if (message === undefined) return verification
  const problem: Problem = {
    id: ANCHOR_PROBLEM,
    accountId: null,
    entryId: null,
    message,
    isAccepted: false,
  }
  return { ...verification, problems: [problem, ...verification.problems], affected: 'everything' }
}

/**
 * Accepts a problem: neither this check nor later ones stop an account because of it. Repeating it changes nothing.
 * Throws `not_found` if the check does not find the problem.
 */
export async function acceptProblem(
  { id, reason, actor }: { readonly id: string; readonly reason: string; readonly actor: Actor },
  ports: Ports,
): Promise<void> {
  const { problems } = await checkBooks(ports, ports.blobs)
  const problem = problems.find(one => one.id === id)
  if (problem === undefined)
    throw new GatewayError('not_found', `A check finds no problem "${id}".${adviceFor(id)}`)
  if (problem.isAccepted) return
  const detail = `${reason} (${problem.message})`
  await ports.auditLog.record(auditOf({ actor, action: 'books.accept', subject: id, detail }, ports.clock))
}

function adviceFor(id: string): string {
  return id === ANCHOR_PROBLEM ? ' Lost commits are accepted with "accept_loss".' : ''
}

/**
 * Accepts that the books lost commits, so that paid requests are accepted again. Throws `invalid_field` if
 * there is nothing to accept.
 */
export async function acceptLoss(
  { reason, actor }: { readonly reason: string; readonly actor: Actor },
  { anchor, clock }: Ports,
): Promise<void> {
  if (anchor.problem === undefined)
    throw new GatewayError('invalid_field', 'There is no loss to accept: the books match their anchor.', {
      param: 'accept_loss',
    })
  const detail = `${reason} (${anchor.problem})`
  await anchor.acceptLoss(auditOf({ actor, action: 'books.accept_loss', subject: 'anchor', detail }, clock))
}
