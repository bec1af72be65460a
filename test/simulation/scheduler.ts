import { pause } from '../../src/gateway/ports/clock.ts'
import { turn as eventLoopTurn } from '../support/turn.ts'
import type { Random } from './random.ts'

/**
 * Code that is killed or paused as a whole, such as a node. What runs in no node belongs to a process that lives on.
 */
export class Process {
  readonly name: string
  /** Infinity while it lives. */
  diedAtMs = Infinity
  /** Nothing of it goes on before this instant: its machine is suspended. */
  pausedUntilMs = 0
  readonly #death = Promise.withResolvers<void>()

  constructor(name: string) {
    this.name = name
  }

  /** Resolves when the process is killed. */
  get death(): Promise<void> {
    return this.#death.promise
  }

  get isDead(): boolean {
    return this.diedAtMs !== Infinity
  }

  die(atMs: number): void {
    this.diedAtMs = atMs
    this.#death.resolve()
  }
}

/** Something that waits for its turn: a call of a port, or a timer. */
export type Turn = {
  readonly process: Process
  readonly label: string
  readonly atMs: number
  readonly kind: 'call' | 'timer'
  /** Whether it may share a commit with others that wait. */
  readonly isWrite: boolean
  readonly run: () => void
}

export type SchedulerSettings = {
  readonly random: Random
  readonly startMs: number
  /** How often a call goes before others that have waited longer. */
  readonly disorder: number
  /** How often several writes go at once, so that they share a commit. */
  readonly batching: number
  /** Called before each turn. False where the turn is not taken: its process has just died. */
  readonly interfere: (turn: Turn) => boolean
  readonly onStep?: (turn: Turn, nowMs: number) => void
}

const OVERTAKES_MS = 10_000
const BATCH_MAX = 6
/** A run of this length does not end by itself. */
const STEPS_MAX = 400_000

/**
 * Runs asynchronous code one step at a time, on a clock of its own. A step takes one turn, and lasts until all code
 * that it set off waits for a turn again. The same seed gives the same steps.
 */
export class Scheduler {
  nowMs: number
  steps = 0
  /** A number that depends on every step so far. */
  digest = 0n
  readonly #settings: SchedulerSettings
  readonly #waiting = new Set<Turn>()
  #working = 0

  constructor(settings: SchedulerSettings) {
    this.#settings = settings
    this.nowMs = settings.startMs
  }

  /** Resolves when the process has its next turn, about `latencyMs` from now; never if it is killed before. */
  turn(
    process: Process,
    label: string,
    { latencyMs, isWrite = false }: { readonly latencyMs: number; readonly isWrite?: boolean },
  ): Promise<void> {
    return new Promise(resolve => {
      this.#add({ process, label, atMs: this.nowMs + latencyMs, kind: 'call', isWrite, run: resolve })
    })
  }

  /** Calls `then` when the time has come, unless the process is killed or the returned function is called before. */
  after(process: Process, delayMs: number, then: () => void): () => void {
    const atMs = this.nowMs + Math.ceil(delayMs)
    const turn: Turn = { process, label: 'timer', atMs, kind: 'timer', isWrite: false, run: then }
    this.#add(turn)
    return () => void this.#waiting.delete(turn)
  }

  /** Waits. Never resolves if the process is killed before. */
  async pause(process: Process, delayMs: number): Promise<void> {
    await pause({ after: (waitMs, then) => this.after(process, waitMs, then) }, delayMs)
  }

  /** Does work that takes real turns of the event loop, within the current step. */
  async work<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#working += 1
    try {
      return await work()
    } finally {
      this.#working -= 1
    }
  }

  /** Ends a process: nothing of it ever goes on. */
  kill(process: Process): void {
    process.die(this.nowMs)
    for (const turn of this.#waiting) if (turn.process === process) this.#waiting.delete(turn)
  }

  /** Takes steps until `isOver`. Throws an Error where nothing is left to do before that. */
  async run(isOver: () => boolean): Promise<void> {
    await this.#settle()
    while (!isOver()) {
      if (this.steps >= STEPS_MAX) throw new Error(`The run did not end within ${STEPS_MAX} steps.`)
      const first = this.#next()
      if (first === undefined) throw new Error('Nothing is left to do, and the run is not over.')
      for (const turn of [first, ...this.#companions(first)]) this.#take(turn)
      await this.#settle()
    }
  }

  #add(turn: Turn): void {
    // A process that died in the middle of a step has no more turns.
    if (!turn.process.isDead) this.#waiting.add(turn)
  }

  #take(turn: Turn): void {
    if (!this.#waiting.delete(turn) || !this.#settings.interfere(turn)) return
    this.steps += 1
    this.digest = Bun.hash.wyhash(`${this.nowMs} ${turn.process.name} ${turn.label}`, this.digest)
    this.#settings.onStep?.(turn, this.nowMs)
    turn.run()
  }

  /** Lets the time pass until the turn that is due first; sometimes lets a call overtake it at once. */
  #next(): Turn | undefined {
    const { random, disorder } = this.#settings
    if (random.chance(disorder)) {
      const calls = this.#soon().filter(({ kind }) => kind === 'call')
      if (calls.length > 0) return random.pick(calls)
    }
    let first: Turn | undefined
    for (const turn of this.#waiting) if (first === undefined || startOf(turn) < startOf(first)) first = turn
    if (first !== undefined) this.nowMs = Math.max(this.nowMs, startOf(first))
    return first
  }

  /** Other writes that go in the same step. */
  #companions(first: Turn): readonly Turn[] {
    const { random, batching } = this.#settings
    if (!first.isWrite || !random.chance(batching)) return []
    const others = this.#soon().filter(turn => turn !== first && turn.isWrite)
    return others.slice(0, BATCH_MAX - 1)
  }

  #soon(): readonly Turn[] {
    return [...this.#waiting].filter(turn => startOf(turn) <= this.nowMs + OVERTAKES_MS)
  }

  /** Until all code waits for a turn. */
  async #settle(): Promise<void> {
    do await eventLoopTurn()
    while (this.#working > 0)
  }
}

function startOf({ atMs, process }: Turn): number {
  return Math.max(atMs, process.pausedUntilMs)
}
