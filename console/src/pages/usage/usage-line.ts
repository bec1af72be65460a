/** A charge or a refund as a line of the list, with what it is sorted and searched by. */
import type { components } from '../../api/schema.d.ts'
import type { CsvColumn } from '../../parts/csv.ts'
import { count, nanosOf } from '../../parts/format.ts'
import { usageTexts } from './texts.ts'

const words = usageTexts

type Charge = components['schemas']['AdminCharge']
type Refund = components['schemas']['AdminRefund']
export type UsageRow = Charge | Refund

export type UsageLine = {
  readonly row: UsageRow
  readonly atMs: number
  readonly cost: bigint
  /** Zero if it is not known. */
  readonly providerCost: bigint
  readonly quantity: string
  /** What a search looks through, in lower case. */
  readonly text: string
}

export function lineOf(row: UsageRow): UsageLine {
  const { id, account, account_name: name, key, project, model, route, provider, user, tags } = row
  const pairs = Object.entries(tags ?? {}).map(pair => pair.join('='))
  return {
    row,
    atMs: Date.parse(row.created_at),
    cost: nanosOf(row.cost_usd),
    providerCost: nanosOf(providerCostOf(row) ?? '0'),
    quantity: quantityOf(row),
    text: [id, account, name, key, project, model, route, provider, user, ...pairs].join('\n').toLowerCase(),
  }
}

export function providerCostOf(row: UsageRow): string | null {
  return row.object === 'usage' ? row.provider_cost_usd : null
}

function quantityOf(row: UsageRow): string {
  if (row.object === 'refund') return row.note ?? ''
  const { usage } = row
  if ('images' in usage) return words.images(count(usage.images))
  if ('seconds' in usage) return words.seconds(count(usage.seconds))
  return words.tokens(count(usage.input_tokens), count(usage.output_tokens))
}

/** The lines with all words of the search, and of the chosen kind. */
export function matching(
  lines: readonly UsageLine[],
  { search = '', kind = '' }: { readonly search?: string; readonly kind?: string },
): readonly UsageLine[] {
  const parts = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (parts.length === 0 && kind === '') return lines
  return lines.filter(
    ({ row, text }) => (kind === '' || kind === row.object) && parts.every(part => text.includes(part)),
  )
}

export const savedColumns: readonly CsvColumn<UsageLine>[] = [
  ['id', ({ row }) => row.id],
  ['kind', ({ row }) => row.object],
  ['created_at', ({ row }) => row.created_at],
  ['account', ({ row }) => row.account],
  ['account_name', ({ row }) => row.account_name],
  ['key', ({ row }) => row.key],
  ['project', ({ row }) => row.project],
  ['route', ({ row }) => row.route],
  ['model', ({ row }) => row.model],
  ['provider', ({ row }) => row.provider],
  ['usage', ({ quantity }) => quantity],
  ['cost_usd', ({ row }) => row.cost_usd],
  ['provider_cost_usd', ({ row }) => providerCostOf(row)],
  ['user', ({ row }) => row.user ?? null],
  [
    'tags',
    ({ row }) =>
      Object.entries(row.tags ?? {})
        .map(pair => pair.join('='))
        .join(' '),
  ],
]
