import { formatId, type IdPrefix } from '../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { SqlValue } from '../canonical.ts'
import { columnsOf, type HashedTableDefinition } from '../hashed-tables.ts'
import type { AccountNames } from './account-names.ts'
import type { HashedRow } from './row-cursor.ts'

/** Names a row of a hashed table in messages for the operator, by the columns that its table has. */
export function nameOfRow(table: HashedTableDefinition, { values }: HashedRow, names: AccountNames): string {
  const columns = columnsOf(table)
  const column = (name: string): SqlValue | undefined => values[columns.indexOf(name)]
  const rowId = column('id')
  switch (table.name) {
    case 'operations':
      return `${accountOf(column('account_id'), names)}: operation ${rowId} (${column('kind')})`
    case 'charges': {
      const id = idOf('req', column('id_key'), column('id_tail'))
      return `${accountOf(column('account_id'), names)}: charge ${id} of ${usdOf(column('cost'))}`
    }
    case 'credits': {
      const id = idOf('op', column('id_key'), column('id_tail'))
      return `${accountOf(column('account_id'), names)}: credit ${id} of ${usdOf(column('amount'))}`
    }
    case 'tariffs':
      return `Tariff ${rowId}`
  }
}

function accountOf(value: SqlValue | undefined, names: AccountNames): string {
  return typeof value === 'bigint' ? names.of(value) : `Account ${value}`
}

function idOf(prefix: IdPrefix, key: SqlValue | undefined, tail: SqlValue | undefined): string {
  return typeof key === 'bigint' && typeof tail === 'bigint' ? formatId(prefix, { key, tail }) : '(no id)'
}

function usdOf(value: SqlValue | undefined): string {
  return typeof value === 'bigint' ? describeUsd(nanoUsd(value)) : String(value)
}
