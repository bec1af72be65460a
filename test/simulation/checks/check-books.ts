import type { Authenticated } from '../../../src/gateway/ports/access/api-keys.ts'
import type { StoreNode } from '../../../src/gateway/ports/nodes/store-node.ts'
import type { World } from '../world.ts'
import type { EndedJob } from './ended-jobs.ts'

/** The books verify, every account has what it was credited less what it spent, nothing is held, and budgets agree. */
export async function checkBooks(
  world: World,
  ended: ReadonlyMap<string, EndedJob>,
  {
    ledger,
    limits,
    payers,
  }: Pick<StoreNode, 'ledger' | 'limits'> & {
    readonly payers: readonly Authenticated[]
  },
): Promise<void> {
  const { problems } = await ledger.verify()
  for (const { message } of problems) world.violated(`the books are wrong: ${message}`)
  const jobs = [...ended.values()].map(({ job }) => job)
  for (const [index, { account, apiKey }] of payers.entries()) {
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
    const budgets = await limits.budgets({ accountId: id, apiKeyId: apiKey.id })
    for (const { allowed, spent: counted, reserved } of budgets)
      if (counted !== paid || counted > allowed || reserved !== 0n)
        world.violated(
          `the key of ${name} paid ${paid}, and its budget of ${allowed} has ${counted} and ${reserved}`,
        )
    if (spent.media !== paid) world.violated(`${name} spent ${spent.media}, but its jobs cost ${paid}`)
  }
}
