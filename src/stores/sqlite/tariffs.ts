import type { Database } from 'bun:sqlite'
import { nanoUsd, type NanoUsd } from '../../domain/money.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import type { GroupCommit } from './group-commit.ts'

export type Tariffs = {
  /** Inside a step: the row of a tariff, written where the same prices were never used before. */
  idOf(tariff: TextTariff): bigint
}

export function createTariffs(database: Database, groupCommit: GroupCommit): Tariffs {
  const insert = database.prepare('INSERT INTO tariffs (content) VALUES (?) ON CONFLICT DO NOTHING')
  const findId = database.prepare<{ id: bigint }, [string]>('SELECT id FROM tariffs WHERE content = ?')
  // By identity: the catalog is frozen, so every charge of a model comes with the same object.
  let ids = new WeakMap<TextTariff, bigint>()

  groupCommit.join({ afterRollback: () => (ids = new WeakMap()) })

  function store(tariff: TextTariff): bigint {
    const content = contentOf(tariff)
    insert.run(content)
    const row = findId.get(content)
    if (row === null) throw new Error('A tariff that was just written is not there.')
    ids.set(tariff, row.id)
    return row.id
  }

  return { idOf: tariff => ids.get(tariff) ?? store(tariff) }
}

const prices = [
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'audioInput',
  'reasoning',
  'audioOutput',
  'perRequest',
] as const satisfies readonly (keyof TextTariff)[]

/** The same prices always make the same text: the row is found by it. */
function contentOf(tariff: TextTariff): string {
  const set = prices.flatMap(price => {
    const amount = tariff[price]
    return amount === undefined ? [] : [[price, amount.toString()] as const]
  })
  return JSON.stringify(Object.fromEntries(set))
}

/** The prices of a row's `content`. */
export function tariffFrom(content: string): TextTariff {
  const texts = JSON.parse(content) as Record<string, string>
  const amounts = Object.entries(texts).map(([price, amount]): [string, NanoUsd] => [
    price,
    nanoUsd(BigInt(amount)),
  ])
  return Object.fromEntries(amounts) as TextTariff
}
