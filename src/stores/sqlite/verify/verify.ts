import type { Database } from 'bun:sqlite'
import type { Ledger, Problem } from '../../../gateway/ports/ledger.ts'
import { checkAttempts } from './check-attempts.ts'
import { checkBalances } from './check-balances.ts'
import { checkCharges } from './check-charges.ts'
import { checkHolds } from './check-holds.ts'
import { EntryReader } from './entry-reader.ts'

/** More would tell an operator nothing new. */
const PROBLEMS_MAX = 100

/**
 * `Ledger.verify`, while the books are in use. Each check goes in bounded pieces, one a turn of the event loop, and
 * compares only what it read in the same turn, so that writes in between never look like a fault.
 */
export function createVerify(database: Database): Pick<Ledger, 'verify'> {
  return {
    async verify() {
      const entries = new EntryReader(database)
      const problems: Problem[] = []
      const checks = [
        entries.check(),
        checkBalances(database, entries),
        checkCharges(database),
        checkHolds(database),
        checkAttempts(database),
      ]
      for (const check of checks) {
        for (const found of check) {
          problems.push(...found.slice(0, PROBLEMS_MAX - problems.length))
          await new Promise(setImmediate)
        }
      }
      return { problems, entries: entries.fold.entries }
    },
  }
}
