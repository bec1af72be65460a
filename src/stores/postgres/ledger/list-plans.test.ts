import type { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import type { Id } from '../../../domain/ids.ts'
import type { Ask, StepRunner, Step } from '../../books/steps.ts'
import { findItem } from '../../books/usage/booked-items.ts'
import { lossesOf } from '../../books/usage/loss-list.ts'
import { RefundList } from '../../books/usage/refund-list.ts'
import { StatementList } from '../../books/usage/statement.ts'
import { connections } from '../database/database.ts'
import { numberedText, toDatabase } from '../database/values.ts'
import { chargePlaces } from './charge-places.ts'

const server = await runServer()
const ROWS = 20_000
/** The partitions of the months are empty, so they have the plan of an empty table. */
const READ_WHOLE = /Seq Scan on (charges_before|operations_before|attempts)\b/g
const PAGE = { limit: 50 }
const REQUEST: Id = { key: 500n, tail: 0n }
const schedule = { next: () => Promise.resolve() }

let sql: SQL

/**
 * Each row has its number as its id. One charge of 50 has a refund, and one of 50 an attempt that nobody paid for.
 * Their accounts are not made.
 */
const FILL = `
  SET session_replication_role = replica;
  INSERT INTO charges (id, id_key, id_tail, account_id, api_key_id, route, model, provider, input, cached_input,
      cache_write, audio_input, output, reasoning, audio_output, is_clamped, cost, shortfall, at_ms, commit_id)
    SELECT n, n, 0, n % 20, 1, 'chat', 'm', 'p', 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, n, 1 FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO operations (id, account_id, number, kind, subject_key, subject_tail, amount, at_ms, book_1, amount_1,
      balance_after_1, book_2, amount_2, balance_after_2, commit_id)
    SELECT n, n % 20, n, CASE WHEN n % 50 = 0 THEN 'refund' ELSE 'charge' END, n, 0, 1, n, 'a', 1, 1, 'b', 1, 1, 1
      FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO corrections (id, id_key, id_tail, account_id, operation_id, charge_id, amount, available_after,
      commit_id)
    SELECT n, n, 0, n % 20, n, n, 1, 1, 1 FROM generate_series(50, ${ROWS}, 50) AS n;
  INSERT INTO attempts (id, request_key, request_tail, number, account_id, api_key_id, model, provider, route, state,
      at_ms, commit_id)
    SELECT n, n, 0, 1, n % 20, 1, 'm', 'p', 'chat', CASE WHEN n % 50 = 0 THEN 'abandoned' ELSE 'closed' END, n, 1
      FROM generate_series(1, ${ROWS}) AS n;
  ANALYZE charges, operations, corrections, attempts`

/** The steps of a list, and what it reads first. */
function stepsOf(list: (stepRunner: StepRunner) => Promise<unknown>): readonly (() => Step<unknown>)[] {
  const steps: (() => Step<unknown>)[] = []
  const read = <T>(step: () => Step<T>) => {
    steps.push(step)
    return new Promise<T>(() => undefined)
  }
  void list({ read, write: read } as unknown as StepRunner)
  return steps
}

/** The queries of a step to which every answer is empty. */
function queriesOf(step: Step<unknown>): readonly Extract<Ask, { kind: 'query' }>[] {
  const queries: Extract<Ask, { kind: 'query' }>[] = []
  for (let asked = step.next(); asked.done !== true; asked = step.next([]))
    if (asked.value.kind === 'query') queries.push(asked.value)
  return queries
}

async function plansOf(steps: readonly (() => Step<unknown>)[]): Promise<string> {
  const plans: string[] = []
  for (const { sql: text, values } of steps.flatMap(step => queriesOf(step()))) {
    const rows = await sql.unsafe<Record<string, string>[]>(
      `EXPLAIN ${numberedText(text)}`,
      values.map(toDatabase),
    )
    plans.push(rows.flatMap(row => Object.values(row)).join('\n'))
  }
  return plans.join('\n\n')
}

describe.skipIf(server === undefined)('the plans of lists in PostgreSQL', () => {
  beforeAll(async () => {
    sql = connections({ url: await aDatabase(server!) }).connect()
    await sql.unsafe(FILL)
  })
  afterAll(() => sql.close())

  test.each<[string, () => readonly (() => Step<unknown>)[]]>([
    [
      'the refunds of an account',
      () => stepsOf(stepRunner => new RefundList({ stepRunner, schedule }).list(7, PAGE)),
    ],
    [
      'all refunds',
      () => stepsOf(stepRunner => new RefundList({ stepRunner, schedule }).list(undefined, PAGE)),
    ],
    [
      'the statement of some kinds',
      () =>
        stepsOf(stepRunner =>
          new StatementList({ stepRunner, schedule, chargePlaces }).page(7, {
            ...PAGE,
            kinds: ['grant', 'refund'],
          }),
        ),
    ],
    ['losses', () => [() => lossesOf(PAGE, { from: 'jobs', at: 'coalesce(loss_at_ms, changed_at_ms)' })]],
    ['what has an id', () => [() => findItem(REQUEST)]],
  ])('reading %s reads no table from end to end', async (_, steps) => {
    const plans = await plansOf(steps())

    expect(plans).toMatch(/Index|Bitmap/)
    expect(plans.match(READ_WHOLE) ?? []).toEqual([])
  })
})
