import { expect, test } from 'bun:test'
import { aDestination } from '../../../test/support/upstream-rows.ts'
import { chooseUpstream } from './choose-upstream.ts'

test('an upstream with a lower order comes first, regardless of its place in the row and its weight', () => {
  const spare = aDestination('spare', { order: 2, weight: 1000 })
  const main = aDestination('main', { order: 1 })

  const chosen = chooseUpstream([spare, main], () => 0.999)

  expect(chosen).toBe(main)
})

test.each([
  [0, 'one'],
  [0.124, 'one'],
  [0.125, 'three'],
  [0.499, 'three'],
  [0.5, 'four'],
  [0.999_999, 'four'],
])('with weights 1, 3 and 4 in one order, the random number %d chooses %s', (random, id) => {
  const group = [
    aDestination('one', { weight: 1 }),
    aDestination('three', { weight: 3 }),
    aDestination('four', { weight: 4 }),
  ]

  const chosen = chooseUpstream(group, () => random)

  expect(chosen?.provider.id).toBe(id)
})

test('without upstreams, the choice is undefined', () => {
  expect(chooseUpstream([], () => 0)).toBeUndefined()
})
