import type { Authenticated } from '../../../src/gateway/ports/api-keys.ts'
import type { StoreNode } from '../../../src/gateway/ports/store-node.ts'
import type { World } from '../world.ts'
import type { EndedJob } from './ended-jobs.ts'

/** The books verify, every account has what it was credited less what it spent, and nothing is held. */
export async function checkBooks(
  world: World,
  ended: ReadonlyMap<string, EndedJob>,
  { ledger, payers }: Pick<StoreNode, 'ledger'> & { readonly payers: readonly Authenticated[] },
): Promise<void> {
  const { problems } = await ledger.verify()
  for (const { message } of problems) world.violated(`the books are wrong: ${message}`)
  const jobs = [...ended.values()].map(({ job }) => job)
  for (const [index, { account }] of payers.entries()) {
    const { available, held, spent, credited } = await ledger.balance(account.id)
    const { name, id } = account
    const allHeld = held.text + held.media
    if (available < 0n) world.violated(`${name} has ${available} available`)
    if (allHeld !== 0n) world.violated(`${name} still holds ${allHeld}`)
    if (available + allHeld + spent.text + spent.media !== credited)
      world.violated(`${name} has ${available}, holds ${allHeld} and spent ${spent.media} of ${credited}`)
    const own = jobs.filter(({ accountId }) => accountId === id)
    const paid = own.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)
    const funds = world.plan.funds[index] ?? 0n
    if (funds - paid !== available)
      world.violated(`${name} had ${funds}, paid ${paid} for jobs, and has ${available}`)
    if (spent.media !== paid) world.violated(`${name} spent ${spent.media}, but its jobs cost ${paid}`)
  }
}
