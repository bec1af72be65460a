/**
 * Ids are 128 bits: 48 bits of time in milliseconds, 16 of sequence, 64 of randomness. The two halves are integers,
 * because text keys in a database cost up to twice the CPU. Only the whole id is unique: two nodes can make the same
 * first half.
 */
export type Id = {
  /** The first 64 bits. Positive, and growing with time within one source. */
  readonly key: bigint
  /** The last 64 bits as a signed integer, as stores keep it. */
  readonly tail: bigint
}

export type IdPrefix =
  | 'req'
  | 'acct'
  | 'proj'
  | 'key'
  | 'hold'
  | 'img'
  | 'vid'
  | 'op'
  | 'tok'
  | 'usr'
  | 'ses'
  | 'whk'
  | 'evt'
  | 'msg'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const DIGITS = 26
const SEQUENCE_BITS = 16n
const HALF = 64n
const digitCodes = Uint8Array.from(BASE32, digit => digit.charCodeAt(0))
const words = new DataView(new ArrayBuffer(16))
const digits = new Uint8Array(DIGITS)
const ascii = new TextDecoder('latin1')

/** The whole id as one number, to compare ids and to key maps by them. */
export function idNumber({ key, tail }: Id): bigint {
  return (key << HALF) | BigInt.asUintN(64, tail)
}

/** The public form: the prefix, an underscore and 26 base32 digits. Public forms sort like their ids. */
export function formatId(prefix: IdPrefix, id: Id): string {
  words.setBigInt64(0, id.key)
  words.setBigInt64(8, id.tail)
  // 26 digits have 130 bits, so two zero bits come first. Small integers are fast, and every reply needs an id.
  let at = 0
  let pending = 0
  let pendingBits = 2
  for (let byte = 0; byte < words.byteLength; byte += 1) {
    pending = (pending << 8) | words.getUint8(byte)
    pendingBits += 8
    while (pendingBits >= 5) {
      pendingBits -= 5
      digits[at] = digitCodes[(pending >> pendingBits) & 31] ?? 0
      at += 1
    }
    pending &= 31
  }
  return `${prefix}_${ascii.decode(digits)}`
}

/** The time at which an id was made, in milliseconds. It is late if the source ran ahead of its clock. */
export function idTimeMs({ key }: Id): number {
  return Number(key >> SEQUENCE_BITS)
}

/** Undefined for a text that is not an id with this prefix. */
export function parseId(prefix: IdPrefix, text: string): Id | undefined {
  if (!text.startsWith(`${prefix}_`) || text.length !== prefix.length + 1 + DIGITS) return undefined
  let bits = 0n
  for (const digit of text.slice(prefix.length + 1)) {
    const value = BASE32.indexOf(digit)
    if (value < 0) return undefined
    bits = (bits << 5n) | BigInt(value)
  }
  if (bits >> 127n !== 0n) return undefined
  return { key: bits >> HALF, tail: BigInt.asIntN(64, bits) }
}

/**
 * A source of ids whose keys always grow. If the clock steps back or is behind `after`, or if a millisecond has more
 * than 65,536 ids, keys run ahead of the clock.
 */
export function idSource(ports: {
  /** Wall time in milliseconds. */
  readonly clock: { readonly now: () => number }
  /** 64 random bits as a signed integer. */
  readonly random64: () => bigint
  /** The largest key in the store, so that keys grow across a restart even if the clock was set back. */
  readonly after?: bigint
}): () => Id {
  let last = ports.after ?? 0n
  return () => {
    const first = BigInt(ports.clock.now()) << SEQUENCE_BITS
    last = first > last ? first : last + 1n
    return { key: last, tail: ports.random64() }
  }
}
