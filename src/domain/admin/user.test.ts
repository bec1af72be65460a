import { describe, expect, test } from 'bun:test'
import { passwordProblem } from './password.ts'
import { sessionEndsAtMs, userState } from './user.ts'

const HOUR_MS = 3_600_000

test.each([
  ['twelve hours after its last use', 0, 5 * HOUR_MS, 17 * HOUR_MS],
  ['thirty days after the sign-in, however often it is used', 0, 719 * HOUR_MS, 720 * HOUR_MS],
])('a session ends %s', (_, createdAtMs, usedAtMs, endsAtMs) => {
  expect(sessionEndsAtMs({ createdAtMs, usedAtMs })).toBe(endsAtMs)
})

test.each([
  [
    'invited without a password and an identity',
    { disabledAtMs: null, hasPassword: false, identity: null },
    'invited',
  ],
  ['active with a password', { disabledAtMs: null, hasPassword: true, identity: null }, 'active'],
  ['disabled whatever else', { disabledAtMs: 1, hasPassword: true, identity: null }, 'disabled'],
] as const)('a user is %s', (_, user, state) => {
  expect(userState(user)).toBe(state)
})

describe('a new password', () => {
  test.each([
    ['eleven char', /at least 12/],
    ['x'.repeat(201), /at most 200/],
    ['aaaabbbbaaaabbbb', /different characters/],
    ['ada@example.com123', /e-mail address/],
  ])('%s is refused', (password, problem) => {
    expect(passwordProblem(password, 'ada@example.com')).toMatch(problem)
  })

  test('of four words is accepted', () => {
    expect(passwordProblem('correct horse battery staple', 'ada@example.com')).toBeUndefined()
  })
})
