import { anchorProblem, type ChainEnd } from '../../domain/ledger/anchor.ts'
import type { AnchorFile, CommitChain } from '../ports/anchor.ts'
import type { Audit, AuditLog } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** The time between two writes of the anchor. A crash leaves the anchor behind by at most this. */
const WRITE_EVERY_MS = 1000
/**
 * The audit line that says that the books have an anchor. Commit hashes cover it, so it cannot be deleted unnoticed.
 */
const CREATED = 'anchor.create'

type Ports = {
  readonly file: AnchorFile
  readonly chain: CommitChain
  readonly auditLog: Pick<AuditLog, 'record' | 'has'>
  readonly clock: Clock
  /** A write that failed. It is tried again. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Compares the books with their anchor, and then keeps the anchor: it is written after commits, at most once a second,
 * and by `stop`. If they do not match, nothing is written until the operator accepts the loss.
 */
export async function openAnchorKeeper(ports: Ports): Promise<AnchorKeeper> {
  const { file, chain, auditLog } = ports
  const wasAnchored = await auditLog.has(CREATED)
  let anchor: ChainEnd | undefined
  let problem: string | undefined
  try {
    anchor = await file.read()
    const hashAtAnchor = anchor && chain.hashOf(anchor.number)
    problem = anchorProblem(anchor, { end: chain.end(), hashAtAnchor, wasAnchored })
  } catch (error) {
    problem = `it cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
  const keeper = new AnchorKeeper(ports, { wasAnchored, anchor, problem })
  keeper.start()
  return keeper
}

export class AnchorKeeper {
  readonly #ports: Ports
  /** Whether the audit log says that there is an anchor. */
  #isRecorded: boolean
  #problem: string | undefined
  #isDirty = false
  #writing: Promise<void> | undefined
  #writtenAtMs = -Infinity
  #writtenNumber: number | undefined
  #cancelTimer: (() => void) | undefined
  #isStopped = false

  constructor(
    ports: Ports,
    found: {
      readonly wasAnchored: boolean
      readonly anchor: ChainEnd | undefined
      readonly problem: string | undefined
    },
  ) {
    this.#ports = ports
    this.#isRecorded = found.wasAnchored
    this.#writtenNumber = found.anchor?.number
    if (found.problem !== undefined)
      this.#problem = `The anchor ${ports.file.path} does not match the books: ${found.problem}.`
  }

  /** Writes the anchor if it is not of the last commit, and from now on after each commit. */
  start(): void {
    const { chain } = this.#ports
    chain.onCommit(() => this.#note())
    if (chain.end()?.number !== this.#writtenNumber || !this.#isRecorded) this.#note()
  }

  /** Why the books do not match their anchor, as a sentence for the operator; undefined if they do. */
  get problem(): string | undefined {
    return this.#problem
  }

  /**
   * Accepts the books as they are: records `audit` and writes a new anchor. If that fails, it rejects, and nothing is
   * accepted.
   */
  async acceptLoss(audit: Audit): Promise<void> {
    await this.#ports.auditLog.record(audit)
    const end = this.#ports.chain.end()
    if (end !== undefined) await this.#ports.file.write(end)
    this.#writtenNumber = end?.number
    this.#problem = undefined
    this.#note()
  }

  /** Writes the last commit if the anchor does not have it yet. Writes nothing after that. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    await this.#writing
    // The first write records a line in the audit log, which is one more commit.
    for (let writes = 0; writes < 2 && this.#isDirty && this.#problem === undefined; writes += 1)
      await this.#write()
  }

  #note(): void {
    this.#isDirty = true
    const isBusy = this.#writing !== undefined || this.#cancelTimer !== undefined
    if (isBusy || this.#isStopped || this.#problem !== undefined) return
    const waitMs = this.#writtenAtMs + WRITE_EVERY_MS - this.#ports.clock.monotonicMs()
    if (waitMs <= 0) this.#start()
    else
      this.#cancelTimer = this.#ports.clock.after(waitMs, () => {
        this.#cancelTimer = undefined
        this.#start()
      })
  }

  #start(): void {
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      if (this.#isDirty) this.#note()
    })
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { file, chain, auditLog, clock, onFailed } = this.#ports
    const end = chain.end()
    this.#isDirty = false
    // A new store has no commit at its start, and `acceptLoss` writes the last commit itself.
    if (end === undefined || (end.number === this.#writtenNumber && this.#isRecorded)) return
    this.#writtenAtMs = clock.monotonicMs()
    try {
      await file.write(end)
      this.#writtenNumber = end.number
      if (this.#isRecorded) return
      await auditLog.record({
        actor: 'startup',
        action: CREATED,
        subject: end.node,
        detail: `after commit ${end.number}`,
        atMs: clock.now(),
      })
      this.#isRecorded = true
    } catch (error) {
      this.#isDirty = true
      onFailed(error)
    }
  }
}
