import type { SQL } from 'bun'
import type { Verification } from '../../../src/gateway/ports/ledger/ledger.ts'
import type { StepRunner } from '../../../src/stores/books/steps.ts'
import { readIn } from '../../../src/stores/postgres/lanes/step-runner.ts'
import { verifyBooks, verifyRecent } from '../../../src/stores/postgres/verify/verify.ts'

type Found = { readonly all: Verification; readonly recent: Verification; readonly again: Verification }

class Undone extends Error {}

/**
 * What a check of all rows finds after edits that skip the triggers, as a superuser can, and what a check of recent
 * rows finds, and then another one. The edits are undone.
 */
export async function bothAfterEdits(books: SQL, edits: readonly string[]): Promise<Found> {
  const { promise, resolve } = Promise.withResolvers<Found>()
  await books
    .begin('isolation level repeatable read', async transaction => {
      await transaction`SELECT set_config('session_replication_role', 'replica', true)`
      for (const edit of edits) await transaction.unsafe(edit)
      // It cannot read all rows, which it does if it finds something.
      const check = () => verifyRecent(verifiedIn(transaction, { transactionsMax: 1 }))
      const [recent, again] = [await check(), await check()]
      resolve({ recent, again, all: await verifyBooks(verifiedIn(transaction), undefined) })
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  return promise
}

/** To verify inside a transaction that has begun. Its edits are undone, so there is nothing to correct. */
function verifiedIn(sql: SQL, { transactionsMax = Infinity } = {}) {
  const read: StepRunner['read'] = step => readIn(sql, step)
  let transactions = 0
  const begin = async (_: string, work: (transaction: SQL) => Promise<unknown>) => {
    transactions += 1
    if (transactions > transactionsMax) throw new Error('This would be one transaction too many.')
    return work(sql)
  }
  const connection = { begin, close: async () => undefined }
  const recount = () => Promise.resolve()
  return { connect: () => connection as unknown as SQL, stepRunner: { read }, recount }
}
