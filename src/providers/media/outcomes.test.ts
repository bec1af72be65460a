import { expect, test } from 'bun:test'
import { isUsableId, reasonOf, waitOf, failedJob, isOperatorText, UNEXPLAINED_FAILURE } from './outcomes.ts'

test.each([
  [307, 'operator'],
  [400, 'invalid'],
  [401, 'operator'],
  [402, 'operator'],
  [403, 'operator'],
  [404, 'invalid'],
  [408, 'invalid'],
  [409, 'invalid'],
  [422, 'invalid'],
  [429, 'rate_limited'],
])('a refusal with the status %d is %s', (status, reason) => {
  expect(reasonOf(status)).toBe(reason as never)
})

test.each([
  ['7', true],
  ['a/../b', true],
  ['x'.repeat(4096), true],
  ['', false],
  ['.', false],
  ['..', false],
  ['\ud800', false],
  [7, false],
  [undefined, false],
])('a path can name the id %j: %p', (id, is) => {
  expect(isUsableId(id)).toBe(is)
})

test('the time to wait is a member if an answer asks for one', () => {
  expect([waitOf({ retryAfterS: 7 }), waitOf({})]).toEqual([{ retryAfterS: 7 }, {}])
})

test.each([
  'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
  'You have insufficient credit to run this model.',
  'Insufficient credits.',
  'You do not have enough credits to run this task.',
  'Your rate limit is reduced while you have less than $5.0 in credit.',
  'Insufficient account balance',
  'Add a payment method.',
  'The monthly spending limit is reached.',
])("a failure about the operator's account shows nothing of it: %s", message => {
  expect(isOperatorText(message)).toBe(true)
  expect(failedJob(message, 'locked')).toEqual({ outcome: 'failed', message: UNEXPLAINED_FAILURE })
})

test.each([
  'The prompt was flagged as sensitive (E005).',
  'The white balance of the image could not be read.',
  'The image shows a credit card.',
])('a failure about the job keeps its text and its code: %s', message => {
  expect(failedJob(message, 'E005')).toEqual({ outcome: 'failed', message, code: 'E005' })
  expect(failedJob(message)).toEqual({ outcome: 'failed', message })
})
