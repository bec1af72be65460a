import { expect, test } from 'bun:test'
import { TurnQueue } from './turn-queue.ts'

const rethrow = (_: unknown, error: unknown) => {
  throw error
}
const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

test('what came in a turn is handled at its end, in order', async () => {
  const handled: number[] = []
  const queue = new TurnQueue<number>(item => handled.push(item), rethrow)

  for (const item of [1, 2, 3]) queue.add(item)
  expect(handled).toEqual([])
  await turn()

  expect(handled).toEqual([1, 2, 3])
})

test('all of a cohort is handled before what was put off by the first of it goes on', async () => {
  const steps: string[] = []
  const queue = new TurnQueue<string>(name => {
    void Promise.resolve().then(() => steps.push(`${name}: second step`))
    steps.push(`${name}: first step`)
  }, rethrow)

  queue.add('a')
  queue.add('b')
  await turn()

  expect(steps).toEqual(['a: first step', 'b: first step', 'a: second step', 'b: second step'])
})

test('what comes while others are handled waits for the next turn', async () => {
  const handled: number[] = []
  const queue = new TurnQueue<number>(item => {
    handled.push(item)
    if (item < 3) queue.add(item + 1)
  }, rethrow)

  queue.add(1)
  await turn()
  expect(handled).toEqual([1])
  await turn()
  expect(handled).toEqual([1, 2])
  await turn()
  expect(handled).toEqual([1, 2, 3])
})

test('of 200 items 64 are handled in a turn', async () => {
  const handled: number[] = []
  const queue = new TurnQueue<number>(item => handled.push(item), rethrow)

  for (let item = 0; item < 200; item += 1) queue.add(item)

  const counts: number[] = []
  for (let turns = 0; turns < 4; turns += 1) {
    await turn()
    counts.push(handled.length)
  }
  expect(counts).toEqual([64, 128, 192, 200])
  expect(handled).toEqual(Array.from({ length: 200 }, (_, item) => item))
})

test('what is thrown for one is told, and the others are handled', async () => {
  const handled: number[] = []
  const told: unknown[] = []
  const queue = new TurnQueue<number>(
    item => {
      if (item === 2) throw new Error('two')
      handled.push(item)
    },
    (item, error) => told.push(item, error),
  )

  for (const item of [1, 2, 3]) queue.add(item)
  await turn()

  expect(handled).toEqual([1, 3])
  expect(told).toEqual([2, new Error('two')])
})
