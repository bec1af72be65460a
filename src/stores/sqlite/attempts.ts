import type { Database } from 'bun:sqlite'
import type { Usage } from '../../domain/pricing/usage.ts'
import type { AttemptId, Attempts } from '../../gateway/ports/attempts.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './tables.ts'
import type { Tariffs } from './tariffs.ts'
import { addedColumnsOf } from './usage-columns.ts'

export function createAttempts(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly tariffs: Tariffs
  readonly tables: Tables
}): Attempts {
  const { database, groupCommit, tariffs, tables } = parts
  const bill = database.prepare(
    `UPDATE attempts SET state = 'billed', input = ?, cached_input = ?, cache_write = ?, audio_input = ?,
        output = ?, reasoning = ?, audio_output = ?, cache_write_1h = ?, server_tool_uses = ?, cost = ?, is_clamped = ?
      WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'timed_out'`,
  )
  const close = database.prepare(
    `UPDATE attempts SET state = 'closed'
      WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'timed_out'`,
  )
  const selectOlder = database.prepare<IdRow, [number, number]>(
    `SELECT request_key, request_tail, number FROM attempts
      WHERE state = 'timed_out' AND at_ms < ? ORDER BY at_ms LIMIT ?`,
  )
  const selectBilled = database.prepare<IdRow, [number]>(
    `SELECT request_key, request_tail, number FROM attempts WHERE state = 'billed' ORDER BY at_ms LIMIT ?`,
  )

  return {
    record: attempt =>
      groupCommit.run(() => {
        const { requestId, number, accountId, apiKeyId, route, model, provider, state, tariff, atMs } =
          attempt
        const columns = [
          requestId.key,
          requestId.tail,
          number,
          accountId,
          apiKeyId,
          route,
          model,
          provider,
          state,
          ...(attempt.state === 'abandoned' && attempt.usage !== null
            ? bucketsOf(attempt.usage)
            : NOT_REPORTED),
          tariff === null ? null : tariffs.idOf(tariff),
          atMs,
        ]
        const added =
          attempt.state === 'abandoned' && attempt.usage !== null ? addedColumnsOf(attempt.usage) : undefined
        if (added === undefined) tables.attempts.insert(columns)
        else tables.attempts.insertWith(added, columns)
      }),
    bill: (id, { usage, cost, isClamped }) =>
      groupCommit.run(() => {
        const { changes } = bill.run(
          ...bucketsOf(usage),
          ...(addedColumnsOf(usage) ?? NONE_ADDED),
          cost,
          isClamped ? 1 : 0,
          ...columnsOfId(id),
        )
        return changes === 1
      }),
    close: id => groupCommit.run(() => close.run(...columnsOfId(id)).changes === 1),
    closeOlder: ({ atMs, limit }) =>
      groupCommit.run(() => {
        const older = selectOlder.all(atMs, limit).map(idFrom)
        for (const id of older) close.run(...columnsOfId(id))
        return older.length
      }),
    async billed(limit) {
      return selectBilled.all(limit).map(idFrom)
    },
  }
}

const NONE_ADDED = [null, null] as const
const NOT_REPORTED = [null, null, null, null, null, null, null] as const

/** In the order of the columns. */
function bucketsOf(usage: Usage) {
  const { input, cachedInput, cacheWrite, audioInput, output, reasoning, audioOutput } = usage
  return [input, cachedInput, cacheWrite, audioInput, output, reasoning, audioOutput] as const
}

function columnsOfId({ requestId, number }: AttemptId) {
  return [requestId.key, requestId.tail, number] as const
}

type IdRow = { request_key: bigint; request_tail: bigint; number: bigint }

function idFrom({ request_key, request_tail, number }: IdRow): AttemptId {
  return { requestId: { key: request_key, tail: request_tail }, number: Number(number) }
}
