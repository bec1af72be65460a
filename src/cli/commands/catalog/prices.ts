import { adminPath, type Ask } from '../../ask.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'
import type { AccountReply } from '../accounts/accounts.ts'
import { priceText } from './catalog.ts'

const PATH = 'price-lists'

type PriceFields = {
  readonly pricing: string | Readonly<Record<string, unknown>>
  readonly markup?: string
}

type ListReply = {
  readonly id: string
  readonly factor?: string
  readonly prices?: Readonly<Record<string, PriceFields['pricing']>>
}

/** A model whose price differs. */
type PriceChange = {
  readonly model: string
  readonly before: PriceFields
  readonly after: PriceFields
  readonly example: {
    readonly of: string
    readonly before_usd: string | null
    readonly after_usd: string | null
  }
}

/** The price of a model in a list; null removes it. */
export type ModelPrice = { readonly model: string; readonly price: unknown }

/** The parts of a list to change. Null removes the factor. */
export type PriceListChange = {
  readonly factor?: string | null
  readonly price?: readonly ModelPrice[]
  readonly dryRun?: boolean
}

/** Lists all price lists. */
export async function listPriceLists(ask: Ask): Promise<Outcome> {
  const listed = await allLists(ask)
  const rows = listed.map(({ id, factor, prices = {} }) => [
    id,
    factor ?? '–',
    Object.keys(prices).join(', ') || '–',
  ])
  const head = ['PRICE LIST', 'FACTOR', 'MODELS WITH OWN PRICES']
  return { value: { data: listed }, text: rows.length === 0 ? 'No price lists.' : table(head, rows) }
}

/** Shows a list, and the models whose price differs from the catalog. */
export async function showPriceList(ask: Ask, name: string): Promise<Outcome> {
  const list = await ask<ListReply>({ method: 'GET', path: adminPath(PATH, name) })
  const { data } = await ask<{ readonly data: readonly PriceChange[] }>({
    method: 'GET',
    path: adminPath(PATH, name, 'changes'),
  })
  const head = `${list.id}: ${list.factor === undefined ? 'no factor' : `all prices × ${list.factor}`}`
  return {
    value: { ...list, changes: data },
    text: [head, ...changeLines(data, 'No price differs from the catalog.')].join('\n'),
  }
}

/** Creates a list, or changes the named parts of it. */
export async function setPriceList(
  ask: Ask,
  { name, factor, price = [], dryRun = false }: PriceListChange & { readonly name: string },
): Promise<Outcome> {
  if (factor === undefined && price.length === 0)
    throw new CliError('Name what to set: --factor, --price or both.', {
      exitCode: 2,
      code: 'missing_option',
    })
  const before = (await allLists(ask)).find(({ id }) => id === name)
  const prices = { ...before?.prices, ...Object.fromEntries(price.map(entry => [entry.model, entry.price])) }
  const kept = Object.fromEntries(Object.entries(prices).filter(([, value]) => value !== null))
  const json = {
    factor: factor === undefined ? before?.factor : factor,
    ...(Object.keys(kept).length === 0 ? {} : { prices: kept }),
  }
  const path = adminPath(PATH, name)
  if (dryRun) {
    type Preview = { readonly changes: readonly PriceChange[] }
    const preview = await ask<Preview>({ method: 'PUT', path: `${path}?dry_run=true`, json })
    const lines = changeLines(preview.changes, 'No price would change.')
    return { value: preview, text: [...lines, 'Nothing was changed yet.'].join('\n') }
  }
  const list = await ask<ListReply>({ method: 'PUT', path, json })
  return { value: list, text: `Price list ${list.id} is set. It applies from the next request.` }
}

/** Removes a list that no account has. */
export async function removePriceList(ask: Ask, name: string): Promise<Outcome> {
  const removed = await ask<{ readonly id: string }>({ method: 'DELETE', path: adminPath(PATH, name) })
  return { value: removed, text: `Removed price list ${removed.id}.` }
}

/** Gives an account a list. The word `none` gives it the prices of the catalog. */
export async function assignPriceList(
  ask: Ask,
  { account, list }: { readonly account: string; readonly list: string },
): Promise<Outcome> {
  const changed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { price_list: list === 'none' ? null : list },
  })
  const prices =
    changed.price_list === null ? 'the prices of the catalog' : `the prices of ${changed.price_list}`
  return { value: changed, text: `${changed.name} has ${prices}.` }
}

async function allLists(ask: Ask): Promise<readonly ListReply[]> {
  return (await ask<{ readonly data: readonly ListReply[] }>({ method: 'GET', path: PATH })).data
}

/** Two lines a model: its prices, and an example. */
function changeLines(changes: readonly PriceChange[], none: string): readonly string[] {
  if (changes.length === 0) return [none]
  return changes.flatMap(({ model, before, after, example }) => [
    `${model}: ${priceText(before)} → ${priceText(after)}`,
    `    ${example.of}: ${amountText(example.before_usd)} → ${amountText(example.after_usd)}`,
  ])
}

function amountText(amount: string | null): string {
  return amount === null ? 'as the provider reports' : `${amount} USD`
}
