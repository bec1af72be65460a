import { anchorProblem, isSameAnchor, type Anchor } from '../../domain/ledger/anchor.ts'
import {
  AnchorReplacedError,
  NotAnAnchorError,
  type AnchorFile,
  type CommitChains,
} from '../ports/ledger/anchor.ts'
import type { Audit, AuditLog } from '../ports/access/audit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/nodes/leases.ts'
import { hashesAt } from './anchor-keeper.ts'

/** The lease of the node that writes. All nodes together write once in this time. */
const LEASE = 'anchor'
const WRITE_EVERY_MS = 1000
/** A node whose books do not match looks in this time whether another node accepted the loss. */
const LOOK_AGAIN_MS = 5000
/** Another node can replace the anchor between a comparison and a write. */
const TRIES = 3
/**
 * The audit line that says that the nodes have an anchor. It is not the one of a node with its own file, so that books
 * from there start without an anchor.
 */
const CREATED = 'anchor.share'

type Ports = {
  /** One for all nodes. */
  readonly file: AnchorFile
  readonly chains: CommitChains
  readonly auditLog: Pick<AuditLog, 'record' | 'has'>
  readonly leases: Leases
  readonly clock: Clock
  /** The anchor could not be read or written, and is tried again; or the books stopped matching it. */
  readonly onFailed: (error: unknown) => void
}

/** Compares the books with the anchor that all nodes share, and then keeps it. */
export async function openSharedAnchor(ports: Ports): Promise<SharedAnchor> {
  const anchor = new SharedAnchor(ports)
  await anchor.start()
  return anchor
}

/**
 * The anchor of books that several nodes write. It names the ends of all chains. After commits of any node, the node
 * that gets the lease writes it, at most once a second. Each node compares the books with it at the start, when another
 * node replaced it, and before each write, so that a failover that loses commits is found, too.
 *
 * If the books do not match, this node writes nothing until an operator accepts the loss on any node. An anchor that
 * cannot be reached proves nothing and stops nothing: it is tried again.
 */
export class SharedAnchor {
  readonly #ports: Ports
  #problem: string | undefined
  /** What this node read or wrote last. */
  #known: Anchor | undefined
  /** False if what is known may not be what is there. */
  #isCompared = false
  /** Whether the audit log says that there is an anchor. */
  #isRecorded = false
  #isDirty = false
  #triedAtMs = -Infinity
  #work: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #isStopped = false

  constructor(ports: Ports) {
    this.#ports = ports
  }

  async start(): Promise<void> {
    this.#ports.chains.onCommit(() => this.#note())
    await this.#compare().catch((error: unknown) => this.#ports.onFailed(error))
    this.#note()
  }

  /** Why the books do not match their anchor, as a sentence for the operator; undefined if they do. */
  get problem(): string | undefined {
    return this.#problem
  }

