import { SQL } from 'bun'
import { describe, expect, test } from 'bun:test'
import {
  cannotWriteNow,
  isFenced,
  isLost,
  isNotAllowed,
  isOvertaken,
  isRefusal,
  isUnfit,
} from './database-errors.ts'

const meanings = { isLost, isRefusal, isFenced, cannotWriteNow, isOvertaken, isNotAllowed, isUnfit }

function answer(errno: string, message = 'No'): Error {
  return new SQL.PostgresError(message, { code: 'ERR_POSTGRES_SERVER_ERROR', errno })
}

function ofClient(code: string): Error {
  return new SQL.PostgresError('No', { code })
}

describe('an error of PostgreSQL means', () => {
  test.each<[string, Error, readonly (keyof typeof meanings)[]]>([
    ['a closed connection', ofClient('ERR_POSTGRES_CONNECTION_CLOSED'), ['isLost']],
    ['a refused connection', ofClient('ERR_POSTGRES_CONNECTION_REFUSED'), ['isLost']],
    ['a server that stops', answer('57P01'), ['isLost']],
    ['a transaction that was idle for too long', answer('25P03'), ['isLost']],
    ['an answer that cannot be read', ofClient('ERR_POSTGRES_INVALID_MESSAGE'), []],
    ['an error of this program', new TypeError('No'), []],
    ['a lane that was taken', answer('TG001'), ['isRefusal', 'isFenced']],
    ['a full disk', answer('53100'), ['isRefusal', 'cannotWriteNow']],
    ['a server that only reads', answer('25006'), ['isRefusal', 'cannotWriteNow']],
    [
      'a month without a partition',
      answer('23514', 'no partition of relation "charges" found for row'),
      ['isRefusal', 'cannotWriteNow', 'isUnfit'],
    ],
    ['a value that a table refuses', answer('23514'), ['isRefusal', 'isUnfit']],
    ['a text that is not UTF8', answer('22021'), ['isRefusal', 'isUnfit']],
    ['a unique value that is taken', answer('23505'), ['isRefusal', 'isOvertaken', 'isUnfit']],
    ['two transactions that waited for each other', answer('40P01'), ['isRefusal', 'isOvertaken']],
    ['a missing right', answer('42501'), ['isRefusal', 'isNotAllowed']],
  ])('%s', (_, error, expected) => {
    const found = Object.entries(meanings).filter(([, isMeant]) => isMeant(error))

    expect(found.map(([name]) => name)).toEqual([...expected])
  })
})
