import { GatewayError } from '../../../domain/errors.ts'
import { clientNetwork } from '../../../domain/ip-address.ts'
import type { Clock } from '../../ports/clock.ts'

/** How failed tries of one kind of key slow down further ones. */
type Pace = {
  /** So many tries may fail without a wait. */
  readonly free: number
  readonly waitMsMax: number
}

const PACES = {
  // Short, because others can make a user wait. With 12 characters, 300 tries a day find nothing.
  user: { free: 5, waitMsMax: 300_000 },
  // Several people can have one address. An IPv6 address counts as its /64 network.
  address: { free: 20, waitMsMax: 900_000 },
} as const satisfies Record<string, Pace>

const WAIT_MS_MIN = 1000
const MS_PER_S = 1000
/** Failed tries count until this long after the latest one. */
const FORGET_MS = 3_600_000
/** More keys take the place of those that were tried the longest ago. */
const KEYS_MAX = 20_000

type Tries = { readonly count: number; readonly latestMs: number }

/** Who tries to sign in. Neither has to exist. */
export type Trier = { readonly user: string; readonly address: string }

/**
 * Slows down the guessing of passwords and codes. After some failed tries for a user or from an address, each further
 * one must wait, and the wait doubles up to a few minutes. A refused try does not count, so nobody is locked out for
 * good. Each gateway counts for itself, in memory.
 */
export class SignInPace {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #tries: Readonly<Record<keyof typeof PACES, Map<string, Tries>>> = {
    user: new Map(),
    address: new Map(),
  }

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /**
   * Counts a try as failed, before it is known, so that many at once are slowed down too. Throws `too_many_tries` with
   * the time to wait.
   */
  begin({ user, address }: Trier): void {
    const network = clientNetwork(address)
    const waitMs = Math.max(this.#waitMs('user', user), this.#waitMs('address', network))
    if (waitMs > 0) throw tooManyTries(waitMs)
    this.#count('user', user, 1)
    this.#count('address', network, 1)
  }

  /** Takes back a try that did not fail, and did not succeed either. Failed tries before it still count. */
  undo({ user, address }: Trier): void {
    this.#count('user', user, -1)
    this.#count('address', clientNetwork(address), -1)
  }

  /** Forgets the failed tries of the user. Those from the address still count, because it may be an attacker's. */
  succeeded({ user, address }: Trier): void {
    this.#tries.user.delete(user)
    this.#count('address', clientNetwork(address), -1)
  }

  #waitMs(kind: keyof typeof PACES, key: string): number {
    const tries = this.#current(kind, key)
    const { free, waitMsMax } = PACES[kind]
    if (tries === undefined || tries.count < free) return 0
    const waitMs = Math.min(waitMsMax, WAIT_MS_MIN * 2 ** (tries.count - free))
    return tries.latestMs + waitMs - this.#clock.monotonicMs()
  }

  #current(kind: keyof typeof PACES, key: string): Tries | undefined {
    const tries = this.#tries[kind].get(key)
    return tries !== undefined && this.#clock.monotonicMs() < tries.latestMs + FORGET_MS ? tries : undefined
  }

  #count(kind: keyof typeof PACES, key: string, by: 1 | -1): void {
    const all = this.#tries[kind]
    const count = (this.#current(kind, key)?.count ?? 0) + by
    // The latest are last.
    all.delete(key)
    if (count > 0) all.set(key, { count, latestMs: this.#clock.monotonicMs() })
    const [oldest] = all.keys()
    if (all.size > KEYS_MAX && oldest !== undefined) all.delete(oldest)
  }
}

function tooManyTries(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / MS_PER_S)
  const retryAfter = String(seconds)
  return new GatewayError(
    'too_many_tries',
    `Too many tries to sign in failed. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, or ask for a new link.`,
    { retryAfter, shouldRetry: false },
  )
}
