import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { makeBusy } from './support/busy-gateway.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
const busy = started === undefined ? undefined : await makeBusy(started)
afterAll(() => started?.stop())

type Listed = { readonly data: readonly { readonly id: string; readonly error_code: string | null }[] }

describe.skipIf(started === undefined)('requests, jobs and charges', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)

  const rows = (page: Page) => page.locator('tbody tr')
  const firstOf = async (path: string) => (await gateway.admin<Listed>('GET', path)).data[0]!.id

  test('requests are filtered and sorted, and the address has the choice', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')
    const all = await rows(page).count()

    await page.getByLabel('Order').selectOption('Most expensive first')
    await page.waitForURL('**/requests?sort=cost')
    await settled(page)
    const first = await rows(page).first().textContent()
    await page.getByLabel('Result').selectOption('Failed')
    await page.waitForURL('**/requests?sort=cost&failed=true')
    await settled(page)
    await page.reload()
    await settled(page)

    expect(all).toBe(5)
    expect(first).toContain('sandbox-image')
    expect(first).toContain('$0.08')
    expect(await page.locator('tbody').textContent()).toContain('insufficient_balance')
    expect(await rows(page).count()).toBe(2)
    await page.close()
  })

  test('requests are filtered by one status, which is in the address', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')

    await page.getByLabel('Status', { exact: true }).fill('402')
    await page.waitForURL('**/requests?status=402')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)

    expect(await rows(page).textContent()).toContain('insufficient_balance')
    await page.close()
  })

  test('a filter that finds nothing says so, and clearing it shows everything', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests?model=no-such-model')

    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await rows(page).first().waitFor()

    expect(await page.getByLabel('Model').inputValue()).toBe('')
    expect(await rows(page).count()).toBe(5)
    await page.close()
  })

  test('a wrong filter shows what the gateway says about it', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests?tag=wrong')

    expect(await page.getByRole('alert').textContent()).toContain('"tag" must be one name and value')
    await page.close()
  })

  test('the file of requests has all lines of the filters', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests?failed=true')

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const text = await Bun.file(await (await saved).path()).text()

    expect(text.trimEnd().split('\r\n')).toHaveLength(3)
    expect(text).toContain('Lovelace & Co')
    await page.close()
  })

  test('a refused request, opened by its id, says why and what to do', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'requests')

    await page.getByLabel('Open by id').fill(await firstOf('requests?code=insufficient_balance'))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('heading', { level: 1, name: 'Request', exact: true }).waitFor()
    await settled(page)

    const main = (await page.locator('main').textContent()) ?? ''
    expect(main).toContain('It could cost up to')
    expect(main).toContain('Grant credit, or ask the customer to add funds.')
    await page.close()
  })

  test('a charged request shows its steps in order, and each part of its cost', async () => {
    const page = await signedIn('viewer')
    await visit(page, `requests/${await firstOf('requests?user=end-user-7')}`)

    const steps = await page.locator('.timeline strong').allTextContents()
    const charge = await page.getByRole('region', { name: 'Charge' }).locator('tbody').textContent()

    expect(steps).toEqual([
      'The request arrived',
      '$0.0002775 held',
      'Call of sandbox',
      '$0.000215 charged',
      'Replied with 200',
    ])
    expect(charge).toContain('Output tokens20$10.00 per 1,000,000$0.0002')
    expect(await page.locator('main').textContent()).toContain('team=search')
    await page.close()
  })

  test('a line of a statement has a page too', async () => {
    const page = await signedIn('viewer')
    const { data } = await gateway.admin<{ data: readonly { id: string; kind: string }[] }>(
      'GET',
      `accounts/${busy!.id}/statement`,
    )
    await visit(page, `requests/${data.find(({ kind }) => kind === 'grant')!.id}`)

    const main = page.locator('main')
    expect(await main.getByRole('heading', { level: 1 }).textContent()).toBe('Grant')
    expect(await main.textContent()).toContain('$1.00')
    await page.close()
  })

  test('an image job shows its pictures, what happens next and its history', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'jobs?state=completed')

    await rows(page).first().getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: 'Image job' }).waitFor()
    await settled(page)
    const pictures = page.getByRole('img', { name: /^Result/ })
    await pictures.first().waitFor()
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.results img')].every(
        image => (image as HTMLImageElement).naturalWidth > 0,
      ),
    )

    expect(await pictures.count()).toBe(2)
    expect(await page.locator('.timeline').textContent()).toContain('Completed')
    await page.close()
  })

  test('charges are searched and sorted here, and their sum follows', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'usage')

    await page.getByRole('button', { name: 'Cost', exact: true }).click()
    const cheapest = await rows(page).first().textContent()
    await page.getByLabel('Search').fill('team=search')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)

    expect(cheapest).toContain('sandbox-chat')
    expect(await page.locator('.figures').textContent()).toContain('$0.000215')
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await signedIn('viewer')
    const paths = [
      'requests',
      'requests?failed=true&code=none',
      `requests/${await firstOf('requests?user=end-user-7')}`,
      `requests/${await firstOf('requests?code=insufficient_balance')}`,
      'usage',
      'usage/losses',
      'jobs',
      `jobs/${await firstOf('jobs')}`,
    ]
    await visit(page, 'profile')
    for (const path of paths) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    await page.close()
  })
})
