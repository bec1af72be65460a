import { formatUsd, addUsd } from '../../domain/money.ts'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import type { Ledger } from '../../gateway/ports/ledger/ledger.ts'
import type { StatementLine, StatementPage } from '../../gateway/ports/ledger/ledger-reports.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { formatId } from '../../domain/ids.ts'
import { operationKinds, type OperationKind } from '../../domain/ledger/operation.ts'
import { instant } from '../../domain/time.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { attributionJson } from './usage.ts'
import { pageOf, readOpenRange, readPage, refuseUnknown, wrongParameter } from '../list-query.ts'

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

/** The kinds of movements that customers see. A loss does not move their money. */
export const movementKinds = operationKinds.filter(kind => kind !== 'loss')

/**
 * `GET /v1/statement?limit=&cursor=&kind=&from=&to=`: the money movements of the account, newest first. Leaves out
 * everything that only the operator sees: notes, the idempotency keys of credits, and losses.
 */
export async function readStatement(
  { query }: IncomingRequest,
  { account }: Authenticated,
  ledger: Ledger,
): Promise<HttpReply> {
  const { limit, ...page } = readStatementPage(new URLSearchParams(query), movementKinds)
  const lines = await ledger.statement(account.id, { kinds: movementKinds, ...page, limit: limit + 1 })
  return jsonReply(200, {
    object: 'list',
    ...pageOf(lines, limit, { cursorOf: line => line.cursor, rowOf: movementJson }),
  })
}

/**
 * Reads which lines of a statement are asked for: `?kind=` is one of `kinds`, or several with commas between them, and
 * `?from=` and `?to=` limit the time. Throws `invalid_field`, which names the parameter.
 */
export function readStatementPage(query: URLSearchParams, kinds: readonly OperationKind[]): StatementPage {
  refuseUnknown(query, ['limit', 'cursor', 'kind', 'from', 'to'])
  const { limit, cursor } = readPage(query)
  const between = readOpenRange(query)
  const chosen = query
    .get('kind')
    ?.split(',')
    .map(text => {
      const kind = kinds.find(kind => kind === text)
      if (kind === undefined) throw wrongParameter('kind', `must be one or several of ${kinds.join(', ')}`)
      return kind
    })
  return {
    limit,
    ...(cursor !== undefined && { before: cursor }),
    ...(chosen !== undefined && { kinds: chosen }),
    ...(between !== undefined && { between }),
  }
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
    created_at: instant(atMs),
  }
}
