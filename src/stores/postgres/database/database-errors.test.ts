import { SQL } from 'bun'
import { describe, expect, test } from 'bun:test'
import { meaningOf, type Meaning } from './database-errors.ts'

function answer(errno: string, routine = 'exec_simple_query'): Error {
  return new SQL.PostgresError('No', { code: 'ERR_POSTGRES_SERVER_ERROR', errno, routine })
}

function ofClient(code: string): Error {
  return new SQL.PostgresError('No', { code })
}

describe('an error of PostgreSQL means', () => {
  test.each<[string, Error, Meaning]>([
    ['a closed connection', ofClient('ERR_POSTGRES_CONNECTION_CLOSED'), 'lost'],
    ['a refused connection', ofClient('ERR_POSTGRES_CONNECTION_REFUSED'), 'lost'],
    ['a server that stops', answer('57P01'), 'lost'],
    ['a pooler that lost the server', answer('08P01'), 'lost'],
    ['a transaction that was idle for too long', answer('25P03'), 'ended'],
    ['an answer that cannot be read', ofClient('ERR_POSTGRES_INVALID_MESSAGE'), 'unread'],
    ['an error of this program', new TypeError('No'), 'unread'],
    ['a lane that was taken', answer('TG001'), 'fenced'],
    ['a full disk', answer('53100'), 'later'],
    ['a server that only reads', answer('25006'), 'later'],
    ['a month without a partition', answer('23514', 'ExecFindPartition'), 'later'],
    ['a value that a table refuses', answer('23514'), 'unfit'],
    ['a text that is not UTF8', answer('22021'), 'unfit'],
    ['a row that is too large', answer('54000'), 'unfit'],
    ['a unique value that is taken', answer('23505'), 'taken'],
    ['two transactions that waited for each other', answer('40P01'), 'overtaken'],
    ['a change of the same row', answer('40001'), 'overtaken'],
    ['a lock that another one held for too long', answer('55P03'), 'overtaken'],
    ['a statement that was cancelled', answer('57014'), 'overtaken'],
    ['a password that has changed', answer('28P01'), 'later'],
    ['a missing right', answer('42501'), 'not allowed'],
    ['a missing column', answer('42703'), 'broken'],
    ['a damaged index', answer('XX002'), 'broken'],
    ['a refusal of a trigger', answer('P0001'), 'refused'],
  ])('%s', (_, error, expected) => {
    expect(meaningOf(error)).toBe(expected)
  })
})
