import type { Database } from 'bun:sqlite'
import { mayBecome, type AttemptState } from '../../domain/ledger/attempt.ts'
import type { AttemptId, Attempts } from '../../gateway/ports/attempts.ts'
import { attemptRow } from '../books/attempt-rows.ts'
import { usageColumns } from '../books/usage-columns.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'
import type { Tariffs } from './tariffs.ts'

export function createAttempts(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly tariffs: Tariffs
  readonly tables: Tables
}): Attempts {
  const { database, groupCommit, tariffs, tables } = parts
  const bill = database.prepare(
    `UPDATE attempts SET state = 'billed', input = $input, cached_input = $cached_input, cache_write = $cache_write,
        audio_input = $audio_input, output = $output, reasoning = $reasoning, audio_output = $audio_output,
        cache_write_1h = $cache_write_1h, server_tool_uses = $server_tool_uses, search_calls = $search_calls,
        file_searches = $file_searches, service_tier = $service_tier, cost = $cost, is_clamped = $is_clamped,
        provider_cost = $provider_cost
      WHERE request_key = $request_key AND request_tail = $request_tail AND number = $number`,
  )
  const close = database.prepare(
    "UPDATE attempts SET state = 'closed' WHERE request_key = ? AND request_tail = ? AND number = ?",
  )
  const selectState = database.prepare<{ state: AttemptState }, ReturnType<typeof columnsOfId>>(
    'SELECT state FROM attempts WHERE request_key = ? AND request_tail = ? AND number = ?',
  )
  const may = (id: AttemptId, next: AttemptState) => {
    const row = selectState.get(...columnsOfId(id))
    return row !== null && mayBecome(row.state, next)
  }
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
        const { tariff } = attempt
        tables.attempts.insert(attemptRow(attempt, tariff === null ? null : tariffs.idOf(tariff)))
      }),
    bill: (id, { usage, cost, providerCost, isClamped }) =>
      groupCommit.run(() => {
        if (!may(id, 'billed')) return false
        bill.run({
          ...usageColumns(usage),
          cost,
          is_clamped: isClamped ? 1 : 0,
          provider_cost: providerCost,
          request_key: id.requestId.key,
          request_tail: id.requestId.tail,
          number: id.number,
        })
        return true
      }),
    close: id =>
      groupCommit.run(() => {
        if (!may(id, 'closed')) return false
        close.run(...columnsOfId(id))
        return true
      }),
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

function columnsOfId({ requestId, number }: AttemptId): [bigint, bigint, number] {
  return [requestId.key, requestId.tail, number]
}

type IdRow = { request_key: bigint; request_tail: bigint; number: bigint }

function idFrom({ request_key, request_tail, number }: IdRow): AttemptId {
  return { requestId: { key: request_key, tail: request_tail }, number: Number(number) }
}
