import type { Clock } from '../../gateway/ports/clock.ts'
import type { Fingerprint } from '../../gateway/ports/requests/replays.ts'
import type { Flight, Flights } from '../../gateway/ports/requests/shared-cache.ts'
import type { CacheClient } from './client.ts'
import type { SealedEntry, sealedEntries } from './sealed-entry.ts'

/** How long a flight lasts after its node died. Identical requests on other nodes wait that long. */
const FLIGHT_MS = 5000
/** Two renewals may fail before the flight ends. */
const RENEW_EVERY_MS = 1500
/** How long other nodes are told that there is no answer. Longer than a waiting request looks the other way. */
const NOT_KEPT_MS = 2000

const RUNNING = 0
const NOT_KEPT = 1
type State = typeof RUNNING | typeof NOT_KEPT

/**
 * Writes a flight if it is still ours: the sealed value that was written last is the owner's proof, because no two
 * sealed values are equal. Without a new value, it removes the flight.
 */
const REPLACE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/** A flight that no other node sees. */
const UNSEEN: Flight = { land: () => Promise.resolve() }

type Parts = {
  readonly client: CacheClient
  readonly entries: ReturnType<typeof sealedEntries>
  readonly clock: Clock
  readonly onRejected: () => void
}

/**
 * Flights in a server that several nodes share. A flight says until when it is valid, like an answer, and for the same
 * reason.
 */
export class ValkeyFlights implements Flights {
  readonly #parts: Parts
  readonly #running = new Set<RenewedFlight>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async begin(fingerprint: Fingerprint): Promise<Flight | undefined> {
    const { client, entries, clock, onRejected } = this.#parts
    const entry = entries('flight', fingerprint)
    const value = flightValue(entry, RUNNING, clock.now() + FLIGHT_MS)
    const replies = await client.call([
      ['SET', entry.name, value, 'NX', 'PX', String(FLIGHT_MS)],
      ['GET', entry.name],
    ])
    const [registered, found = null] = replies ?? []
    if (registered === 'OK') return this.#renew(entry, value)
    // It ended in between, or nothing is known.
    if (found === null) return UNSEEN
    const other = found instanceof Uint8Array ? readFlight(entry, found) : undefined
    if (other === undefined) onRejected()
    return other?.state === RUNNING && clock.now() < other.expiresAtMs ? undefined : UNSEEN
  }

  /** Ends the renewals. */
  close(): void {
    for (const flight of this.#running) flight.stop()
    this.#running.clear()
  }

  #renew(entry: SealedEntry, value: Uint8Array): Flight {
    const flight = new RenewedFlight(entry, value, this.#parts)
    this.#running.add(flight)
    flight.start()
    return {
      land: outcome => {
        this.#running.delete(flight)
        return flight.land(outcome)
      },
    }
  }
}

class RenewedFlight {
  readonly #entry: SealedEntry
  readonly #client: CacheClient
  readonly #clock: Clock
  /** The text that this node wrote last. */
  #value: Uint8Array
  #stopTimer: () => void = () => undefined
  #hasEnded = false

  constructor(entry: SealedEntry, value: Uint8Array, { client, clock }: Parts) {
    this.#entry = entry
    this.#value = value
    this.#client = client
    this.#clock = clock
  }

  start(): void {
    this.#stopTimer = this.#clock.after(RENEW_EVERY_MS, () => void this.#renew())
  }

  stop(): void {
    this.#hasEnded = true
    this.#stopTimer()
  }

  async land(outcome: 'kept' | 'not_kept'): Promise<void> {
    if (this.#hasEnded) return
    this.stop()
    await (outcome === 'kept' ? this.#replace('', 0) : this.#write(NOT_KEPT, NOT_KEPT_MS))
  }

  async #renew(): Promise<void> {
    const isOurs = await this.#write(RUNNING, FLIGHT_MS)
    if (isOurs && !this.#hasEnded) this.start()
  }

  /** Commands are answered in their order, so a landing during a renewal compares with the renewed value. */
  async #write(state: State, ttlMs: number): Promise<boolean> {
    const before = this.#value
    const value = flightValue(this.#entry, state, this.#clock.now() + ttlMs)
    const replacing = this.#replace(value, ttlMs)
    this.#value = value
    const isOurs = await replacing
    // Most calls that fail were not sent.
    if (isOurs === undefined && this.#value === value) this.#value = before
    return isOurs !== false
  }

  /** Whether the flight is still ours; undefined if that is not known. */
  async #replace(value: Uint8Array | '', ttlMs: number): Promise<boolean | undefined> {
    const command = ['EVAL', REPLACE, '1', this.#entry.name, this.#value, value, String(ttlMs)]
    const replies = await this.#client.call([command])
    return replies && replies[0] === 1
  }
}

function flightValue(entry: SealedEntry, state: State, expiresAtMs: number): Uint8Array {
  const content = new DataView(new ArrayBuffer(9))
  content.setFloat64(0, expiresAtMs)
  content.setUint8(8, state)
  return entry.seal([new Uint8Array(content.buffer)])
}

function readFlight(
  entry: SealedEntry,
  sealed: Uint8Array,
): { readonly state: number; readonly expiresAtMs: number } | undefined {
  const value = entry.open(sealed)
  if (value === undefined) return undefined
  const content = new DataView(value.buffer, value.byteOffset)
  return { expiresAtMs: content.getFloat64(0), state: content.getUint8(8) }
}
