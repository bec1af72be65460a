import { expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { base64Output, linkOutput, millisecondsOf, costOfCredits } from './result-values.ts'

test.each([
  ['https://a.example/1.png', { from: 'url', url: 'https://a.example/1.png' }],
  ['/relative.png', { from: 'url', url: '/relative.png' }],
  ['data:image/png;base64,AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['DATA:;BASE64,AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['data:image/png;base64,%', undefined],
  ['data:image/png;base64, ', undefined],
  ['data:text/plain,hello', { from: 'url', url: 'data:text/plain,hello' }],
  ['', undefined],
  [7, undefined],
  [null, undefined],
])('the output behind %j is %j', (link, output) => {
  expect(linkOutput(link)).toEqual(output as never)
})

test.each([
  ['AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['', undefined],
  [' ', undefined],
  ['%', undefined],
  [undefined, undefined],
])('the output of the base64 %j is %j', (base64, output) => {
  expect(base64Output(base64)).toEqual(output as never)
})

test.each([
  [5, 5000],
  ['5', 5000],
  [5.0404, 5040],
  ['5.041', 5041],
  [0, undefined],
  [-5, undefined],
  ['-5', undefined],
  ['', undefined],
  ['1e3', undefined],
  ['five', undefined],
  [1e300, undefined],
  [NaN, undefined],
  [null, undefined],
  [undefined, undefined],
  [true, undefined],
])('%j seconds are %j milliseconds', (seconds, milliseconds) => {
  expect(millisecondsOf(seconds)).toBe(milliseconds as number)
})

test.each<[unknown, string]>([
  [50, '0.5'],
  ['50', '0.5'],
  [0, '0'],
  ['0', '0'],
  [0.5, '0.005'],
  // Of a billionth of a credit, the operator pays a nano-USD.
  ['0.000000001', '0.000000001'],
  [0.1 + 0.2, '0.003'],
])('%j credits at 0.01 USD cost %s', (credits, cost) => {
  expect(costOfCredits(credits, { creditUsd: usd('0.01') })).toEqual({ providerCost: usd(cost) })
})

test.each([undefined, null, '', 'ten', -1, '-1', Number.NaN, Infinity, 1e12, {}, true])(
  '%j is not a number of credits, so the cost is not known',
  credits => {
    expect(costOfCredits(credits, { creditUsd: usd('0.01') })).toEqual({})
  },
)

test.each([999_999_999, '999999999999999999'])(
  '%j credits at 1,000,000 USD cost more than any job, so the cost is not known',
  credits => {
    expect(costOfCredits(credits, { creditUsd: usd('1000000') })).toEqual({})
  },
)

test('without the price of a credit the cost is not known', () => {
  expect(costOfCredits(50, {})).toEqual({})
})
