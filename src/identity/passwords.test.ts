import { expect, test } from 'bun:test'
import { openPasswords } from './passwords.ts'

const PASSWORD = 'a long password'
const PLACES = 22

test('when 22 people sign in at once, the next one is told to try again, and the 22 are served', async () => {
  const passwords = openPasswords()
  // A hash says itself what its check costs: this one costs next to nothing.
  const hash = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  const waiting = Array.from({ length: PLACES }, () => passwords.matches(PASSWORD, hash))

  const refused = await passwords.matches(PASSWORD, hash).catch((error: unknown) => error)
  const served = await Promise.all(waiting)

  expect(refused).toMatchObject({ code: 'unavailable' })
  expect(served).toEqual(Array.from({ length: PLACES }, () => true))
  expect(await passwords.matches(PASSWORD, await passwords.hash(PASSWORD))).toBe(true)
})

test('no password matches a user who has none', async () => {
  expect(await openPasswords().matches('', null)).toBe(false)
})
