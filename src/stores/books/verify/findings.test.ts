import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { sha256Of } from '../../sqlite/commits/hashes.ts'
import { findingOf, FoundProblems, type Finding, type Names } from './findings.ts'

const names: Names = {
  ofAccount: accountId => `Account "ada" (${accountId})`,
  ofJob: rowId => `Account "ada" (7): job ${rowId}`,
  accountOfJob: rowId => (rowId === 3n ? 7n : null),
}

function problemsOf(findings: readonly Finding[], accepted: readonly string[] = []) {
  const found = new FoundProblems({ names, sha256Of, accepted: new Set(accepted) })
  found.add(findings)
  return found
}

test('a problem names its account, and its id comes from its text', () => {
  const message = 'Account "ada" (7): hold hold_1 has no charge.'
  const hash = createHash('sha256').update(`null ${message}`).digest('hex')

  const { problems, affected } = problemsOf([findingOf(7n, 'hold hold_1 has no charge')])

  expect(problems).toEqual([
    { id: `p_${hash.slice(0, 12)}`, accountId: 7, entryId: null, message, isAccepted: false },
  ])
  expect(affected).toEqual([7])
})

test('a problem of a job concerns the account of the job', () => {
  const message = [{ job: 3n }, ': event 5 was changed.']

  const { problems, affected } = problemsOf([{ accountId: { job: 3n }, entryId: null, message }])

  expect(problems[0]!.message).toBe('Account "ada" (7): job 3: event 5 was changed.')
  expect(affected).toEqual([7])
})

test('a problem of a job that is missing concerns everything', () => {
  const lost = { accountId: { job: 4n }, entryId: null, message: ['An event was inserted.'] }

  expect(problemsOf([findingOf(7n, 'is wrong'), lost]).affected).toBe('everything')
})

test('an accepted problem is reported, and affects no account', () => {
  const finding = findingOf(7n, 'is wrong')
  const [first] = problemsOf([finding]).problems

  const { problems, affected } = problemsOf([finding], [first!.id])

  expect(problems[0]!.isAccepted).toBe(true)
  expect(affected).toEqual([])
})

test('two problems with the same key have the same id, whatever their amounts are', () => {
  const key = ['balances 7 available 5']
  const [first, second] = problemsOf([
    { ...findingOf(7, 'balance is 5'), key },
    { ...findingOf(7, 'balance is 6'), key },
  ]).problems

  expect(first!.id).toBe(second!.id)
})

test('problems beyond the hundredth are not listed, and their accounts are affected all the same', () => {
  const findings = Array.from({ length: 120 }, (_, index) => findingOf(index, 'is wrong'))

  const { problems, affected } = problemsOf(findings)

  expect([problems.length, affected.length]).toEqual([100, 120])
})
