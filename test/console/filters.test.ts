import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { makeBusy } from './support/busy-gateway.ts'
import { settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const DAY_MS = 86_400_000
/** A day that is always within the 92 days that a list or report has. */
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const started = await startConsole()
const busy = started === undefined ? undefined : await makeBusy(started)
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('filters and lists', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)

  const rows = (page: Page) => page.locator('tbody tr')
  const filterIn = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)
  /** The statuses of the calls of a list, while `act` runs and until nothing is loading. */
  const statusesOf = async (page: Page, path: string, act: () => Promise<void>) => {
    const statuses: number[] = []
    page.on('response', response => {
      if (response.url().includes(path)) statuses.push(response.status())
    })
    await act()
    await settled(page)
    return statuses
  }

  test('a day that is typed key by key applies when it is complete, and no key resets the field', async () => {
    const page = await signedIn('viewer')
    const [day, dayBefore] = [daysAgo(54), daysAgo(55)]
    await visit(page, `requests?from=${daysAgo(18)}`)
    const field = page.getByLabel(/^From/)
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))

    await field.focus()
    await page.keyboard.type(day.replace(/(\d+)-(\d+)-(\d+)/, '$2$3$1'))
    const typed = await field.inputValue()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.searchParams.get('from') === day)
    await settled(page)

    expect(typed).toBe(day)
    // East of Greenwich, a day begins on the one before it in UTC.
    const others = new RegExp(`from=(?!${day}|${dayBefore})\\d{4}`)
    expect(asked.filter(url => others.test(url))).toEqual([])
    await page.close()
  })

  test('an unfinished day does not apply, and leaving the field brings the day of the address back', async () => {
    const page = await signedIn('viewer')
    const day = daysAgo(18)
    await visit(page, `accounts/${busy!.id}?from=${day}`)
    const field = page.getByLabel(/^From/)

    await field.focus()
    await page.keyboard.type('1101')
    await page.keyboard.press('Backspace')
    await page.getByLabel(/^To/).focus()

    expect(await field.inputValue()).toBe(day)
    expect(filterIn(page, 'from')).toBe(day)
    await page.close()
  })

  test('a report of more than 92 days begins later and says so, and no more is asked for and drawn', async () => {
    const page = await signedIn('viewer')
    const asked: number[] = []
    page.on('request', request => {
      const { pathname, searchParams } = new URL(request.url())
      const at = (name: string) => Date.parse(searchParams.get(name) ?? '')
      if (pathname.endsWith('/admin/margins')) asked.push((at('to') - at('from')) / DAY_MS)
    })
    await visit(page, `accounts/${busy!.id}?from=0002-11-24`)

    expect(await page.locator('main').textContent()).toContain('A report has at most 92 days')
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.locator('.chart rect.bar').count()).toBeLessThan(200)
    expect(new Set(asked)).toEqual(new Set([92]))
    await page.close()
  })

  test.each(['abc', '2026-13-45', ''])('the last day "%s" of an address is no error', async to => {
    const page = await signedIn('viewer')
    await visit(page, `accounts/${busy!.id}?to=${to}`)

    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Spend by day' }).count()).toBe(1)
    await page.close()
  })

  test('a first day that its month does not have is no error', async () => {
    const page = await signedIn('viewer')
    await visit(page, `accounts/${busy!.id}?from=2026-02-30&to=2026-03-05`)

    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Spend by day' }).count()).toBe(1)
    await page.close()
  })

  test('each page says in which time zone its days are counted', async () => {
    const page = await signedIn('viewer')
    const labels: string[] = []
    for (const path of [
      `accounts/${busy!.id}`,
      'margins',
      `requests?from=${daysAgo(18)}`,
      'audit',
      'usage',
    ]) {
      await visit(page, path)
      labels.push(await page.locator('label', { hasText: /^From/ }).innerText())
    }

    expect(labels.every(label => /^From \(.+\)$/.test(label))).toBe(true)
    await page.close()
  })

  test('an account is found by a part of its name in any case, and nothing is refused while one types', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')
    const all = await rows(page).count()

    const statuses = await statusesOf(page, '/admin/requests?', async () => {
      await page.getByLabel('Account').pressSequentially('love', { delay: 20 })
      await page.waitForTimeout(400)
    })
    const during = await rows(page).count()
    await page.getByLabel('Account').fill('lovelace & co')
    await page.waitForURL(/account=acct_/)
    await settled(page)

    expect([all, during, await rows(page).count()]).toEqual([5, 5, 5])
    expect(statuses.filter(status => status >= 400)).toEqual([])
    await page.reload()
    await settled(page)
    await page.waitForFunction(() =>
      [...document.querySelectorAll('input')].some(input => input.value === 'Lovelace & Co'),
    )
    await page.close()
  })

  test('a name that no account has is said at the field, and the rows stay', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'margins')

    await page.getByLabel('Account').fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('No account has this name or id.').waitFor()

    expect(filterIn(page, 'account')).toBeNull()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await rows(page).count()).toBeGreaterThan(0)
    await page.close()
  })

  test('a status applies when it is complete, and an incomplete one is said at the field', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')

    const statuses = await statusesOf(page, '/admin/requests?', async () => {
      await page.getByLabel('Status', { exact: true }).pressSequentially('40', { delay: 20 })
      await page.keyboard.press('Tab')
      await page.getByText('Three digits, such as 429.').waitFor()
      await page.getByLabel('Status', { exact: true }).fill('402')
      await page.waitForURL(/status=402/)
    })

    expect(statuses.filter(status => status >= 400)).toEqual([])
    expect(await rows(page).count()).toBe(1)
    await page.close()
  })

  test('the rows of the filters before stay until those of the new ones arrive', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')
    const held = Promise.withResolvers<void>()
    await page.route('**/admin/requests?*', async route => {
      await held.promise
      await route.continue()
    })

    await page.getByLabel('Model').fill('sandbox-image')
    await page.locator('[aria-busy="true"]').waitFor({ state: 'attached' })
    const [during, skeletons] = [await rows(page).count(), await page.locator('.loading').count()]
    held.resolve()
    await settled(page)

    expect([during, skeletons, await rows(page).count()]).toEqual([5, 0, 1])
    await page.close()
  })

  test('"More filters" stays open when its last filter is cleared', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests?user=end-user-7')
    const field = page.getByLabel('End user')

    await field.fill('')
    await page.waitForURL(url => !url.search.includes('user='))
    await settled(page)

    expect(await field.isVisible()).toBe(true)
    await page.close()
  })

  test('a page of a longer list cannot be sorted, because the rows would not be the first of the list', async () => {
    for (let number = 1; number <= 60; number += 1)
      await gateway.admin('POST', 'accounts', { name: `Sorted ${number}` })
    const page = await signedIn('viewer')
    await visit(page, 'accounts')
    const ofPart = await page.locator('th button').count()
    await visit(page, 'accounts?search=Sorted%201')
    const ofWhole = await page.locator('th button').count()

    expect([ofPart, ofWhole]).toEqual([0, 6])
    await page.close()
  })

  test.each([
    ['keys', 'keys?search=nothing-has-this'],
    ['providers', 'providers?search=nothing-has-this'],
    ['settings', 'settings?search=nothing-has-this&source=environment'],
    ['models', 'models?search=nothing-has-this'],
    ['accounts', 'accounts?search=nothing-has-this'],
    ['margins', 'margins?from=2026-01-01&to=2026-01-02'],
  ])('the empty list of %s offers to clear its filters', async (_, path) => {
    const page = await signedIn('viewer')
    await visit(page, path)

    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await rows(page).first().waitFor()

    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })

  test('the page of keys lists those of all accounts, and finds them by their account', async () => {
    const account = await gateway.account({ grant: '0' })
    const page = await signedIn('viewer')
    await visit(page, 'keys')
    const first = await rows(page).first().textContent()

    await page.getByLabel(/^Search/).fill('lovelace')
    await page.waitForURL(/search=lovelace/)
    await settled(page)

    expect(first).toContain(account.key.slice(0, 12))
    expect(await rows(page).count()).toBe(1)
    expect(await rows(page).textContent()).toMatch(/production.*Lovelace & Co.*tg_live_.*Active/)
    await page.close()
  })

  test('the text of a key that is put into the search does not get into an address', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'keys')
    const addresses: string[] = []
    page.on('request', request => addresses.push(request.url()))

    await page.getByLabel(/^Search/).fill(busy!.key)
    await page.keyboard.press('Enter')
    await page.getByText('Find the whole text of a key below').waitFor()

    expect(page.url()).toEndWith('/console/keys')
    expect(addresses.join(' ')).not.toContain(busy!.key)
    await page.close()
  })
})
