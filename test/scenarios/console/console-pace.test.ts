import { afterAll, beforeAll, expect, test } from 'bun:test'
import { aVisitor, callConsole, outcomeOf, PASSWORD } from '../../support/console.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const clock = fakeClock()
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    environment: { TOLLGATE_TRUST_PROXY: '127.0.0.1' },
    overrides: { clock },
  })
})
afterAll(() => gateway.stop())

/** A try to sign in from an address that the proxy names. */
async function tryFrom(address: string, email: string, password = 'a wrong password'): Promise<string> {
  const reply = await callConsole(gateway, 'POST', 'session', {
    body: { email, password },
    headers: { 'x-forwarded-for': address },
  })
  return outcomeOf(reply)
}

test('another address of the same IPv6 network does not get around the wait, and another network has none', async () => {
  const outcomes: string[] = []
  // Asking for a link is a try too, and costs no hash.
  for (let count = 0; count < 20; count += 1) {
    const body = { email: `nobody${count}@example.com` }
    const headers = { 'x-forwarded-for': `2001:db8:0:7::${count.toString(16)}` }
    outcomes.push(await outcomeOf(await callConsole(gateway, 'POST', 'resets', { body, headers })))
  }

  const sameNetwork = await tryFrom('2001:db8:0:7:ffff:ffff:ffff:ffff', 'nobody@example.com')
  const otherNetwork = await tryFrom('2001:db8:0:8::1', 'nobody@example.com')

  expect(new Set(outcomes)).toEqual(new Set(['200']))
  expect([sameNetwork, otherNetwork]).toEqual(['429 too_many_tries', '401 wrong_credentials'])
})

test('guessing a password has to wait, and the right password then signs in', async () => {
  const email = 'guessed@example.com'
  await aVisitor(gateway, { role: 'viewer', email })
  const outcomes: string[] = []

  for (let count = 0; count < 6; count += 1) outcomes.push(await tryFrom(`192.0.2.${count}`, email))
  const early = await tryFrom('198.51.100.1', email, PASSWORD)
  clock.advance(1000)
  const late = await tryFrom('198.51.100.1', email, PASSWORD)

  expect(outcomes.slice(4)).toEqual(['401 wrong_credentials', '429 too_many_tries'])
  expect([early, late]).toEqual(['429 too_many_tries', '200'])
})
