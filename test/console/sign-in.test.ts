import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { PASSWORD, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('sign-in to the console', () => {
  const { newPage, signedIn, emailOf } = started ?? ({} as ConsoleGateway)
  beforeAll(async () => {
    // A gateway without users has no form to sign in.
    if (started !== undefined) await (await signedIn('owner')).close()
  })

  test('a user signs in with a password, reloads the page, and signs out', async () => {
    const page = await newPage()
    await visit(page, '')

    await page.getByLabel('E-mail').fill(emailOf('owner'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.reload()
    await settled(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()

    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0)
    await page.close()
  })

  test('a wrong password says so at the form, and the e-mail stays', async () => {
    const page = await newPage()
    await visit(page, '')

    await page.getByLabel('E-mail').fill(emailOf('owner'))
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()

    expect(await page.getByRole('alert').textContent()).toContain('password')
    expect(await page.getByLabel('E-mail').inputValue()).toBe(emailOf('owner'))
    await page.close()
  })

  test('after too many tries the time to wait is said once', async () => {
    const page = await newPage()
    await visit(page, '')
    await page.getByLabel('E-mail').fill('nobody@example.com')
    const alert = page.getByRole('alert')
    for (
      let tries = 0;
      !((await alert.count()) > 0 && (await alert.innerText()).includes('Too many'));
      tries += 1
    ) {
      expect(tries).toBeLessThan(20)
      await page.getByLabel('Password').fill('not the password')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForFunction(() => document.querySelector('[type="submit"]:enabled') !== null)
    }

    expect((await alert.innerText()).match(/Try again in \d+ seconds?\b/g)).toHaveLength(1)
    await page.close()
  })

  test('a link that was used before does not work, and says what to do', async () => {
    const page = await newPage()
    await visit(page, '#link=tgl_used')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link does not work')
    expect(await page.locator('main').textContent()).toContain('Ask for a new one')
    await page.close()
  })

  test.each([
    ['disabled', 'Your user is disabled'],
    ['other', 'did not succeed'],
    ['<img src=x onerror=alert(1)>', 'did not succeed'],
  ])(
    'the reason %s of a refused sign-in at the provider is shown as a text of the page',
    async (reason, text) => {
      const page = await newPage()
      await visit(page, `#sign-in-error=${reason}`)

      expect(await page.locator('main').textContent()).toContain(text)
      expect(await page.locator('main').innerHTML()).not.toContain('onerror')
      await page.close()
    },
  )

  test('the sign-in page has no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await newPage()
    await visit(page, '')

    await expectAccessibleInLooks(page)
    await page.close()
  })
})
