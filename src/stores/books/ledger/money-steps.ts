import { Charges, type ChargeEffects } from './charges.ts'
import { Compensations } from './compensations.ts'
import { Corrections } from './corrections.ts'
import { Credits, type EventSink } from './credits.ts'
import { Journal, type BalanceWatch } from './journal.ts'
import { MediaHolds } from './media-holds.ts'

export type MoneySteps = ReturnType<typeof createMoneySteps>

/** The steps that move money. */
export function createMoneySteps(parts: {
  readonly balanceAlerts: BalanceWatch
  readonly chargeEffects: ChargeEffects
  readonly events: EventSink
}) {
  const journal = new Journal(parts)
  const charges = new Charges(parts)
  return {
    journal,
    charges,
    media: new MediaHolds({ journal, charges }),
    credits: new Credits({ ...parts, journal }),
    corrections: new Corrections({ journal }),
    compensations: new Compensations({ journal, charges }),
  }
}
