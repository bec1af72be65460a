import { formatUsd, addUsd } from '../../domain/money.ts'
import type { Authenticated } from '../../gateway/ports/api-keys.ts'
import type { Ledger } from '../../gateway/ports/ledger.ts'
import type { StatementLine } from '../../gateway/ports/ledger-reports.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { formatId } from '../../domain/ids.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { attributionJson } from './usage.ts'
import { pageOf, readPage, refuseUnknown, rowsBefore } from '../list-query.ts'

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

const secondSteps: ReadonlySet<OperationKind> = new Set(['compensation', 'capture', 'release', 'expire'])
const credits: ReadonlySet<OperationKind> = new Set(['top_up', 'grant'])

/**
 * `GET /v1/statement?limit=&cursor=`: the money movements of the account, newest first. Leaves out everything that only
 * the operator sees: notes, the idempotency keys of credits, and losses, which do not move the customer's money.
 */
export async function readStatement(
  { query }: IncomingRequest,
  { account }: Authenticated,
  ledger: Ledger,
): Promise<HttpReply> {
  const parameters = new URLSearchParams(query)
  refuseUnknown(parameters, ['limit', 'cursor'])
  const asked = readPage(parameters)
  const lines = await ledger.statement(account.id, rowsBefore(asked))
  const page = pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: line => line })
  return jsonReply(200, {
    object: 'list',
    ...page,
    data: page.data.filter(({ kind }) => kind !== 'loss').map(movementJson),
  })
}

/**
 * The id of a statement line. The second operation of a charge or a hold has its kind in the id, so that ids are
 * unique.
 */
export function movementId({ id, kind }: StatementLine): string {
  return secondSteps.has(kind) ? `${formatId('op', id)}_${kind}` : formatId('op', id)
}

function movementJson(line: StatementLine) {
  const { kind, amount, ref, atMs } = line
  return {
    id: movementId(line),
    object: 'movement',
    kind,
    amount_usd: formatUsd(amount),
    ref: credits.has(kind) || ref === '' ? null : ref,
    ...attributionJson(line),
    created_at: new Date(atMs).toISOString(),
  }
}
