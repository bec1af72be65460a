import { anchorProblem, isSameAnchor, type Anchor } from '../../domain/ledger/anchor.ts'
import type { AnchorFile, CommitChains } from '../ports/ledger/anchor.ts'
import type { Audit, AuditLog } from '../ports/access/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** The time between two writes of the anchor. A crash leaves the anchor behind by at most this. */
const WRITE_EVERY_MS = 1000
/**
 * The audit line that says that the books have an anchor. Commit hashes cover it, so it cannot be deleted unnoticed.
 */
const CREATED = 'anchor.create'

type Ports = {
  readonly file: AnchorFile
  readonly chains: CommitChains
  readonly auditLog: Pick<AuditLog, 'record' | 'has'>
  readonly clock: Clock
  /** A write that failed. It is tried again. */
  readonly onFailed: (error: unknown) => void
}

type ComparedPorts = Pick<Ports, 'file' | 'chains'> & { readonly auditLog: Pick<AuditLog, 'has'> }

/**
 * Compares the books with their anchor, and then keeps the anchor: it is written after commits, at most once a second,
 * and by `stop`. If they do not match, nothing is written until the operator accepts the loss.
 */
export async function openAnchorKeeper(ports: Ports): Promise<AnchorKeeper> {
  const { ends, ...found } = await compareAnchor(ports)
  const keeper = new AnchorKeeper(ports, found)
  keeper.start(ends)
  return keeper
}

/** Why the books do not match their anchor, as a sentence for the operator; undefined if they do. Writes nothing. */
export async function anchorProblemOf(ports: ComparedPorts): Promise<string | undefined> {
  return (await compareAnchor(ports)).problem
}

async function compareAnchor({ file, chains, auditLog }: ComparedPorts) {
  const wasAnchored = await auditLog.has(CREATED)
  const ends = await chains.ends()
  let anchor: Anchor | undefined
  let problem: string | undefined
  try {
    anchor = await file.read()
    const hashesAtAnchor = await hashesAt(anchor ?? [], chains)
    problem = anchorProblem(anchor, { ends, hashesAtAnchor, wasAnchored })
  } catch (error) {
    problem = `it cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
  const sentence = problem && `The anchor ${file.path} does not match the books: ${problem}.`
  return { ends, wasAnchored, anchor, problem: sentence }
}

/** By node, the hashes of the commits that the anchor names and the books have. */
export async function hashesAt(anchor: Anchor, chains: CommitChains): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const end of anchor) {
    const hash = await chains.hashOf(end)
    if (hash !== undefined) hashes.set(end.node, hash)
  }
  return hashes
}

export class AnchorKeeper {
  readonly #ports: Ports
  /** Whether the audit log says that there is an anchor. */
  #isRecorded: boolean
  #problem: string | undefined
  #isDirty = false
  #writing: Promise<void> | undefined
  #writtenAtMs = -Infinity
  #written: Anchor | undefined
  #cancelTimer: (() => void) | undefined
  #isStopped = false

  constructor(
    ports: Ports,
    found: {
      readonly wasAnchored: boolean
      readonly anchor: Anchor | undefined
      readonly problem: string | undefined
    },
  ) {
    this.#ports = ports
    this.#isRecorded = found.wasAnchored
    this.#written = found.anchor
    this.#problem = found.problem
  }

  /** Writes the anchor if it is not of the last commits, `ends`, and from now on after each commit. */
  start(ends: Anchor): void {
    this.#ports.chains.onCommit(() => this.#note())
    if (!isSameAnchor(this.#written ?? [], ends) || !this.#isRecorded) this.#note()
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
    const ends = await this.#ports.chains.ends()
    if (ends.length > 0) await this.#ports.file.write(ends)
    this.#written = ends
    this.#problem = undefined
    this.#note()
  }

  /** Writes the last commits if the anchor does not have them yet. Writes nothing after that. */
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
    const { file, chains, auditLog, clock, onFailed } = this.#ports
    this.#isDirty = false
    try {
      const ends = await chains.ends()
      // A new store has no commit at its start, and `acceptLoss` writes the last commits itself.
      if (ends.length === 0 || (isSameAnchor(this.#written, ends) && this.#isRecorded)) return
      this.#writtenAtMs = clock.monotonicMs()
      await file.write(ends)
      this.#written = ends
      if (this.#isRecorded) return
      await auditLog.record({
        actor: 'startup',
        action: CREATED,
        subject: ends.map(({ node }) => node).join(', '),
        detail: `after commit ${ends.map(({ number }) => number).join(', ')}`,
        atMs: clock.now(),
      })
      this.#isRecorded = true
    } catch (error) {
      this.#isDirty = true
      this.#writtenAtMs = clock.monotonicMs()
      onFailed(error)
    }
  }
}
