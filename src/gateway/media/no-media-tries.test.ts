import { expect, test } from 'bun:test'
import { anId } from '../../../test/support/ledger-builders.ts'
import { NoMediaTries } from './no-media-tries.ts'

test('each job has its own count, which ends when the job is forgotten', () => {
  const tries = new NoMediaTries()
  const [one, other] = [anId(), anId()]

  const counts = [tries.add(one), tries.add(one), tries.add(other)]
  tries.forget(one)

  expect(counts).toEqual([1, 2, 1])
  expect([tries.add(one), tries.add(other)]).toEqual([1, 2])
})

test('at most 10,000 jobs are counted, and the one that was fetched longest ago is forgotten', () => {
  const tries = new NoMediaTries()
  const [oldest, older] = [anId(), anId()]
  for (const id of [older, oldest, older]) tries.add(id)

  for (let others = 0; others < 9999; others += 1) tries.add(anId())

  expect(tries.add(older)).toBe(3)
  expect(tries.add(oldest)).toBe(1)
})
