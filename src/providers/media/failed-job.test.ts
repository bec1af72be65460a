import { expect, test } from 'bun:test'
import { failedJob, isOperatorText } from './failed-job.ts'
import { UNEXPLAINED_FAILURE } from './outcomes.ts'

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
