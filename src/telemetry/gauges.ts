import { Gauge, type Registry } from 'prom-client'
import type { HoldKind } from '../domain/ledger/books.ts'
import type { NanoUsd } from '../domain/money.ts'
import { dollars } from './dollars.ts'

/** Read when the metrics are. */
export type Gauges = {
  readonly held: (kind: HoldKind) => NanoUsd
  readonly waiting: () => number
  readonly lateCalls: () => number
  readonly openCircuits: () => number
  readonly replayBytes: () => number
}

/** What is the case at the moment of reading. */
export function registerGauges(gauges: Gauges, registry: Registry): void {
  const registers = [registry]
  const held = new Gauge({
    name: 'tollgate_held_usd',
    help: 'Dollars in open holds, by kind of work.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.set({ kind: 'text' }, dollars(gauges.held('text')))
      this.set({ kind: 'media' }, dollars(gauges.held('media')))
    },
  })
  const waiting = new Gauge({
    name: 'tollgate_hold_waiters',
    help: 'Requests that wait for money held by others.',
    registers,
    collect() {
      this.set(gauges.waiting())
    },
  })
  const replayBytes = new Gauge({
    name: 'tollgate_replay_bytes',
    help: 'Memory of answers kept for replays and of copies of running streams.',
    registers,
    collect() {
      this.set(gauges.replayBytes())
    },
  })
  const lateCalls = new Gauge({
    name: 'tollgate_late_calls',
    help: 'Upstream calls that go on although their client got a 504.',
    registers,
    collect() {
      this.set(gauges.lateCalls())
    },
  })
  const openCircuits = new Gauge({
    name: 'tollgate_open_circuit_breakers',
    help: 'Upstreams that failed again and again, and are left alone for a while.',
    registers,
    collect() {
      this.set(gauges.openCircuits())
    },
  })
  void [held, waiting, replayBytes, lateCalls, openCircuits]
}
