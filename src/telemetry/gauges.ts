import { Counter, Gauge, type Registry } from 'prom-client'
import { openStates, type OpenState } from '../domain/jobs/job.ts'
import type { HoldKind } from '../domain/ledger/books.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { ByteBudget } from '../gateway/byte-budgets/byte-budget.ts'
import type { Mail } from '../gateway/ports/events/mail.ts'
import type { RequestRecords } from '../gateway/ports/requests/request-records.ts'
import type { SharedCache } from '../gateway/ports/requests/shared-cache.ts'
import type { Webhooks } from '../gateway/ports/events/webhooks.ts'
import { dollars } from './dollars.ts'
import { registerNumber, type NumberMetric } from './number-metrics.ts'

/** Functions that are called when the metrics are read. */
export type Gauges = BooksGauges & {
  readonly held: () => Promise<Readonly<Record<HoldKind, NanoUsd>>>
  /** How far the clock of this machine is ahead of the database's. */
  readonly clockOffsetMs: () => number
  readonly waiting: () => number
  readonly lateCalls: () => number
  readonly finishingStreams: () => number
  readonly openJobs: () => Promise<Readonly<Record<OpenState, number>>>
  readonly openCircuits: () => number
  readonly replayBytes: () => number
  /** Undefined if there is none. Then it has no metrics. */
  readonly sharedCache: Pick<SharedCache, 'counts' | 'isConnected'> | undefined
  readonly bodyMemory: Pick<ByteBudget, 'reserved' | 'waiting'>
  readonly inputSpool: Pick<ByteBudget, 'reserved' | 'waiting'>
  readonly records: Pick<RequestRecords, 'counts'>
  readonly webhooks: Pick<Webhooks, 'counts'>
  readonly mail: Pick<Mail, 'counts'>
}

/** Metrics of the current state. */
export function registerGauges(gauges: Gauges, registry: Registry): void {
  registerHeld(gauges, registry)
  registerOpenJobs(gauges, registry)
  for (const number of [...numbersOfWork(gauges), ...numbersOfBooks(gauges), ...numbersOfMessages(gauges)])
    registerNumber(number, registry)
  registerOutcomes(recordOutcomes(gauges), registry)
  if (gauges.sharedCache !== undefined) registerSharedCache(gauges.sharedCache, registry)
}

function registerHeld({ held }: Gauges, registry: Registry): Gauge {
  return new Gauge({
    name: 'tollgate_held_usd',
    help: 'Dollars in open holds, by kind of work.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const { text, media } = await held()
      this.set({ kind: 'text' }, dollars(text))
      this.set({ kind: 'media' }, dollars(media))
    },
  })
}

function registerOpenJobs({ openJobs }: Gauges, registry: Registry): Gauge {
  return new Gauge({
    name: 'tollgate_open_jobs',
    help: 'Image and video jobs that have not ended, by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await openJobs()
      for (const state of openStates) this.set({ state }, counts[state])
    },
  })
}

function numbersOfWork(gauges: Gauges): readonly NumberMetric[] {
  const { bodyMemory, inputSpool } = gauges
  return [
    {
      name: 'tollgate_clock_offset_seconds',
      help: "How far the clock of this machine is ahead of the database's. 0 with SQLite.",
      read: () => gauges.clockOffsetMs() / 1000,
    },
    {
      name: 'tollgate_hold_waiters',
      help: 'Requests that wait for money that other requests hold.',
      read: gauges.waiting,
    },
    {
      name: 'tollgate_replay_bytes',
      help: 'Memory for stored answers and for copies of running streams.',
      read: gauges.replayBytes,
    },
    {
      name: 'tollgate_body_memory_bytes',
      help: 'Memory that is reserved for request bodies.',
      read: () => bodyMemory.reserved,
    },
    {
      name: 'tollgate_body_memory_waiters',
      help: 'Requests that wait for memory for their bodies.',
      read: () => bodyMemory.waiting,
    },
    {
      name: 'tollgate_input_spool_bytes',
      help: 'Disk space for the files of running image and video requests.',
      read: () => inputSpool.reserved,
    },
    {
      name: 'tollgate_input_spool_waiters',
      help: 'Requests that wait for disk space for their files.',
      read: () => inputSpool.waiting,
    },
    {
      name: 'tollgate_late_calls',
      help: 'Upstream calls that continue after their client got a 504.',
      read: gauges.lateCalls,
    },
    {
      name: 'tollgate_finishing_streams',
      help: 'Streams that are read to their end for their charge after their client disconnected.',
      read: gauges.finishingStreams,
    },
    {
      name: 'tollgate_open_circuit_breakers',
      help: 'Upstreams with an open circuit breaker. After repeated failures, others are preferred to them.',
      read: gauges.openCircuits,
    },
  ]
}

