import { GatewayError } from '../domain/errors.ts'
import type { Passwords } from '../gateway/ports/access/sign-in.ts'

/** Argon2id needs 64 MB and a core for each. */
const RUNNING_MAX = 2
/** They wait for about a second. */
const WAITING_MAX = 20
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 65_536, timeCost: 2 } as const

/** Passwords are hashed with argon2id by Bun, outside of the thread that serves requests. */
export function openPasswords(): Passwords {
  const turns = new Turns()
  let dummy: Promise<string> | undefined
  return {
    hash: password => turns.run(() => Bun.password.hash(password, ARGON2ID)),
    async matches(password, hash) {
      // A hash of a password that nobody knows.
      const known = hash ?? (await (dummy ??= Bun.password.hash(crypto.randomUUID(), ARGON2ID)))
      const isSame = await turns.run(() => Bun.password.verify(password, known))
      return isSame && hash !== null
    },
  }
}

/** Runs a few calls at once. The others wait in order. */
class Turns {
  #running = 0
  readonly #waiting: (() => void)[] = []

  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    await this.#turn()
    try {
      return await call()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #turn(): Promise<void> {
    if (this.#running < RUNNING_MAX) {
      this.#running += 1
      return Promise.resolve()
    }
    if (this.#waiting.length >= WAITING_MAX)
      throw new GatewayError('unavailable', 'Too many people sign in at the same time. Try again.', {
        retryAfter: '2',
      })
    return new Promise(resolve => this.#waiting.push(resolve))
  }
}
