import { expect, test } from 'bun:test'
import { clockProblem } from './clock-problem.ts'

test.each([
  [0, undefined],
  [5000, undefined],
  [-5000, undefined],
  [5001, '5.0 s ahead of the database'],
  [-600_000, '600.0 s behind the database'],
])('an offset of %p ms is a problem only beyond five seconds', (offsetMs, words) => {
  const problem = clockProblem(offsetMs)

  if (words === undefined) expect(problem).toBeUndefined()
  else expect(problem).toContain(words)
})