  /**
   * Accepts the books as they are: records `audit` and writes a new anchor. The other nodes follow. If that fails, it
   * rejects, and nothing is accepted.
   */
  async acceptLoss(audit: Audit): Promise<void> {
    await this.#ports.auditLog.record(audit)
    await whileReplaced(() => this.#overwrite())
    this.#problem = undefined
    this.#note()
  }

  /** Writes the last commits if the anchor does not have them yet. Writes nothing after that. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    await this.#work
    // The first write records a line in the audit log, which is one more commit. It does not wait for the lease.
    for (let writes = 0; writes < 2 && this.#isDirty && this.#problem === undefined; writes += 1)
      await this.#attempt(() => this.#write())
  }

  #note(): void {
    this.#isDirty = true
    if (this.#work !== undefined || this.#cancelTimer !== undefined || this.#isStopped) return
    const everyMs = this.#problem === undefined ? WRITE_EVERY_MS : LOOK_AGAIN_MS
    const waitMs = this.#triedAtMs + everyMs - this.#ports.clock.monotonicMs()
    if (waitMs <= 0) this.#begin()
    else
      this.#cancelTimer = this.#ports.clock.after(waitMs, () => {
        this.#cancelTimer = undefined
        this.#begin()
      })
  }

  #begin(): void {
    this.#work = this.#attempt(() => this.#writeInTurn()).finally(() => {
      this.#work = undefined
      if (this.#isDirty) this.#note()
    })
  }

  /** Never rejects. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#isDirty = false
    this.#triedAtMs = this.#ports.clock.monotonicMs()
    try {
      await work()
      // It looks again whether the loss was accepted.
      if (this.#problem !== undefined) this.#isDirty = true
    } catch (error) {
      this.#isDirty = true
      this.#ports.onFailed(error)
    }
  }

  async #writeInTurn(): Promise<void> {
    if (this.#problem !== undefined) await this.#compare()
    if (this.#problem !== undefined) return
    const lease = await this.#ports.leases.take(LEASE, WRITE_EVERY_MS)
    // The lease is not released: until it runs out, no node writes again.
    if (lease === undefined) this.#isDirty = true
    else await this.#write()
  }

  async #write(): Promise<void> {
    const { auditLog, clock } = this.#ports
    await whileReplaced(() => this.#writeEnds())
    if (this.#isRecorded || this.#known === undefined || this.#problem !== undefined) return
    if (!(await auditLog.has(CREATED)))
      await auditLog.record({
        actor: 'startup',
        action: CREATED,
        subject: 'anchor',
        detail: this.#ports.file.path,
        atMs: clock.now(),
      })
    this.#isRecorded = true
  }

  async #writeEnds(): Promise<void> {
    if (!this.#isCompared) await this.#compare()
    const ends = await this.#ports.chains.ends()
    // A database that lost commits while this node runs must not replace the anchor that shows it.
    if (this.#known !== undefined) await this.#check(this.#known, ends)
    if (this.#problem !== undefined || ends.length === 0 || isSameAnchor(this.#known, ends)) return
    await this.#replace(ends)
  }

  /** Writes a new anchor, whatever is there. */
  async #overwrite(): Promise<void> {
    await this.#ports.file.read().catch(unlessReadable)
    const ends = await this.#ports.chains.ends()
    if (ends.length > 0) await this.#replace(ends)
    this.#isCompared = true
  }

  async #replace(ends: Anchor): Promise<void> {
    // After a failure it is not known what is there.
    this.#isCompared = false
    await this.#ports.file.write(ends)
    this.#known = ends
    this.#isCompared = true
  }

  /** Reads the anchor and compares the books with it. */
  async #compare(): Promise<void> {
    const { file, chains, auditLog } = this.#ports
    this.#isCompared = false
    this.#isRecorded = await auditLog.has(CREATED)
    try {
      this.#known = await file.read()
    } catch (error) {
      if (!(error instanceof NotAnAnchorError)) throw error
      this.#known = undefined
      this.#isCompared = true
      return this.#found(`it cannot be read: ${error.message}`)
    }
    // Read after the anchor: the books of running nodes are never behind it.
    await this.#check(this.#known, await chains.ends())
    this.#isCompared = true
  }

  async #check(anchor: Anchor | undefined, ends: Anchor): Promise<void> {
    const named = anchor?.filter(
      ({ node, hash }) => !ends.some(end => end.node === node && end.hash === hash),
    )
    const hashesAtAnchor = new Map([
      ...ends.map(({ node, hash }) => [node, hash] as const),
      ...(await hashesAt(named ?? [], this.#ports.chains)),
    ])
    this.#found(anchorProblem(anchor, { ends, hashesAtAnchor, wasAnchored: this.#isRecorded }))
  }

  #found(problem: string | undefined): void {
    const { file, onFailed } = this.#ports
    const found = problem && `The anchor ${file.path} does not match the books: ${problem}.`
    if (found !== undefined && found !== this.#problem) onFailed(new Error(found))
    this.#problem = found
  }
}

/** Works again if another node was faster: it then compares the books with what that one wrote. */
async function whileReplaced(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AnchorReplacedError) || tries === TRIES) throw error
    }
  }
}

function unlessReadable(error: unknown): undefined {
  if (!(error instanceof NotAnAnchorError)) throw error
}
