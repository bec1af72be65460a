import { hasEnded } from '../../src/domain/accounts/key-secrets.ts'
import type { Bytes } from '../../src/domain/bytes.ts'
import { GatewayError } from '../../src/domain/errors.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { SimulatedNode } from './node.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** The text of a secret. `isSure` is true when a rotation has answered with it. */
type Secret = { readonly hash: Bytes; readonly prefix: string; isSure: boolean }

const MINUTE = 60_000
/** A rotation between two tries of a client can end the secret that it has not tried yet. */
const TRIES = 3

/**
 * The secrets of the keys of customers, which operators rotate. Whatever they do, one secret of a key works, and each
 * of them stands for the same key: so its limits, spend and replays stay.
 */
export class KeySecrets {
  readonly #world: World
  /** By the id of the key, oldest first. Ended ones stay. */
  readonly #secrets = new Map<string, Secret[]>()
  #made = 0

  constructor(world: World) {
    this.#world = world
  }

  add({ apiKey }: Authenticated, hash: Bytes, prefix: string): void {
    this.#secrets.set(apiKey.publicId, [{ hash, prefix, isSure: true }])
  }

  /** A client that has one of the secrets, and looks for another if that has ended. Undefined if it finds none. */
  async admit(
    caller: Authenticated,
    node: SimulatedNode,
    random: Random,
  ): Promise<Authenticated | undefined> {
    const { name } = caller.account
    for (let left = TRIES; left > 0; left -= 1) {
      const first = random.pick(this.#of(caller))
      for (const secret of [first, ...this.#of(caller).toReversed()]) {
        const wasSure = secret.isSure
        const found = await node.apiKeys.authenticate(secret.hash.toBase64())
        if (found === undefined && wasSure) this.#world.violated(`a secret of ${name} is unknown`)
        if (found === undefined) continue
        if (found.apiKey.id !== caller.apiKey.id)
          this.#world.violated(`a secret of ${name} is of another key`)
        if (!hasEnded(found.secretEnd, node.clock.now())) return found
        this.#world.faults.count('request with an ended secret')
      }
    }
    this.#world.violated(`no secret of ${name} works`)
    return undefined
  }

  /** Gives a key another secret. Its clients can learn it before its rotation is answered. */
  async rotate({ apiKey }: Authenticated, node: SimulatedNode, random: Random): Promise<void> {
    const prefix = `tg_live_${String((this.#made += 1)).padStart(4, '0')}`
    const secret: Secret = { hash: random.bytes(32), prefix, isSure: false }
    this.#secrets.get(apiKey.publicId)?.push(secret)
    const oldEndsAtMs = node.clock.now() + random.pick([0, 1000, MINUTE, 10 * MINUTE])
    const by = { actor: 'operator', atMs: node.clock.now() }
    await node.apiKeys.rotate(apiKey.publicId, { hash: secret.hash, prefix, oldEndsAtMs }, by)
    secret.isSure = true
  }

  /** Ends one of the secrets. If that is the newest, the rotation is taken back. */
  async revoke(caller: Authenticated, node: SimulatedNode, random: Random): Promise<void> {
    const { prefix } = random.pick(this.#of(caller).filter(({ isSure }) => isSure))
    const by = { actor: 'operator', atMs: node.clock.now() }
    await node.apiKeys.revokeSecret(caller.apiKey.publicId, prefix, by)
  }

  #of({ apiKey }: Authenticated): readonly Secret[] {
    return this.#secrets.get(apiKey.publicId) ?? []
  }
}

/** The refusals of an operator who rotates and revokes without looking first. */
export function isSecretRefusal(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === 'rotation_running' || error.code === 'last_secret')
}
