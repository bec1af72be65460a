import { afterAll, describe, expect, test } from 'bun:test'
import { expectAccessible } from './support/accessibility.ts'
import {
  LOOKS,
  PASSWORD,
  settled,
  startConsole,
  visit,
  type ConsoleGateway,
  type Look,
} from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('sign-in to the console', () => {
  const { newPage, signedIn, emailOf } = started ?? ({} as ConsoleGateway)

  test('a user signs in with a password, reloads the page, and signs out', async () => {
    await signedIn('owner')
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
    await page.context().close()
  })

  test('a wrong password says so at the form, and the e-mail stays', async () => {
    const page = await newPage()
    await visit(page, '')

    await page.getByLabel('E-mail').fill(emailOf('owner'))
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()

    expect(await page.getByRole('alert').textContent()).toContain('password')
    expect(await page.getByLabel('E-mail').inputValue()).toBe(emailOf('owner'))
    await page.context().close()
  })

  test('a link that was used before does not work, and says what to do', async () => {
    const page = await newPage()
    await visit(page, '#link=tgl_used')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link does not work')
    expect(await page.locator('main').textContent()).toContain('Ask for a new one')
    await page.context().close()
  })

  test.each(Object.keys(LOOKS) as Look[])(
    'the sign-in page has no violation of WCAG in the look %s',
    async look => {
      const page = await newPage(look)
      await visit(page, '')

      await expectAccessible(page)
      await page.context().close()
    },
  )
})
