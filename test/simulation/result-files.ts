import type { Bytes } from '../../src/domain/bytes.ts'
import type { MediaOutput } from '../../src/gateway/ports/providers/media-provider.ts'
import type {
  FetchOutcome,
  FetchTerms,
  UntrustedFetch,
} from '../../src/gateway/ports/providers/untrusted-fetch.ts'
import type { Gate } from './gate.ts'
import { Pieces } from './memory-blobs.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** How a result can be downloaded. */
type Availability =
  | { readonly kind: 'always' | 'never' | 'refused' }
  /** The first downloads fail: without an answer, half-way, or with a page or nothing in place of the file. */
  | { readonly kind: 'flaky' | 'cut' | 'html' | 'empty'; failures: number }
  | { readonly kind: 'expires'; readonly atMs: number }

export type ResultFile = {
  readonly bytes: Bytes
  readonly availability: Availability
}

const FAILURES_MAX = 6
const PAGE = new TextEncoder().encode('<html>Bad gateway</html>')

/** The files that providers and customers offer by links. */
export class ResultFiles {
  readonly #files = new Map<string, ResultFile>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Offers a file from `fromMs` on, and returns its link. */
  offer(bytes: Bytes, { fromMs, random }: { readonly fromMs: number; readonly random: Random }) {
    const url = `https://results.example/${this.#files.size}`
    const { upstreamFaults } = this.#world.plan.chaos
    const availability = random.chance(upstreamFaults)
      ? troubled(random, fromMs)
      : ({ kind: 'always' } as const)
    this.#files.set(url, { bytes, availability })
    return url
  }

  find(url: string): ResultFile {
    const file = this.#files.get(url)
    if (file === undefined) throw new Error(`No provider offers ${url}.`)
    return file
  }

  bytesOf(output: MediaOutput): Bytes {
    if (output.from === 'lost') throw new Error('A lost result has no bytes.')
    return output.from === 'bytes' ? output.bytes : this.find(output.url).bytes
  }

  /** The fetcher of one node. */
  fetcher(gate: Gate): UntrustedFetch {
    return (url, terms) => this.#fetch(url, terms, gate)
  }

  async #fetch(url: string, { timeoutMs }: FetchTerms, gate: Gate): Promise<FetchOutcome> {
    await gate.network('fetch')
    const file = this.#files.get(url)
    // The link of an input, which no provider offers. The gateway passes it on.
    if (file === undefined) return this.#failed('the server answered 404', true)
    const { bytes, availability } = file
    switch (availability.kind) {
      case 'never':
        return this.#failed('the server answered 404', true)
      case 'refused':
        this.#world.faults.count('result link refused')
        return { outcome: 'refused', problem: 'the address is private' }
      case 'expires':
        if (gate.nowMs < availability.atMs) break
        return this.#failed('the server answered 410', true)
      case 'flaky':
        if (!this.#failsNow(availability)) break
        if (this.#world.random.chance(0.2)) await gate.sleep(timeoutMs)
        return this.#failed('the server did not answer', false)
      case 'cut':
        if (!this.#failsNow(availability)) break
        return opened(new CutBody(bytes, gate), bytes)
      case 'html':
      case 'empty': {
        if (!this.#failsNow(availability)) break
        this.#world.faults.count(`result link gives ${availability.kind}`)
        const body = availability.kind === 'html' ? PAGE : new Uint8Array()
        return opened(new WholeBody(body, gate), body, 'text/html')
      }
      case 'always':
        break
    }
    return opened(new WholeBody(bytes, gate), bytes)
  }

  #failsNow(availability: { failures: number }): boolean {
    if (this.#world.isCalm || availability.failures === 0) return false
    availability.failures -= 1
    return true
  }

  #failed(problem: string, isPermanent: boolean): FetchOutcome {
    this.#world.faults.count(isPermanent ? 'result gone' : 'download failed')
    return { outcome: 'failed', problem, isPermanent }
  }
}

function troubled(random: Random, fromMs: number): Availability {
  const kind = random.weighted({ flaky: 5, cut: 3, html: 1, empty: 1, never: 1, refused: 1, expires: 1 })
  if (kind === 'expires') return { kind, atMs: fromMs + random.magnitude(60_000, 3_600_000) }
  if (kind === 'never' || kind === 'refused') return { kind }
  return { kind, failures: random.integer(1, FAILURES_MAX) }
}

function opened(body: WholeBody, bytes: Uint8Array, contentType = 'application/octet-stream'): FetchOutcome {
  return { outcome: 'opened', contentType, bytes: bytes.length, body }
}

class WholeBody extends Pieces {
  failure: { readonly problem: string; readonly isPermanent: boolean } | undefined
  readonly #gate: Gate

  constructor(bytes: Bytes, gate: Gate) {
    super(bytes)
    this.#gate = gate
  }

  override async read() {
    await this.#gate.network('fetch piece')
    return super.read()
  }
}

/** Ends before its last byte. */
class CutBody extends WholeBody {
  constructor(bytes: Bytes, gate: Gate) {
    super(bytes.slice(0, Math.floor(bytes.length / 2)), gate)
  }

  override async read() {
    const piece = await super.read()
    if (piece === undefined) this.failure = { problem: 'the connection was cut', isPermanent: false }
    return piece
  }
}
