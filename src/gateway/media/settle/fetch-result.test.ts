import { expect, test } from 'bun:test'
import { NoMediaTries, Slots } from './fetch-result.ts'
import { anId } from '../../../../test/support/ledger-builders.ts'
import { turn } from '../../../../test/support/turn.ts'

/** Work that ends when a test says so. */
function works(count: number) {
  const begun: number[] = []
  const ends = Array.from({ length: count }, () => Promise.withResolvers<number>())
  const work = (index: number) => () => {
    begun.push(index)
    return ends[index]!.promise
  }
  return { begun, ends, work }
}

test('work beyond the slots waits, and begins in its order', async () => {
  const slots = new Slots(2)
  const { begun, ends, work } = works(4)
  const done = [0, 1, 2, 3].map(index => slots.run(work(index)))
  await turn()
  const first = [...begun]

  ends[1]!.resolve(11)
  await turn()
  const second = [...begun]
  for (const { resolve } of ends) resolve(0)

  expect([first, second]).toEqual([
    [0, 1],
    [0, 1, 2],
  ])
  expect(await Promise.all(done)).toEqual([0, 11, 0, 0])
  expect(begun).toEqual([0, 1, 2, 3])
})

test('work that fails frees its slot', async () => {
  const slots = new Slots(1)
  const { ends, work } = works(2)
  const done = [slots.run(work(0)), slots.run(work(1))]

  ends[0]!.reject(new Error('disk'))
  ends[1]!.resolve(7)

  expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

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
