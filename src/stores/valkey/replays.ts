import type { Clock } from '../../gateway/ports/clock.ts'
import type { KeptAnswer, Replays } from '../../gateway/ports/requests/replays.ts'
import type { CacheClient } from './client.ts'
import { SEAL_BYTES, type sealedEntries } from './sealed-entry.ts'

/** The largest sealed answer: 256 KB, which the gateway keeps at most, and its head. */
export const VALUE_BYTES_MAX = 260 * 1024

/** The instant at which the answer expires, and the length of its head. */
const FRONT_BYTES = 12
const HEAD_LENGTH_AT = 8

/** The parts of an answer besides its body. JSON has no 64-bit integers, so the halves of the id are texts. */
type Head = {
  readonly id: readonly [string, string]
  readonly user?: string
  readonly type: string
  readonly model: string
}

/**
 * Keeps answers in a server that several nodes share. The server ends their time, and the sealed value has its end too:
 * someone who can write into the server could put back an older value.
 */
export function valkeyReplays(
  parts: {
    readonly client: CacheClient
    readonly entries: ReturnType<typeof sealedEntries>
    readonly clock: Clock
    readonly onRejected: () => void
  },
  { ttlMs }: { readonly ttlMs: number },
): Replays {
  const { client, entries, clock, onRejected } = parts
  return {
    async find(fingerprint) {
      const entry = entries('answer', fingerprint)
      const [found] = (await client.call([['GET', entry.name]])) ?? [null]
      if (found === null) return undefined
      const value = found instanceof Uint8Array ? entry.open(found) : undefined
      if (value === undefined) {
        onRejected()
        return undefined
      }
      const { answer, expiresAtMs } = readAnswer(value)
      return clock.now() < expiresAtMs ? answer : undefined
    },
    async keep(fingerprint, answer) {
      const front = writeFront(answer, clock.now() + ttlMs)
      const length =
        front.reduce((sum, part) => sum + part.length, SEAL_BYTES) + Buffer.byteLength(answer.body)
      if (length > VALUE_BYTES_MAX) return
      const entry = entries('answer', fingerprint)
      await client.call([['SET', entry.name, entry.seal([...front, answer.body]), 'PX', String(ttlMs)]])
    },
  }
}

function writeFront({ first, contentType, model }: KeptAnswer, expiresAtMs: number): readonly Uint8Array[] {
  const head: Head = {
    id: [String(first.id.key), String(first.id.tail)],
    ...(first.userId !== undefined && { user: first.userId }),
    type: contentType,
    model,
  }
  const text = Buffer.from(JSON.stringify(head))
  const numbers = new DataView(new ArrayBuffer(FRONT_BYTES))
  numbers.setFloat64(0, expiresAtMs)
  numbers.setUint32(HEAD_LENGTH_AT, text.length)
  return [new Uint8Array(numbers.buffer), text]
}

/** Only values that we sealed get here, so they have the form that `writeFront` gives them. */
function readAnswer(value: Uint8Array): { readonly answer: KeptAnswer; readonly expiresAtMs: number } {
  const numbers = new DataView(value.buffer, value.byteOffset)
  const bodyAt = FRONT_BYTES + numbers.getUint32(HEAD_LENGTH_AT)
  const text = new TextDecoder().decode(value.subarray(FRONT_BYTES, bodyAt))
  const { id, user, type, model } = JSON.parse(text) as Head
  return {
    answer: {
      first: { id: { key: BigInt(id[0]), tail: BigInt(id[1]) }, ...(user !== undefined && { userId: user }) },
      contentType: type,
      model,
      body: new Uint8Array(value.subarray(bodyAt)),
    },
    expiresAtMs: numbers.getFloat64(0),
  }
}
