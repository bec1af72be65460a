import type { Process, Scheduler } from './scheduler.ts'
import type { Random } from './random.ts'

/** Where calls of one process wait for their turns. */
export class Gate {
  readonly process: Process
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #slowCalls: number

  constructor(
    process: Process,
    parts: { readonly scheduler: Scheduler; readonly random: Random; readonly slowCalls: number },
  ) {
    this.process = process
    this.#scheduler = parts.scheduler
    this.#random = parts.random
    this.#slowCalls = parts.slowCalls
  }

  /** The next turn of a call to the store or the disk: a millisecond or two, and sometimes many seconds. */
  store(label: string, isWrite = false): Promise<void> {
    const isSlow = this.#random.chance(this.#slowCalls)
    const latencyMs = isSlow ? this.#random.magnitude(10, 20_000) : this.#random.integer(0, 2)
    return this.#scheduler.turn(this.process, label, { latencyMs, isWrite })
  }

  /** The next turn of a call over a network. */
  network(label: string): Promise<void> {
    const isSlow = this.#random.chance(this.#slowCalls)
    const latencyMs = isSlow ? this.#random.magnitude(1000, 25_000) : this.#random.magnitude(5, 1000)
    return this.#scheduler.turn(this.process, label, { latencyMs })
  }

  sleep(forMs: number): Promise<void> {
    return this.#scheduler.pause(this.process, forMs)
  }

  /** Does work of the store within the turn that it has. */
  work<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#scheduler.work(work)
  }

  get nowMs(): number {
    return this.#scheduler.nowMs
  }
}

/**
 * A port whose calls wait for a turn before they are carried out, and writes also before they are answered: a process
 * can be killed on either side. `direct` members are not calls.
 */
export function gated<Port extends object>(
  port: Port,
  name: string,
  gate: Gate,
  members: { readonly reads: readonly (keyof Port)[]; readonly direct?: readonly (keyof Port)[] },
): Port {
  const { reads, direct = [] } = members
  const call = async (label: string, isWrite: boolean, work: () => Promise<unknown>): Promise<unknown> => {
    await gate.store(label, isWrite)
    const [outcome] = await gate.work(() => Promise.allSettled([work()]))
    if (isWrite) await gate.store(`${label} answered`)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
  return new Proxy(port, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property)
      if (typeof member !== 'function') return member
      if (direct.includes(property as keyof Port)) return member.bind(target)
      const isWrite = !reads.includes(property as keyof Port)
      return (...given: unknown[]) =>
        call(`${name}.${String(property)}`, isWrite, async () => member.apply(target, given))
    },
  })
}
