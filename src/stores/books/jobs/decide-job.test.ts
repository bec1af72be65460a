import { describe, expect, test } from 'bun:test'
import {
  aFailure,
  aJob,
  aResult,
  DAY_MS,
  UNKNOWN_DEADLINE_MS,
} from '../../../../test/support/job-builders.ts'
import { NOW } from '../../../../test/support/ledger-builders.ts'
import { formatUsd, usd } from '../../../domain/money.ts'
import { UpstreamIdTakenError } from '../../../gateway/ports/media/jobs.ts'
import { decideCreation, decideJob, type JobCommand } from './decide-job.ts'
import { jobFrom, newJobRow, type JobProgress, type JobRow } from './job-rows.ts'

const asked = aJob({ accountId: 1, apiKeyId: 2 })
const created: JobRow = { row_id: 7n, ...newJobRow(asked, 'main') }

const commands = {
  begin_submit: { step: 'begin_submit', atMs: NOW + 1 },
  accept: { step: 'accept', upstreamId: 'up-1', atMs: NOW + 2, nextPollAtMs: NOW + 9 },
  lose_submit: {
    step: 'lose_submit',
    problem: 'ECONNRESET',
    atMs: NOW + 3,
    deadlineAtMs: UNKNOWN_DEADLINE_MS,
  },
  complete: { step: 'complete', ...aResult({ providerCost: usd('0.5') }) },
  refuse: { step: 'fail', ...aFailure },
  release: { step: 'fail', reason: 'overdue', message: 'Late.', atMs: NOW + 4, loss: usd('2') },
  note_poll: { step: 'note_poll', nextPollAtMs: NOW + 50, problem: 'HTTP 503' },
  book_late_completion: { step: 'book_late_completion', cost: usd('3'), atMs: NOW + 5 },
  end_watch: { step: 'end_watch', detail: 'It failed.', atMs: NOW + 6 },
  archive: { step: 'archive', atMs: NOW + 7 },
} as const satisfies Record<string, JobCommand>
type Command = keyof typeof commands

function decide(row: JobRow, command: JobCommand, isUpstreamIdTaken = false) {
  return decideJob({ row, isUpstreamIdTaken }, command)
}

/** The row after some steps. */
function after(...steps: readonly Command[]): JobRow {
  const row = { ...created }
  for (const step of steps) Object.assign(row, decide(row, commands[step]).writes?.columns)
  return row
}

/** Every situation that a job can be in, with what each command does in it. The others do nothing. */
const table: readonly {
  readonly situation: string
  readonly row: JobRow
  readonly does: Partial<Record<Command, string>>
}[] = [
  {
    situation: 'recorded',
    row: created,
    does: {
      begin_submit: 'changed; note: The submission began.',
      accept: 'changed; now processing; note',
      lose_submit: 'changed; now unknown_submit; note: ECONNRESET',
      complete: 'changed; now completed; charges 3; note',
      refuse: 'changed; now failed; releases; note: generation_failed',
      // Nothing was sent, so the provider cannot finish it.
      release: 'changed; now failed; releases; books a loss of 2; note: overdue',
      note_poll: 'polled',
    },
  },
  {
    situation: 'being submitted',
    row: after('begin_submit'),
    does: {
      accept: 'changed; now processing; note',
      lose_submit: 'changed; now unknown_submit; note: ECONNRESET',
      complete: 'changed; now completed; charges 3; note',
      refuse: 'changed; now failed; releases; note: generation_failed',
      release: 'changed; now failed; releases; books a loss of 2; watched; note: overdue',
      note_poll: 'polled',
    },
  },
  {
    situation: 'processing',
    row: after('begin_submit', 'accept'),
    does: {
      complete: 'changed; now completed; charges 3; note',
      refuse: 'changed; now failed; releases; note: generation_failed',
      release: 'changed; now failed; releases; books a loss of 2; watched; note: overdue',
      note_poll: 'polled',
    },
  },
  {
    situation: 'of an unknown submission',
    row: after('begin_submit', 'lose_submit'),
    does: {
      accept: 'changed; now processing; note',
      complete: 'changed; now completed; charges 3; note',
      refuse: 'changed; now failed; releases; note: generation_failed',
      release: 'changed; now failed; releases; books a loss of 2; watched; note: overdue',
      note_poll: 'polled',
    },
  },
  {
    situation: 'completed',
    row: after('begin_submit', 'accept', 'complete'),
    does: { archive: 'changed; note: The result was archived.' },
  },
  {
    situation: 'archived',
    row: after('begin_submit', 'accept', 'complete', 'archive'),
    does: {},
  },
  {
    situation: 'refused by its provider',
    row: after('begin_submit', 'accept', 'refuse'),
    does: {},
  },
  {
    situation: 'released before its provider named it, and watched',
    row: after('begin_submit', 'release'),
    does: {
      accept: 'keeps the upstream id; note: The provider accepted the job after its reserve was released.',
      book_late_completion:
        'changed; books a loss of 3; no longer watched; note: The provider finished the job after its reserve was released. Its price was booked as a loss.',
      end_watch: 'changed; no longer watched; note: It failed.',
    },
  },
  {
    situation: 'released after its provider named it, and watched',
    row: after('begin_submit', 'accept', 'release'),
    does: {
      book_late_completion:
        'changed; books a loss of 3; no longer watched; note: The provider finished the job after its reserve was released. Its price was booked as a loss.',
      end_watch: 'changed; no longer watched; note: It failed.',
    },
  },
  {
    situation: 'finished late',
    row: after('begin_submit', 'accept', 'release', 'book_late_completion'),
    does: {},
  },
]