/** Problems that stop paid requests. */
function numbersOfBooks(gauges: BooksGauges): readonly NumberMetric[] {
  return [
    {
      name: 'tollgate_anchor_write_failures_total',
      help: 'Writes of the anchor file that failed. Each is tried again after a second.',
      read: gauges.anchorFailures,
    },
    {
      name: 'tollgate_books_stopped',
      help: '1 while all paid requests are refused because of a problem in the books.',
      read: () => Number(gauges.isStopped()),
    },
    {
      name: 'tollgate_stopped_accounts',
      help: 'Accounts whose paid requests are refused because of a problem in their books.',
      read: gauges.stoppedAccounts,
    },
  ]
}

function numbersOfMessages({ webhooks, mail }: Gauges): readonly NumberMetric[] {
  return [
    {
      name: 'tollgate_webhook_messages_waiting',
      help: 'Messages of webhooks that were not delivered yet.',
      read: async () => (await webhooks.counts()).waiting,
    },
    {
      name: 'tollgate_webhook_messages_dropped_total',
      help: 'Messages that were dropped, because the queue of their webhook was full.',
      read: async () => (await webhooks.counts()).dropped,
    },
    {
      name: 'tollgate_mails_waiting',
      help: 'Mails that were not sent yet.',
      read: async () => (await mail.counts()).waiting,
    },
    {
      name: 'tollgate_mails_left_out_total',
      help: 'Events that were not mailed, because their address had its mails of the day.',
      read: async () => (await mail.counts()).leftOut,
    },
  ]
}

/** A counter with the label `outcome`. */
type OutcomeCounter = {
  readonly name: string
  readonly help: string
  readonly read: () => Readonly<Record<string, number>>
}

function recordOutcomes({ records }: Gauges): OutcomeCounter {
  return {
    name: 'tollgate_request_records_total',
    help: 'Records of requests: written, dropped because they could not be, and suppressed refusals, which are only counted.',
    read: () => {
      const { written, dropped, suppressed } = records.counts
      return { written, dropped, suppressed }
    },
  }
}

function registerSharedCache(cache: Pick<SharedCache, 'counts' | 'isConnected'>, registry: Registry): void {
  const up: NumberMetric = {
    name: 'tollgate_shared_cache_up',
    help: '1 while the gateway is connected to the Valkey or Redis server.',
    read: () => Number(cache.isConnected),
  }
  const calls: OutcomeCounter = {
    name: 'tollgate_shared_cache_calls_total',
    help: 'Calls of the Valkey or Redis server: answered, failed, and skipped while it is off after a failure.',
    read: () => {
      const { answered, failed, skipped } = cache.counts
      return { answered, failed, skipped }
    },
  }
  const rejected: NumberMetric = {
    name: 'tollgate_shared_cache_rejected_total',
    help: 'Values in the Valkey or Redis server that no gateway with this secret key wrote for their place.',
    read: () => cache.counts.rejected,
  }
  registerNumber(up, registry)
  registerOutcomes(calls, registry)
  registerNumber(rejected, registry)
}

function registerOutcomes({ name, help, read }: OutcomeCounter, registry: Registry): Counter {
  return new Counter({
    name,
    help,
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(read())) this.inc({ outcome }, count)
    },
  })
}

/** Functions that are called when the metrics are read. */
type BooksGauges = {
  /** The number of writes of the anchor that failed. */
  readonly anchorFailures: () => number
  /** Whether no account may start paid work, because of a problem in the books. */
  readonly isStopped: () => boolean
  /** The number of accounts that may not start paid work, because of a problem in their own books. */
  readonly stoppedAccounts: () => number
}
