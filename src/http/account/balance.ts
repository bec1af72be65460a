import { formatUsd, addUsd } from '../../domain/money.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import type { Ledger } from '../../gateway/ports/ledger.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'

/** `GET /v1/balance`: the available, held and spent money of the account, as decimal strings in dollars. */
export async function readBalance({ account }: Authenticated, ledger: Ledger): Promise<HttpReply> {
  const { available, held, spent } = await ledger.balance(account.id)
  return jsonReply(200, {
    object: 'balance',
    currency: 'USD',
    available_usd: formatUsd(available),
    held_usd: formatUsd(addUsd(held.text, held.media)),
    held: { text_usd: formatUsd(held.text), media_usd: formatUsd(held.media) },
    spent: { text_usd: formatUsd(spent.text), media_usd: formatUsd(spent.media) },
  })
}

/** `GET /v1/credits`: the balance in a form that some clients expect. */
export async function readCredits({ account }: Authenticated, ledger: Ledger): Promise<HttpReply> {
  const { available, spent } = await ledger.balance(account.id)
  return jsonReply(200, {
    balance: formatUsd(available),
    total_used: formatUsd(addUsd(spent.text, spent.media)),
  })
}
