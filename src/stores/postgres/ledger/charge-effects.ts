import type { ChargeEffects } from '../../books/ledger/charges.ts'
import { run } from '../../books/steps.ts'
import { contentOfTariff } from '../../books/rows/tariff-rows.ts'
import { tariffRow } from './tariffs.ts'
import type { StepLimits } from '../limits/step-limits.ts'
import { ADD_TO_DAY, daySumValues, UsageDaySums } from '../../books/usage/usage-days.ts'

/** The effects of charges that steps write. Batches write those of text. */
export const createChargeEffects = (limits: StepLimits): ChargeEffects => ({
  tariffId: tariff => tariffRow(contentOfTariff(tariff)),
  spend: ({ accountId }, charge) => limits.spend(accountId, charge),
  *addUsage(accountId, chargeId, charge, isCompensated) {
    const sums = new UsageDaySums()
    sums.add(accountId, chargeId, charge, isCompensated)
    for (const sum of sums.all) yield* run(ADD_TO_DAY, ...daySumValues(sum))
  },
})
