import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'bun:test'
import { usd } from '../money.ts'
import { balanceAlertAfter, eventTypes } from './event.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')

test('docs/webhooks.md has a row for each type of event, with its subject and its meaning', () => {
  const rows = [...page.matchAll(/^\| `([\w.]+)` +\| (account|gateway) +\| (.+?) +\|$/gm)]

  expect(Object.fromEntries(rows.map(([, type, about, meaning]) => [type, { about, meaning }]))).toEqual(
    eventTypes,
  )
})

test.each([
  ['5', false, undefined],
  ['4.999999999', false, { isLow: true, isTold: true }],
  ['4', true, undefined],
  ['5', true, { isLow: false, isTold: false }],
  ['-1', false, { isLow: true, isTold: true }],
] as const)(
  'with an alert below 5, a balance of %s after isLow %p leads to %p',
  (balance, isLow, expected) => {
    const now = { accountId: 1, balance: usd(balance), atMs: 0 }

    const after = balanceAlertAfter({ below: usd('5'), isLow }, now)

    expect(after && { isLow: after.alert.isLow, isTold: after.event !== undefined }).toEqual(expected)
  },
)
