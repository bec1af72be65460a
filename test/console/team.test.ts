import { afterAll, describe, expect, test } from 'bun:test'
import { expectAccessible } from './support/accessibility.ts'
import {
  LOOKS,
  PASSWORD,
  ROLES,
  settled,
  startConsole,
  visit,
  type ConsoleGateway,
  type Look,
} from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('users and the own profile', () => {
  const { newPage, signedIn } = started ?? ({} as ConsoleGateway)

  test('an owner invites a user, who opens the link and is signed in with that role', async () => {
    const page = await signedIn('owner')
    await visit(page, 'users')

    await page.getByRole('button', { name: 'Invite' }).first().click()
    await page.getByLabel('E-mail').fill('grace@example.com')
    await page.getByLabel('Name').fill('Grace')
    await page.getByLabel(/^Support/).check()
    await page.getByLabel(/^Grants a day/).fill('12.5')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const link = await page.getByRole('dialog', { name: 'Send this link' }).locator('code').textContent()
    const guest = await newPage()
    await guest.goto(link!)
    await guest.getByLabel('New password').fill('a long enough password')
    await guest.getByRole('button', { name: 'Accept and sign in' }).click()
    await guest.getByRole('navigation', { name: 'Main' }).waitFor()
    await visit(guest, 'profile')

    expect(await guest.locator('main').textContent()).toContain('Support')
    expect(await guest.locator('main').textContent()).toContain('$12.50')
    expect(guest.url()).not.toContain('link')
    await guest.context().close()
    await page.context().close()
  })

  test('an error of the gateway appears at the field that it names, which has the focus', async () => {
    const page = await signedIn('owner')
    await visit(page, 'users')

    await page.getByRole('button', { name: 'Invite' }).first().click()
    await page.getByLabel('E-mail').fill('owner@example.com')
    await page.getByLabel('Name').fill('Again')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()

    const problem = page.getByRole('dialog').locator('.problem, .note.bad')
    await problem.waitFor()
    expect(await problem.textContent()).toContain('owner@example.com')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('email')
    await page.context().close()
  })

  test('after a navigation the heading has the focus, and the skip link leads to the content', async () => {
    const page = await signedIn('owner')
    await visit(page, 'users')

    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
    const focused = await page.evaluate(() => document.activeElement?.tagName)
    await page.getByRole('link', { name: 'Skip to the content' }).focus()
    await page.keyboard.press('Enter')

    expect(focused).toBe('H1')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
    expect(page.url()).toEndWith('/console/profile')
    await page.context().close()
  })

  test('on a phone the navigation is a menu that closes after a choice', async () => {
    const page = await signedIn('owner', 'phone')
    await visit(page, 'profile')
    const menu = page.getByRole('navigation', { name: 'Main' })
    const wasShown = await menu.isVisible()

    await page.getByRole('button', { name: 'Menu' }).click()
    await menu.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()

    expect(wasShown).toBe(false)
    expect(await menu.isVisible()).toBe(false)
    await page.context().close()
  })

  test('the choice of dark colours stays after a reload, whatever the system has', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'profile')

    await page.getByRole('button', { name: 'Dark' }).click()
    await page.reload()
    await settled(page)

    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(background).toBe('rgb(16, 17, 22)')
    await page.context().close()
  })

  test.each(ROLES.filter(role => role !== 'owner'))('the role %s does not see the users', async role => {
    const page = await signedIn(role)
    await visit(page, 'users')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0)
    await page.context().close()
  })

  // After the tests of the roles, because it ends the sessions of its user.
  test('a user changes the password and stays signed in, with a session that can change more', async () => {
    const page = await signedIn('support')
    await visit(page, 'profile')

    for (const [current, next] of [
      [PASSWORD, 'another long password'],
      ['another long password', PASSWORD],
    ] as const) {
      await page.getByLabel('Current password').fill(current)
      await page.getByLabel('New password').fill(next)
      await page.getByRole('button', { name: 'Change the password' }).click()
      await page.getByText('The password is changed').first().waitFor()
      await page.getByRole('status').getByRole('button', { name: 'Close' }).first().click()
    }

    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Profile')
    await page.context().close()
  })

  test.each(Object.keys(LOOKS) as Look[])(
    'the pages have no violation of WCAG in the look %s',
    async look => {
      const page = await signedIn('owner', look)
      for (const path of ['users', 'profile', 'no-such-page']) {
        await visit(page, path)
        await expectAccessible(page)
      }
      await visit(page, 'users')
      await page.getByRole('button', { name: 'Invite' }).first().click()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('link', { name: 'Ada owner' }).click()
      await settled(page)
      await expectAccessible(page)
      await visit(page, 'profile')
      await visit(page, 'users')
      await page.context().close()
    },
  )
})
