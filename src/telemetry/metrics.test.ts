import { expect, test } from 'bun:test'
import { NO_JOBS } from '../gateway/ports/ledger/reconcile.ts'
import type { Job } from '../domain/jobs/job.ts'
import { usd } from '../domain/money.ts'
import { NO_USAGE } from '../domain/pricing/usage.ts'
import { openEarlyMetrics, openMetrics } from './metrics.ts'

const open = () =>
  openMetrics(
    {
      held: async () => ({ text: usd('0.25'), media: usd('0.25') }),
      clockOffsetMs: () => -600_000,
      waiting: () => 3,
      lateCalls: () => 2,
      finishingStreams: () => 3,
      openJobs: async () => ({ queued: 1, processing: 7, unknown_submit: 0 }),
      anchorFailures: () => 3,
      isStopped: () => true,
      stoppedAccounts: () => 5,
      openCircuits: () => 1,
      replayBytes: () => 9,
      sharedCache: { counts: { answered: 22, failed: 23, skipped: 24, rejected: 25 }, isConnected: true },
      bodyMemory: { reserved: 11, waiting: 12 },
      inputSpool: { reserved: 13, waiting: 14 },
      records: { counts: { written: 15, dropped: 16, suppressed: 17 } },
      webhooks: { counts: async () => ({ waiting: 18, dropped: 19 }) },
      mail: { counts: async () => ({ waiting: 20, leftOut: 21 }) },
    },
    openEarlyMetrics(),
    { open: () => 21, max: 1024 },
  )

const answered = (status: number, record: object) => ({ route: 'chat', status, durationMs: 7, record })

test('requests, tokens and cost are summed by their labels, however often they are read', async () => {
  const metrics = open()
  const usage = { ...NO_USAGE, input: 10, output: 4 }
  metrics.countRequest(answered(200, { model: 'a', usage, cost: usd('0.000000001') }))
  metrics.countRequest(answered(200, { model: 'a', usage, cost: usd('0.5') }))
  metrics.countRequest(answered(402, { model: 'a' }))
  metrics.countRequest(answered(401, {}))

  await metrics.render()
  const text = await metrics.render()

  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'tollgate_requests_total{route="chat",status="200",model="a"} 2',
      'tollgate_requests_total{route="chat",status="402",model="a"} 1',
      'tollgate_requests_total{route="chat",status="401",model=""} 1',
      'tollgate_tokens_total{model="a",bucket="input"} 20',
      'tollgate_tokens_total{model="a",bucket="output"} 8',
      'tollgate_cost_usd_total{model="a",kind="text"} 0.500000001',
      'tollgate_request_duration_seconds_count{route="chat"} 4',
      'tollgate_held_usd{kind="text"} 0.25',
      'tollgate_hold_waiters 3',
      'tollgate_clock_offset_seconds -600',
    ]),
  )
  expect(text).not.toContain('bucket="reasoning"')
})

test('jobs and lost results count by model and provider with what they cost', async () => {
  const early = openEarlyMetrics()
  const job = { kind: 'image', model: 'draw', provider: 'pics', loss: null } as Job
  const failure = { reason: 'result_lost' } as Job['failure']

  early.jobs.changed({ ...job, state: 'processing', cost: null, providerCost: null })
  early.jobs.changed({ ...job, state: 'completed', cost: usd('3'), providerCost: usd('0.5') })
  early.jobs.changed({ ...job, state: 'completed', cost: usd('3'), providerCost: null })
  early.jobs.changed({ ...job, state: 'failed', cost: null, failure, providerCost: usd('0.25') })
  early.jobs.finishedLate?.({ ...job, state: 'failed', providerCost: usd('0.125') })

  const series = (await early.margins.text()).split('\n').filter(line => line.startsWith('tollgate'))
  expect(series).toEqual([
    'tollgate_revenue_usd_total{model="draw",provider="pics"} 6',
    'tollgate_provider_cost_usd_total{model="draw",provider="pics"} 0.5',
    'tollgate_unsold_cost_usd_total{model="draw",provider="pics"} 0.375',
    'tollgate_charges_without_cost_total{model="draw",provider="pics"} 1',
  ])
})

test('overdrafts, unreported costs, billed refusals and replays are counted', async () => {
  const metrics = open()
  metrics.countRequest(answered(400, { model: 'a', provider: 'azure', isRefusalBilled: true }))
  metrics.countRequest(answered(200, { model: 'a', shortfall: usd('0.1'), isCostUnreported: true }))
  metrics.countRequest(answered(200, { model: 'a', shortfall: usd('0'), isReplay: true }))

  const text = await metrics.render()

  expect(text).toContain('tollgate_overdrafts_total 1\n')
  expect(text).toContain('tollgate_overdraft_usd_total 0.1\n')
  expect(text).toContain('tollgate_unreported_costs_total{model="a"} 1\n')
  expect(text).toContain('tollgate_billed_refusals_total{provider="azure"} 1\n')
  expect(text).toContain('tollgate_replays_total{route="chat"} 1\n')
})

test('the work of the reconciler is summed by outcome', async () => {
  const metrics = open()
  const pass = {
    hasRun: true,
    compensated: 2,
    compensatedUsd: usd('0.25'),
    closed: 3,
    expired: 4,
    failed: 0,
    jobs: NO_JOBS,
  }
  metrics.countReconcilerPass(pass)
  metrics.countReconcilerPass({ ...pass, failed: 1, jobs: { ...NO_JOBS, failed: 2 } })

  const text = await metrics.render()

  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'tollgate_reconciled_total{outcome="compensated"} 4',
      'tollgate_reconciled_total{outcome="closed"} 6',
      'tollgate_reconciled_total{outcome="expired"} 8',
      'tollgate_reconciled_total{outcome="failed"} 3',
      'tollgate_compensated_usd_total 0.5',
      'tollgate_late_calls 2',
      'tollgate_finishing_streams 3',
      'tollgate_open_jobs{state="processing"} 7',
      'tollgate_open_jobs{state="unknown_submit"} 0',
      'tollgate_body_memory_bytes 11',
      'tollgate_body_memory_waiters 12',
      'tollgate_input_spool_bytes 13',
      'tollgate_input_spool_waiters 14',
      'tollgate_request_records_total{outcome="written"} 15',
      'tollgate_request_records_total{outcome="dropped"} 16',
      'tollgate_request_records_total{outcome="suppressed"} 17',
      'tollgate_webhook_messages_waiting 18',
      'tollgate_webhook_messages_dropped_total 19',
      'tollgate_shared_cache_up 1',
      'tollgate_shared_cache_calls_total{outcome="answered"} 22',
      'tollgate_shared_cache_calls_total{outcome="failed"} 23',
      'tollgate_shared_cache_calls_total{outcome="skipped"} 24',
      'tollgate_shared_cache_rejected_total 25',
      'tollgate_mails_waiting 20',
      'tollgate_mails_left_out_total 21',
      'tollgate_open_circuit_breakers 1',
    ]),
  )
})

test('the process has the conventional metrics', async () => {
  const text = await open().render()

  const valueOf = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
  expect(valueOf('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(valueOf('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(valueOf('process_start_time_seconds')).toBeGreaterThan(1_700_000_000)
  expect(valueOf('process_open_fds')).toBe(21)
  expect(valueOf('process_max_fds')).toBe(1024)
})
