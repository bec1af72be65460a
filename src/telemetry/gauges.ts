import { Gauge, type Registry } from 'prom-client'
import type { HoldKind } from '../domain/ledger/books.ts'
import type { ByteBudget } from '../gateway/budgets/byte-budget.ts'
import type { NanoUsd } from '../domain/money.ts'
import { registerBooksGauges, type BooksGauges } from './books-gauges.ts'
import { openStates, type OpenState } from '../domain/jobs/job.ts'
import { dollars } from './dollars.ts'

/** Functions that are called when the metrics are read. */
export type Gauges = BooksGauges & {
  readonly held: (kind: HoldKind) => NanoUsd
  readonly waiting: () => number
  readonly lateCalls: () => number
  readonly openJobs: () => Promise<Readonly<Record<OpenState, number>>>
  readonly openCircuits: () => number
  readonly replayBytes: () => number
  readonly bodyMemory: Pick<ByteBudget, 'reserved' | 'waiting'>
  readonly inputSpool: Pick<ByteBudget, 'reserved' | 'waiting'>
}

/** Metrics of the current state. */
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
    help: 'Requests that wait for money that other requests hold.',
    registers,
    collect() {
      this.set(gauges.waiting())
    },
  })
  const openJobs = new Gauge({
    name: 'tollgate_open_jobs',
    help: 'Image and video jobs that have not ended, by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await gauges.openJobs()
      for (const state of openStates) this.set({ state }, counts[state])
    },
  })
  const replayBytes = new Gauge({
    name: 'tollgate_replay_bytes',
    help: 'Memory for stored answers and for copies of running streams.',
    registers,
    collect() {
      this.set(gauges.replayBytes())
    },
  })
  const bodyBytes = new Gauge({
    name: 'tollgate_body_memory_bytes',
    help: 'Memory that is reserved for request bodies.',
    registers,
    collect() {
      this.set(gauges.bodyMemory.reserved)
    },
  })
  const bodyWaiters = new Gauge({
    name: 'tollgate_body_memory_waiters',
    help: 'Requests that wait for memory for their bodies.',
    registers,
    collect() {
      this.set(gauges.bodyMemory.waiting)
    },
  })
  const spoolBytes = new Gauge({
    name: 'tollgate_input_spool_bytes',
    help: 'Disk space for the files of running image and video requests.',
    registers,
    collect() {
      this.set(gauges.inputSpool.reserved)
    },
  })
  const spoolWaiters = new Gauge({
    name: 'tollgate_input_spool_waiters',
    help: 'Requests that wait for disk space for their files.',
    registers,
    collect() {
      this.set(gauges.inputSpool.waiting)
    },
  })
  const lateCalls = new Gauge({
    name: 'tollgate_late_calls',
    help: 'Upstream calls that continue after their client got a 504.',
    registers,
    collect() {
      this.set(gauges.lateCalls())
    },
  })
  const openCircuits = new Gauge({
    name: 'tollgate_open_circuit_breakers',
    help: 'Upstreams with an open circuit breaker, which get no requests after repeated failures.',
    registers,
    collect() {
      this.set(gauges.openCircuits())
    },
  })
  registerBooksGauges(gauges, registry)
  void [
    held,
    waiting,
    openJobs,
    replayBytes,
    bodyBytes,
    bodyWaiters,
    spoolBytes,
    spoolWaiters,
    lateCalls,
    openCircuits,
  ]
}
