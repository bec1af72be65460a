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
  isUniqueValueTaken,
} from './database-errors.ts'

const meanings = {
  isLost,
  isRefusal,
  isFenced,
  cannotWriteNow,
  isOvertaken,
  isNotAllowed,
  isUnfit,
  isUniqueValueTaken,
}

function answer(errno: string, routine = 'exec_simple_query'): Error {
  return new SQL.PostgresError('No', { code: 'ERR_POSTGRES_SERVER_ERROR', errno, routine })
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
      answer('23514', 'ExecFindPartition'),
      ['isRefusal', 'cannotWriteNow', 'isUnfit'],
    ],
    ['a value that a table refuses', answer('23514'), ['isRefusal', 'isUnfit']],
    ['a text that is not UTF8', answer('22021'), ['isRefusal', 'isUnfit']],
    ['a unique value that is taken', answer('23505'), ['isRefusal', 'isUnfit', 'isUniqueValueTaken']],
    ['two transactions that waited for each other', answer('40P01'), ['isRefusal', 'isOvertaken']],
    ['a change of the same row', answer('40001'), ['isRefusal', 'isOvertaken']],
    ['a lock that another one held for too long', answer('55P03'), ['isRefusal', 'isOvertaken']],
    ['a password that has changed', answer('28P01'), ['isRefusal', 'cannotWriteNow']],
    ['a missing right', answer('42501'), ['isRefusal', 'isNotAllowed']],
  ])('%s', (_, error, expected) => {
    const found = Object.entries(meanings).filter(([, isMeant]) => isMeant(error))

    expect(found.map(([name]) => name)).toEqual([...expected])
  })
})
