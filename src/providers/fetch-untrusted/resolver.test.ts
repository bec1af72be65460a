import { expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { systemResolver } from './resolver.ts'

test('the system knows the addresses of localhost', async () => {
  const addresses = await systemResolver('localhost')

  expect(addresses.length).toBeGreaterThan(0)
  expect(['127.0.0.1', '::1']).toEqual(expect.arrayContaining([...addresses]))
})

test('a name that does not exist is rejected with a code', async () => {
  // Reserved by RFC 6761: no resolver may know it. Without a network, the code differs.
  const error = await rejection(systemResolver('absent.invalid'))

  expect((error as { code: string }).code).toMatch(/^[A-Z_]+$/)
})
