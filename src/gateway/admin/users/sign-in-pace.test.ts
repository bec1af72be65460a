import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { SignInPace } from './sign-in-pace.ts'

const ada = { user: 'ada@example.com', address: '192.0.2.1' }

/** How many of many tries are admitted in a time, with one try a second. */
function admittedIn(seconds: number, trier: (second: number) => typeof ada): number {
  const clock = fakeClock()
  const pace = new SignInPace(clock)
  let admitted = 0
  for (let second = 0; second < seconds; second += 1) {
    try {
      pace.begin(trier(second))
      admitted += 1
    } catch {
      // It has to wait.
    }
    clock.advance(1000)
  }
  return admitted
}

test('who guesses the password of a user has about twelve tries an hour, from any number of addresses', () => {
  expect(admittedIn(36_000, second => ({ ...ada, address: `address ${second}` }))).toBeLessThan(140)
})

test('who guesses from one address has few tries, for any number of users', () => {
  expect(admittedIn(36_000, second => ({ ...ada, user: `user ${second}` }))).toBeLessThan(80)
})

test('who guesses from a network of IPv6 has as few tries as from one address', () => {
  const anAddress = (second: number) => `2001:db8:0:7:${second.toString(16)}::1`

  expect(admittedIn(36_000, second => ({ user: `user ${second}`, address: anAddress(second) }))).toBeLessThan(
    80,
  )
})

test.each([
  ['2001:db8:0:7::1', '2001:db8:0:7:ffff:ffff:ffff:ffff', 'together'],
  ['2001:db8:0:7::1', '2001:0DB8:0:7::2', 'together'],
  ['2001:db8:0:7::1', '2001:db8:0:8::1', 'apart'],
  ['192.0.2.1', '::ffff:192.0.2.1', 'together'],
  ['192.0.2.1', '192.0.2.2', 'apart'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', 'apart'],
])('tries from %s and from %s count %s', (one, other, expected) => {
  const pace = new SignInPace(fakeClock())
  for (let count = 0; count < 20; count += 1) pace.begin({ user: `user ${count}`, address: one })

  const outcome = outcomeOf(pace, { user: 'one more', address: other })

  expect(outcome === 'admitted' ? 'apart' : 'together').toBe(expected)
})

test('tries at the same time are slowed down too, and a refused try does not make the wait longer', () => {
  const clock = fakeClock()
  const pace = new SignInPace(clock)
  const outcomes = Array.from({ length: 50 }, () => outcomeOf(pace))

  clock.advance(1000)

  expect(outcomes.filter(outcome => outcome === 'admitted')).toHaveLength(5)
  expect(outcomes.at(-1)).toMatchObject({ code: 'too_many_tries', extras: { retryAfter: '1' } })
  expect(outcomeOf(pace)).toBe('admitted')
})

test('a success forgets the failed tries of the user', () => {
  const pace = new SignInPace(fakeClock())
  for (let count = 0; count < 4; count += 1) pace.begin(ada)

  pace.begin(ada)
  pace.succeeded(ada)

  for (let count = 0; count < 5; count += 1) expect(outcomeOf(pace)).toBe('admitted')
})

function outcomeOf(pace: SignInPace, trier = ada): unknown {
  try {
    pace.begin(trier)
    return 'admitted'
  } catch (error) {
    return error
  }
}
