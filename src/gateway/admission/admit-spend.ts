import { GatewayError } from '../../domain/errors.ts'
import { addUsd, formatUsd, ZERO } from '../../domain/money.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { Ledger } from '../ports/ledger.ts'

/**
 * Refuses a request of an account that has no money at all, before its files are written to disk. The cost of the job
 * is held when it is known. A repeat by an idempotency key is free. Throws `insufficient_balance`.
 */
export async function requireMoney(
  accountId: number,
  { unlessRepeatOf: key }: { readonly unlessRepeatOf: string | undefined },
  {
    ledger,
    jobs,
    clock,
  }: {
    readonly ledger: Pick<Ledger, 'balance'>
    readonly jobs: Pick<Jobs, 'findByKey'>
    readonly clock: Clock
  },
): Promise<void> {
  const { available, held } = await ledger.balance(accountId)
  if (available > ZERO) return
  // Checked after the balance: if the job took the last money since, its key is recorded by now.
  if (key !== undefined && (await jobs.findByKey(accountId, key, clock.now())) !== undefined) return
  throw new GatewayError('insufficient_balance', 'No money is available on this account. Add funds.', {
    extensions: { available_usd: formatUsd(available), held_usd: formatUsd(addUsd(held.text, held.media)) },
  })
}
