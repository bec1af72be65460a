import { isLater, type BookChecks, type StoredCheck } from '../ports/ledger/book-checks.ts'
import { pause, type Clock } from '../ports/clock.ts'
import type { Lease, Leases } from '../ports/nodes/leases.ts'
import { affectsNothing, type Verification } from '../ports/ledger/ledger.ts'
import { openProblems, type BooksGuard } from './books-guard.ts'

/** The lease of the node that checks. */
const LEASE = 'check of the books'
/** If a node dies during a check, the others wait this long. */
const LEASE_MS = 60_000
/** A check can take many minutes. Two renewals can fail before another node checks, too. */
const RENEW_EVERY_MS = 20_000

type Ports = {
  readonly checks: BookChecks
  readonly leases: Leases
  readonly guard: Pick<BooksGuard, 'noteStoredCheck'>
  readonly clock: Clock
}

type Noted = Pick<StoredCheck, 'number' | 'fullNumber' | 'fullEndedAtMs'>

/**
 * One check of the books for all nodes of a store. The node whose turn it is checks and stores the result. The guards
 * of all nodes have the stored result of the check that began last, whichever node made it.
 */
export class SharedChecks {
  readonly #ports: Ports
  /** The check whose result the guard has. */
  #noted: Noted = { number: 0, fullNumber: 0, fullEndedAtMs: 0 }
  #adopted: StoredCheck | undefined
  #turn: { readonly end: () => void; readonly ended: Promise<void> } | undefined
  #onAdopted: (check: StoredCheck) => void = () => undefined

  constructor(ports: Ports) {
    this.#ports = ports
    ports.checks.onStored(check => this.#adopt(check))
  }

  /** Calls `listener` with each result of another process that the guard got, and with the last one at once. */
  onAdopted(listener: (check: StoredCheck) => void): void {
    this.#onAdopted = listener
    if (this.#adopted !== undefined) listener(this.#adopted)
  }

  /**
   * Begins a check, whether this node has the turn or not. `end` gives its result to the guard of this node, and stores
   * it for the others. If another result stays stored, the guard gets that one.
   */
  async begin(): Promise<{ readonly end: (verification: Verification) => Promise<void> }> {
    const { checks, clock } = this.#ports
    const { number, lastNumber, ...stored } = await checks.begin()
    // This node may know a full check whose result could not be stored, or that the database lost in a failover.
    const full = this.#noted.fullNumber > stored.fullNumber ? this.#noted : stored
    return {
      end: async ({ entries, affected, problems, isRecent }) => {
        const fullNumber = isRecent ? full.fullNumber : number
        const check = { number, fullNumber, entries, affected, openProblems: openProblems(problems).length }
        const endedAtMs = clock.now()
        const before = this.#noted
        const forget = () => {
          if (this.#noted.number === number) this.#noted = before
        }
        // If it cannot be stored, this node stops what is wrong all the same.
        this.#note({ ...check, endedAtMs, fullEndedAtMs: isRecent ? full.fullEndedAtMs : endedAtMs })
        const isStored = await checks.store({ ...check, lastNumber }).catch((error: unknown) => {
          // The other nodes do not know it. What they find counts here, too, but does not hide what this check found.
          if (affectsNothing(affected)) forget()
          throw error
        })
        if (isStored) return
        forget()
        await this.adoptLast()
      },
    }
  }

  /** Gives the guard the stored result, and returns it. Undefined before any check has ended. */
  async adoptLast(): Promise<StoredCheck | undefined> {
    const last = await this.#ports.checks.last()
    if (last !== undefined) this.#adopt(last)
    return last
  }

  /** Takes the turn to check, and keeps it until `endTurn`. False while another node has it. */
  async takeTurn(): Promise<boolean> {
    const lease = await this.#ports.leases.take(LEASE, LEASE_MS)
    if (lease === undefined) return false
    const ending = new AbortController()
    this.#turn = { end: () => ending.abort(), ended: this.#keep(lease, ending.signal) }
    return true
  }

  /** Lets another node have the turn. Repeating it changes nothing. */
  async endTurn(): Promise<void> {
    this.#turn?.end()
    await this.#turn?.ended
  }

  /** A lease that cannot be renewed or released runs out. */
  async #keep(lease: Lease, ending: AbortSignal): Promise<void> {
    while (await pause(this.#ports.clock, RENEW_EVERY_MS, ending))
      await lease.renew(LEASE_MS).catch(() => undefined)
    await lease.release().catch(() => undefined)
  }

  #adopt(check: StoredCheck): void {
    if (!this.#note(check)) return
    this.#adopted = check
    this.#onAdopted(check)
  }

  /** False if the guard has this result already, or a later one. */
  #note(check: StoredCheck): boolean {
    if (!isLater(check, this.#noted)) return false
    this.#noted = check
    this.#ports.guard.noteStoredCheck(check)
    return true
  }
}
