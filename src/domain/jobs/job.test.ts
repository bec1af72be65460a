import { expect, test } from 'bun:test'
import { jobTransitions, isFinal, mayFollow, type JobState } from './job.ts'

const states = Object.keys(jobTransitions) as JobState[]

/** The rows of the contract's table "States and transitions" that end in a state of a job. */
const contractRows: readonly (readonly [from: JobState, to: JobState])[] = [
  // The row `(none) → processing` passes through `queued`, which is the job before its submission is answered.
  ['queued', 'processing'],
  ['queued', 'failed'],
  ['queued', 'unknown_submit'],
  ['processing', 'completed'],
  ['processing', 'failed'],
  ['unknown_submit', 'completed'],
  ['unknown_submit', 'failed'],
]

/**
 * A provider that answers the submission with the result; an unknown submission that the provider is found to be
 * running.
 */
const ownRows: readonly (readonly [from: JobState, to: JobState])[] = [
  ['queued', 'completed'],
  ['unknown_submit', 'processing'],
]

test('a job changes its state only as the table of states allows', () => {
  const allowed = new Set([...contractRows, ...ownRows].map(String))

  for (const from of states) {
    for (const to of states)
      expect([from, to, mayFollow(from, to)]).toEqual([from, to, allowed.has(`${from},${to}`)])
  }
})

test('completed and failed are final', () => {
  expect(states.filter(isFinal)).toEqual(['completed', 'failed'])
})
