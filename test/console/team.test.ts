import { afterAll, describe, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import { farFromMidnight } from '../support/far-from-midnight.ts'
import { expectAccessible, expectAccessibleInLooks } from './support/accessibility.ts'
import {
  acceptInvitation,
  PASSWORD,
  ROLES,
  settled,
  startConsole,
  visit,
  type ConsoleGateway,
} from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('users and the own profile', () => {
  const { gateway, newPage, signedIn } = started ?? ({} as ConsoleGateway)

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
    await acceptInvitation(guest, link!, { password: 'a long enough password' })
    await guest.getByRole('navigation', { name: 'Main' }).waitFor()
    await visit(guest, 'profile')

    expect(await guest.locator('main').textContent()).toContain('Support')
    expect(await guest.locator('main').textContent()).toContain('$12.50')
    expect(guest.url()).not.toContain('link')
    await guest.close()
    await page.close()
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
    await page.locator('[name="email"]:focus').waitFor()
    await page.close()
  })

  test('after a navigation the heading has the focus, and the skip link leads to the content', async () => {
    const page = await signedIn('owner')
    await visit(page, 'users')

    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
    await page.locator('h1:focus').waitFor()
    await page.getByRole('link', { name: 'Skip to the content' }).focus()
    await page.keyboard.press('Enter')

    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
    expect(page.url()).toEndWith('/console/profile')
    await page.close()
  })

  test('an owner who changes their own name sees it in the sidebar at once', async () => {
    const page = await signedIn('owner')
    await visit(page, 'users')
    await page.getByRole('cell', { name: 'Ada owner' }).getByRole('link').click()

    await page.getByLabel('Name', { exact: true }).fill('Ada Byron')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The user is changed.').waitFor()

    expect(await page.getByRole('link', { name: /^Profile/ }).innerText()).toContain('Ada Byron')
    await page.getByLabel('Name', { exact: true }).fill('Ada owner')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.own', { hasText: 'Ada owner' }).waitFor()
    await page.close()
  })

  test('signing out of a session that has ended leads to the sign-in page', async () => {
    const page = await newPage()
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: 'gone@example.com',
      name: 'Gone',
      role: 'viewer',
    })
    await acceptInvitation(page, link)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    // A call that is refused leads there too, before the click.
    await settled(page)
    await page.context().clearCookies()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()

    expect(await page.getByText('You are still signed in').count()).toBe(0)
    await page.close()
  })

  test('on a low screen the whole sidebar is visible, and the entry of the page is in view', async () => {
    const page = await signedIn('owner')
    await visit(page, 'tokens')
    const isInView = (name: string) =>
      page
        .locator('.sidebar')
        .getByText(name, { exact: true })
        .evaluate(element => {
          const { top, bottom } = element.getBoundingClientRect()
          return top >= 0 && bottom <= innerHeight
        })
    const atNormalHeight = [await isInView('Overview'), await isInView('Sign out')]
    await page.setViewportSize({ width: 1280, height: 400 })
    await visit(page, 'tokens')

    expect(atNormalHeight).toEqual([true, true])
    expect(await isInView('Admin tokens')).toBe(true)
    await page.close()
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
    await page.close()
  })

  test('the choice of dark colours stays after a reload, whatever the system has', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'profile')

    await page.getByRole('button', { name: 'Dark' }).click()
    await page.reload()
    await settled(page)

    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(background).toBe('rgb(16, 17, 22)')
    await page.close()
  })

  test.each(ROLES.filter(role => role !== 'owner'))('the role %s does not see the users', async role => {
    const page = await signedIn(role)
    await visit(page, 'users')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0)
    await page.close()
  })

  test('support sees what is left of its grants today, and without a limit no button to grant', async () => {
    await farFromMidnight()
    const { id } = await gateway.account()
    const page = await signedIn('support')
    await visit(page, `accounts/${id}`)
    const grant = page.getByRole('button', { name: 'Grant credit' })
    const dialog = page.getByRole('dialog')
    await grant.click()
    await dialog.getByLabel('Amount, in US dollars').fill('5.5')
    await dialog.getByRole('button', { name: 'Grant credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    await grant.click()
    await dialog.getByText('You may grant $20.00 a day in total. $14.50 is left today (UTC).').waitFor()
    await page.close()

    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: 'reader@example.com',
      name: 'Grace',
      role: 'support',
    })
    const reader = await newPage()
    await acceptInvitation(reader, link)
    await reader.getByRole('navigation', { name: 'Main' }).waitFor()
    await visit(reader, `accounts/${id}`)
    expect(await reader.locator('.page-head').getByRole('button').count()).toBe(0)
    await reader.close()
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
    await page.close()
  })

  test('a user sets up codes with the password, is asked for one, and signs out everywhere', async () => {
    const email = 'codes@example.com'
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', { email, role: 'viewer' })
    const page = await newPage()
    await acceptInvitation(page, link, { name: 'Grace' })
    await page.getByRole('link', { name: 'Profile' }).click()

    await page.getByRole('button', { name: 'Set up' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Continue' }).click()
    const problem = await page.getByRole('dialog').locator('.problem').textContent()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    await expectAccessible(page)
    const secret = (await page.getByRole('dialog').locator('code').textContent()) ?? ''
    const codeAt = (timestamp: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
    await page.getByLabel('Code', { exact: true }).fill(codeAt(Date.now()))
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('On. Sign-in asks for a code.').waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    // The code of the next half minute, because no code counts twice.
    await page.getByLabel('Code').fill(codeAt(Date.now() + 30_000))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()

    expect(problem).toContain('This is not your password.')
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await signedIn('owner')
    for (const path of ['users', 'profile', 'no-such-page']) {
      await visit(page, path)
      await expectAccessibleInLooks(page)
    }
    await visit(page, 'users')
    await page.getByRole('button', { name: 'Invite' }).first().click()
    await expectAccessibleInLooks(page)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Ada owner', exact: true }).click()
    await settled(page)
    await expectAccessibleInLooks(page)
    await visit(page, 'profile')
    await visit(page, 'users')
    await page.close()
  })
})
