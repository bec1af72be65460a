import { formatId, type IdPrefix } from '../../../../domain/ids.ts'
import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import type { SqlValue } from '../../rows/canonical.ts'
import { columnsOf, keyOf, type HashedTableDefinition } from '../../rows/hashed-table.ts'
import type { HashedRow } from './covered-rows.ts'
import type { Finding, Message } from '../findings.ts'

/** Names a row of a hashed table in messages for the operator, by the columns that its table has. */
export function nameOfRow(table: HashedTableDefinition, { values }: HashedRow): Message {
  const columns = columnsOf(table)
  const column = (name: string): SqlValue | undefined => values[columns.indexOf(name)]
  const text = (name: string) => textOfValue(column(name))
  const rowId = text(keyOf(table))
  const id = (prefix: IdPrefix) => idOf(prefix, column('id_key'), column('id_tail'))
  const ofAccount = (name: string): Message => [accountOf(column('account_id')), `: ${name}`]
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
      return [`Tariff ${rowId}`]
    case 'attempts': {
      const request = idOf('req', column('request_key'), column('request_tail'))
      return ofAccount(`attempt ${text('number')} of ${request}`)
    }
    case 'audit_log':
      return [`Audit line ${rowId} (${text('action')} of ${text('subject')})`]
    case 'accounts':
      return [accountOf(column('id'))]
    case 'api_keys':
      return ofAccount(`API key ${text('public_id')}`)
    case 'admin_tokens':
      return [`Admin token "${text('name')}" (${text('public_id')})`]
    case 'projects':
      return ofAccount(`project ${text('public_id')}`)
    case 'api_key_secrets':
      return ofAccount(`secret ${text('prefix')}… of API key ${text('api_key_id')}`)
    case 'api_key_secret_ends':
      return ofAccount(`the end ${rowId} of a secret of API key ${text('api_key_id')}`)
    case 'holds':
      return ofAccount(`${id('hold')} of ${usdOf(column('amount'))}`)
    case 'jobs':
      return ofAccount(`job ${id(column('kind') === 'image' ? 'img' : 'vid')}`)
    case 'job_events':
      return [jobOf(column('job')), `: event ${rowId} (${text('state')})`]
  }
}

/** The account that a row of a hashed table belongs to, or the row of its job; null if it belongs to none. */
export function accountOfRow(table: HashedTableDefinition, { values }: HashedRow): Finding['accountId'] {
  const columns = columnsOf(table)
  const column = (name: string): bigint | null => {
    const value = values[columns.indexOf(name)]
    return typeof value === 'bigint' ? value : null
  }
  if (table.name === 'accounts') return column('id')
  if (table.name !== 'job_events') return column('account_id')
  const job = column('job')
  return job === null ? null : { job }
}

function accountOf(value: SqlValue | undefined): Message[number] {
  return typeof value === 'bigint' ? { account: value } : `Account ${textOfValue(value)}`
}

function jobOf(value: SqlValue | undefined): Message[number] {
  return typeof value === 'bigint' ? { job: value } : `Job ${textOfValue(value)}`
}

function idOf(prefix: IdPrefix, key: SqlValue | undefined, tail: SqlValue | undefined): string {
  return typeof key === 'bigint' && typeof tail === 'bigint' ? formatId(prefix, { key, tail }) : '(no id)'
}

function usdOf(value: SqlValue | undefined): string {
  return typeof value === 'bigint' ? describeUsd(nanoUsd(value)) : textOfValue(value)
}

function textOfValue(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? '(bytes)' : String(value)
}
