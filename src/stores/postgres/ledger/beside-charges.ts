import type { BesideCharges } from '../../books/ledger/charges.ts'
import { tariffsTable } from '../../books/rows/money-tables.ts'
import { first, insert, run } from '../../books/steps.ts'
import { contentOfTariff } from '../../books/rows/tariff-rows.ts'
import type { StepLimits } from '../limits/step-limits.ts'
import { ADD_TO_DAY, daySumValues, UsageDaySums } from '../../books/usage/usage-days.ts'

/** What the charges of steps need. Text charges are written in batches instead. */
export const besideCharges = (limits: StepLimits): BesideCharges => ({
  *tariffId(tariff) {
    const content = contentOfTariff(tariff)
    const found = yield* first<{ id: bigint }>('SELECT id FROM tariffs WHERE content = ?', content)
    if (found !== undefined) return found.id
    const id = yield* insert(tariffsTable, { content })
    if (id !== null) return id
    // Another node wrote it first.
    const other = yield* first<{ id: bigint }>('SELECT id FROM tariffs WHERE content = ?', content)
    if (other === undefined) throw new Error('The row id of the tariff is in use.')
    return other.id
  },
  spend: ({ accountId }, charge) => limits.spend(accountId, charge),
  *addUsage(accountId, chargeId, charge, isCompensated) {
    const sums = new UsageDaySums()
    sums.add(accountId, chargeId, charge, isCompensated)
    for (const sum of sums.values()) yield* run(ADD_TO_DAY, ...daySumValues(sum))
  },
})
