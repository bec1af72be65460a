import { formatId, type IdPrefix } from '../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { SqlValue } from '../../books/canonical.ts'
import { columnsOf, keyOf, type HashedTableDefinition } from '../../books/hashed-tables.ts'
import type { AccountNames } from './account-names.ts'
import type { HashedRow } from './row-cursor.ts'

/** Names a row of a hashed table in messages for the operator, by the columns that its table has. */
export function nameOfRow(table: HashedTableDefinition, { values }: HashedRow, names: AccountNames): string {
  const columns = columnsOf(table)
  const column = (name: string): SqlValue | undefined => values[columns.indexOf(name)]
  const text = (name: string) => textOf(column(name))
  const rowId = text(keyOf(table))
  const id = (prefix: IdPrefix) => idOf(prefix, column('id_key'), column('id_tail'))
  const ofAccount = (name: string) => `${accountOf(column('account_id'), names)}: ${name}`
  switch (table.name) {
    case 'operations':
      return ofAccount(`operation ${rowId} (${text('kind')})`)
    case 'charges':
      return ofAccount(`charge ${id('req')} of ${usdOf(column('cost'))}`)
    case 'credits':
      return ofAccount(`credit ${id('op')} of ${usdOf(column('amount'))}`)
    case 'corrections':
      return ofAccount(`correction ${id('op')} of ${usdOf(column('amount'))}`)
    case 'tariffs':
      return `Tariff ${rowId}`
    case 'attempts': {
      const request = idOf('req', column('request_key'), column('request_tail'))
      return ofAccount(`attempt ${text('number')} of ${request}`)
    }
    case 'audit_log':
      return `Audit line ${rowId} (${text('action')} of ${text('subject')})`
    case 'accounts':
      return accountOf(column('id'), names)
    case 'api_keys':
      return ofAccount(`API key ${text('public_id')}`)
    case 'holds':
      return ofAccount(`${id('hold')} of ${usdOf(column('amount'))}`)
    case 'jobs':
      return ofAccount(`job ${id(column('kind') === 'image' ? 'img' : 'vid')}`)
    case 'job_events':
      return `${jobOf(column('job'), names)}: event ${rowId} (${text('state')})`
  }
}

/** The account that a row of a hashed table belongs to; null if it belongs to none. */
export function accountOfRow(
  table: HashedTableDefinition,
  { values }: HashedRow,
  names: AccountNames,
): bigint | null {
  const columns = columnsOf(table)
  const column = (name: string): bigint | null => {
    const value = values[columns.indexOf(name)]
    return typeof value === 'bigint' ? value : null
  }
  if (table.name === 'accounts') return column('id')
  if (table.name !== 'job_events') return column('account_id')
  const job = column('job')
  return job === null ? null : names.accountOfJob(job)
}

function accountOf(value: SqlValue | undefined, names: AccountNames): string {
  return typeof value === 'bigint' ? names.of(value) : `Account ${textOf(value)}`
}

function jobOf(value: SqlValue | undefined, names: AccountNames): string {
  return typeof value === 'bigint' ? names.ofJob(value) : `Job ${textOf(value)}`
}

function idOf(prefix: IdPrefix, key: SqlValue | undefined, tail: SqlValue | undefined): string {
  return typeof key === 'bigint' && typeof tail === 'bigint' ? formatId(prefix, { key, tail }) : '(no id)'
}

function usdOf(value: SqlValue | undefined): string {
  return typeof value === 'bigint' ? describeUsd(nanoUsd(value)) : textOf(value)
}

function textOf(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? '(bytes)' : String(value)
}
