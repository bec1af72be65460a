import { expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { expiry, idempotencyKey, timeLimit, timeOrDay } from './arguments.ts'
import { main } from '../main.ts'

test.each([
  ['2026-11-01', '2026-11-01T00:00:00Z'],
  ['2026-11-01T12:30:00+02:00', '2026-11-01T12:30:00+02:00'],
])('the time %s is sent as %s', (text, sent) => {
  expect(timeOrDay(text)).toBe(sent)
})

test.each(['yesterday', '2026-11', '2026-02-30', '01.11.2026', '2026-11-01Tnoon', ''])(
  'the text %j is not a time, and the error shows one',
  async text => {
    expect(await rejection(Promise.try(timeOrDay, text))).toMatchObject({
      message: expect.stringContaining('such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z'),
    })
  },
)

test.each([
  ['90d', '2027-02-01T12:00:00.000Z'],
  ['2027-01-31', '2027-01-31T00:00:00Z'],
  ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00Z'],
])('the expiry %s on 3 November 2026 is sent as %s', (text, sent) => {
  expect(expiry(text)(Date.UTC(2026, 10, 3, 12))).toBe(sent)
})

test.each(['90', '0d', '-1d', '1.5d', 'd', '2027-02-30', 'never', ''])(
  'the text %j is not an expiry',
  async text => {
    expect(await rejection(Promise.try(expiry, text))).toMatchObject({
      message: expect.stringContaining('or a number of days such as 90d'),
    })
  },
)

test.each(['invoice-17', '!', 'x'.repeat(255)])('the text %j is an idempotency key', text => {
  expect(idempotencyKey(text)).toBe(text)
})

test.each(['', 'two words', 'a\nb', 'é', 'x'.repeat(256)])(
  'the text %j is not an idempotency key',
  async text => {
    expect(await rejection(Promise.try(idempotencyKey, text))).toMatchObject({
      message: 'Write 1 to 255 visible ASCII characters without spaces.',
    })
  },
)

test('a time limit is in whole seconds', async () => {
  expect(timeLimit('60')).toBe(60_000)
  for (const text of ['0', '-1', '1.5', '1e3', '86401', ''])
    expect(await rejection(Promise.try(timeLimit, text))).toMatchObject({
      message: expect.stringContaining('whole number of seconds'),
    })
})

test('an argument that only the API can refuse is a wrong argument, too, and a refusal is not', async () => {
  const folder = { TOLLGATE_DATA_DIR: aDataFolder() }
  await tollgate(['accounts', 'create', 'ada'], folder)

  const codes: number[] = []
  for (const args of [
    ['accounts', 'create', 'acct_1'],
    ['accounts', 'create', 'x'.repeat(300)],
    ['grant', 'ada', '1', '--note', 'x'.repeat(600)],
    ['usage', '--from', '2026-11-02', '--to', '2026-11-01'],
    ['usage', '--account', 'nobody'],
  ])
    codes.push(await tollgate(args, folder))

  expect(codes).toEqual([2, 2, 2, 2, 1])
})

async function tollgate(args: readonly string[], environment: Record<string, string>): Promise<number> {
  return main(args, {
    version: '0.0.0',
    environment,
    loadApp: () => import('../../app.ts'),
    out: () => undefined,
    err: () => undefined,
  })
}