/** A decision in words. */
function told(row: JobRow, command: JobCommand): string {
  const { changed, writes } = decide(row, command)
  if (writes === undefined) return changed ? 'changed without writing' : 'nothing'
  const { charge, releasedAtMs, loss, columns, event } = writes
  const { state, watch_until_ms: watch } = columns
  const parts = [
    changed && 'changed',
    state !== undefined && state !== row.state && `now ${state}`,
    charge && `charges ${formatUsd(charge.cost)}`,
    releasedAtMs !== undefined && 'releases',
    loss && `books a loss of ${formatUsd(loss.movements[0]!.amount)}`,
    typeof watch === 'bigint' && 'watched',
    watch === null && row.watch_until_ms !== null && 'no longer watched',
    !changed && columns.upstream_id !== undefined && 'keeps the upstream id',
    columns.upstream_status !== undefined && 'polled',
    event && (event.detail === null ? 'note' : `note: ${event.detail}`),
  ]
  return parts.filter(part => typeof part === 'string').join('; ')
}

describe.each(table)('a job that is $situation', ({ row, does }) => {
  test.each(Object.keys(commands) as Command[])('a job does what the table says on %s', command => {
    expect(told(row, commands[command])).toBe(does[command] ?? 'nothing')
  })
})

describe('a decision about a job', () => {
  test('a decision about a job changes exactly the columns of its step', () => {
    const columnsOf = (row: JobRow, command: JobCommand): Partial<JobProgress> =>
      decide(row, command).writes?.columns ?? {}

    expect(columnsOf(after('lose_submit'), commands.accept)).toEqual({
      state: 'processing',
      changed_at_ms: BigInt(NOW + 2),
      upstream_id: 'up-1',
      next_poll_at_ms: BigInt(NOW + 9),
      deadline_at_ms: BigInt(NOW + DAY_MS),
      problem: null,
    })
    expect(columnsOf(after('accept'), commands.complete)).toEqual({
      state: 'completed',
      changed_at_ms: BigInt(NOW + 5000),
      outputs: JSON.stringify(aResult().outputs),
      duration_ms: null,
      cost: usd('3'),
      problem: null,
      provider_cost: usd('0.5'),
    })
    expect(columnsOf(after('begin_submit', 'accept'), commands.release)).toEqual({
      state: 'failed',
      changed_at_ms: BigInt(NOW + 4),
      failure_reason: 'overdue',
      failure_code: null,
      failure_message: 'Late.',
      problem: null,
      failure_retry_after_s: null,
      watch_until_ms: BigInt(NOW + 4 + DAY_MS),
      next_poll_at_ms: BigInt(NOW + 4),
      loss: usd('2'),
      loss_at_ms: BigInt(NOW + 4),
    })
  })

  test('a decision about a job charges images by their number, at the tariff of the creation', () => {
    const { writes } = decide(after('accept'), commands.complete)

    expect(writes?.charge).toEqual({
      kind: 'images',
      images: 3,
      tariff: { perImage: usd('1') },
      cost: usd('3'),
      providerCost: usd('0.5'),
      route: 'images',
      apiKeyId: 2,
      model: 'draw-1',
      provider: 'pics',
      atMs: NOW + 5000,
    })
  })

  test('a late completion books a loss from the losses to the revenue of media, under the id of the job', () => {
    const { writes } = decide(after('begin_submit', 'release'), commands.book_late_completion)

    expect(writes?.loss).toEqual({
      kind: 'loss',
      subject: asked.id,
      movements: [{ from: 'losses', to: 'revenue.media', amount: usd('3') }],
      atMs: NOW + 5,
    })
  })

  test('a decision about a job is to do nothing when the value that the caller read has changed', () => {
    const submitting = after('begin_submit')
    const deadlineAtMs = NOW + DAY_MS

    expect(decide(submitting, { ...commands.lose_submit, submittedAtMs: null })).toEqual({ changed: false })
    expect(decide(submitting, { ...commands.lose_submit, submittedAtMs: NOW + 1 }).changed).toBe(true)
    expect(decide(after('lose_submit'), { ...commands.release, deadlineAtMs })).toEqual({ changed: false })
    expect(decide(submitting, { ...commands.release, deadlineAtMs }).changed).toBe(true)
  })

  test('a poll that is noted moves the next one later, and earlier only to end the claim of the caller', () => {
    const claimed = { ...after('accept'), next_poll_at_ms: BigInt(NOW + 100) }
    const nextPollAtMs = (given: { readonly nextPollAtMs: number; readonly claimedUntilMs?: number }) =>
      decide(claimed, { step: 'note_poll', ...given }).writes?.columns.next_poll_at_ms

    expect(nextPollAtMs({ nextPollAtMs: NOW + 20 })).toBe(BigInt(NOW + 100))
    expect(nextPollAtMs({ nextPollAtMs: NOW + 200 })).toBe(BigInt(NOW + 200))
    expect(nextPollAtMs({ nextPollAtMs: NOW + 20, claimedUntilMs: NOW + 100 })).toBe(BigInt(NOW + 20))
    // Another claim followed on the one that ended by itself.
    expect(nextPollAtMs({ nextPollAtMs: NOW + 20, claimedUntilMs: NOW + 60 })).toBe(BigInt(NOW + 100))
  })

  test('a decision about a job does not end a watch whose time is over', () => {
    const watched = after('begin_submit', 'release')
    const lastMs = NOW + 4 + DAY_MS

    expect(decide(watched, { ...commands.end_watch, atMs: lastMs - 1 }).changed).toBe(true)
    expect(decide(watched, { ...commands.end_watch, atMs: lastMs })).toEqual({ changed: false })
    expect(decide(watched, { ...commands.book_late_completion, atMs: lastMs })).toEqual({ changed: false })
  })

  test('a decision about a job refuses an upstream id that another job has, unless the job needs none', () => {
    expect(() => decide(created, commands.accept, true)).toThrow(UpstreamIdTakenError)
    expect(() => decide(after('begin_submit', 'release'), commands.accept, true)).toThrow(
      UpstreamIdTakenError,
    )
    expect(decide(after('accept'), commands.accept, true)).toEqual({ changed: false })
  })
})

describe('a decision about a new job', () => {
  const idempotency = { key: 'order-7', fingerprint: 'images abc' }

  test('a decision about a new job is to hold its money and to record it', () => {
    expect(decideCreation({ ...asked, idempotency }, {}, 'main')).toEqual({
      outcome: 'new',
      hold: { id: asked.id, accountId: 1, kind: 'media', amount: asked.held },
      row: newJobRow(asked, 'main'),
      event: { state: 'queued', detail: null, atMs: NOW },
    })
  })

  test('a decision about a new job gives the job of the same id, or of the same key and request, as it is now', () => {
    const row = after('begin_submit', 'accept')
    const repeated = { outcome: 'repeated', job: jobFrom(row) } as const

    expect(decideCreation(asked, { sameId: row }, 'main')).toEqual(repeated)
    const sameKey = { fingerprint: 'images abc', row }
    expect(decideCreation({ ...asked, idempotency }, { sameKey }, 'main')).toEqual(repeated)
  })

  test('a decision about a new job refuses a key of another request', () => {
    const sameKey = { fingerprint: 'images other', row: created }

    expect(decideCreation({ ...asked, idempotency }, { sameKey }, 'main')).toEqual({ outcome: 'key_reused' })
  })
})
