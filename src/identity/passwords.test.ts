import { expect, test } from 'bun:test'
import { openPasswords } from './passwords.ts'

const PLACES = 22

test('when 22 people sign in at once, the next one is told to try again, and the 22 are served', async () => {
  const passwords = openPasswords()
  const hash = await passwords.hash('a long password')
  const waiting = Array.from({ length: PLACES }, () => passwords.matches('a long password', hash))

  const refused = await passwords.matches('a long password', hash).catch((error: unknown) => error)
  const served = await Promise.all(waiting)

  expect(refused).toMatchObject({ code: 'unavailable' })
  expect(served).toEqual(Array.from({ length: PLACES }, () => true))
  expect(await passwords.matches('a long password', hash)).toBe(true)
}, 60_000)

test('no password matches a user who has none', async () => {
  expect(await openPasswords().matches('', null)).toBe(false)
})
