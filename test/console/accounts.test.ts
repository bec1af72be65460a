import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'
import { dialog, press } from './support/press.ts'

const started = await startConsole()
afterAll(() => started?.stop())

type Audit = { readonly data: readonly { readonly actor: string; readonly action: string }[] }

describe.skipIf(started === undefined)('accounts and projects', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)

  test('an operator creates an account and grants credit, and the audit log names the user', async () => {
    const page = await signedIn('operator')
    await visit(page, 'accounts')

    await press(page, 'New account')
    await dialog(page).getByLabel('Name').fill('Lovelace Analytics')
    await press(dialog(page), 'Create the account')
    await page.getByRole('heading', { level: 1, name: 'Lovelace Analytics' }).waitFor()
    await press(page, 'Grant credit')
    await dialog(page)
      .getByLabel(/^Amount/)
      .fill('1234.567890123')
    await dialog(page).getByLabel(/^Note/).fill('Welcome')
    await press(dialog(page), 'Grant credit')
    await page.getByText('$1,234.567890123 is granted.').waitFor()
    await page.getByRole('link', { name: 'Statement' }).click()
    await page.getByRole('cell', { name: 'Welcome' }).waitFor()

    expect(await page.locator('main').textContent()).toContain('$1,234.567890123')
    const { data } = await gateway.admin<Audit>('GET', 'audit')
    const done = data.filter(({ actor }) => actor.startsWith('user:operator@example.com (usr_'))
    expect(done.slice(0, 2).map(({ action }) => action)).toEqual(['account.grant', 'account.create'])
    await page.close()
  })

  test('an account and its first key are made with the keyboard alone, and focus never gets lost', async () => {
    const page = await signedIn('operator')
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
    const open = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).first().focus()
      await page.keyboard.press('Enter')
      await dialog(page).waitFor()
    }
    // A dialog that is closed is not a dialog to the locator of its role, and gives the focus back when it is removed.
    const closed = () => page.locator('dialog').waitFor({ state: 'detached' })
    await visit(page, 'accounts')

    await open('New account')
    await page.keyboard.press('Escape')
    await closed()
    const afterEscape = await focused()
    await open('New account')
    await page.keyboard.type('Keyboard Ltd')
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Keyboard Ltd' }).waitFor()
    await open('Grant credit')
    await page.keyboard.type('25')
    await page.keyboard.press('Enter')
    await closed()
    const afterGrant = await focused()
    await page.getByRole('link', { name: 'Keys', exact: true }).last().press('Enter')
    await open('New key')
    await page.keyboard.type('production')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('tg_live_').waitFor()
    await page.getByRole('cell', { name: 'production' }).waitFor()
    // Escape would lose the key.
    await dialog(page).getByRole('button', { name: 'I have copied it' }).press('Enter')
    await closed()

    expect([afterEscape, afterGrant]).toEqual(['New account', 'Grant credit'])
    // The button of the empty list is gone.
    expect(await focused()).toBe('Keyboard Ltd')
    await page.close()
  })

  test('a grant whose reply is lost is not made twice by pressing the button again', async () => {
    const account = await gateway.account({ grant: '0' })
    const page = await signedIn('operator')
    await visit(page, `accounts/${account.id}`)
    const lose = async (route: Parameters<Parameters<Page['route']>[1]>[0]) => {
      await route.fetch()
      await route.abort()
    }
    await page.route('**/grants', lose, { times: 1 })

    await press(page, 'Grant credit')
    await dialog(page)
      .getByLabel(/^Amount/)
      .fill('5')
    await press(dialog(page), 'Grant credit')
    await dialog(page).getByRole('alert').waitFor()
    await press(dialog(page), 'Grant credit')
    await page.getByText('Nothing was done twice').waitFor()

    expect((await account.balance()).available_usd).toBe('5')
    await page.close()
  })

  test('a refused amount is said at its field', async () => {
    const { id } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}`)

    await press(page, 'Debit')
    await dialog(page)
      .getByLabel(/^Amount/)
      .fill('0')
    await press(dialog(page), 'Debit')
    await dialog(page).locator('.problem').waitFor()

    expect(await dialog(page).locator('.problem').textContent()).toContain('amount_usd')
    await page.locator('[name="amount_usd"]:focus').waitFor()
    await page.close()
  })

  test('a charge is given back from the statement', async () => {
    const account = await gateway.account({ grant: '1' })
    const messages = [{ role: 'user', content: 'Hello' }]
    await (await gateway.chat(account.key, { model: 'sandbox-chat', messages })).text()
    const page = await signedIn('operator')
    await visit(page, `accounts/${account.id}/statement`)

    await page.getByRole('button', { name: /^Refund req_/ }).click()
    await press(dialog(page), 'Refund')
    await page.getByRole('cell', { name: 'Refund', exact: true }).waitFor()

    expect((await account.balance()).available_usd).toBe('1')
    await page.close()
  })

  test('the filters of a statement are in its address, and its file has exactly what they select', async () => {
    const { id } = await gateway.account({ grant: '1' })
    await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '0.000000001', note: '=1+1' })
    await gateway.admin('POST', `accounts/${id}/debits`, { amount_usd: '0.5' })
    const page = await signedIn('viewer')
    await visit(page, `accounts/${id}/statement`)

    await page.getByLabel('Kind').selectOption('Grant')
    await page.getByRole('cell', { name: 'Debit' }).waitFor({ state: 'detached' })
    await page.getByLabel('From').fill('2026-01-01')
    const saving = page.waitForEvent('download')
    await press(page, 'Download CSV')
    const file = await Bun.file(await (await saving).path()).text()
    await page.getByLabel('To').fill('2026-01-31')
    await page.getByText('Nothing matches these filters.').waitFor()

    const [head, ...lines] = file.trimEnd().split('\r\n')
    expect(head).toBe('id,at,kind,amount_usd,ref,note,user,tags')
    expect(lines.map(line => line.split(',').slice(2))).toEqual([
      ['grant', '0.000000001', '', "'=1+1", '', ''],
      ['grant', '1', '', '', '', ''],
    ])
    expect(page.url()).toContain('statement?kind=grant&from=2026-01-01&to=2026-01-31')
    await page.close()
  })

  test('suspending an account asks first, and its keys are refused until it is resumed', async () => {
    const { id, key } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}`)
    const statusOf = async () =>
      (await gateway.chat(key, { model: 'sandbox-free', messages: [{ role: 'user', content: 'Hi' }] })).status

    await press(page, 'Suspend')
    await press(dialog(page), 'Suspend')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    const suspended = await statusOf()
    await press(page, 'Resume')
    await page.getByRole('button', { name: 'Suspend' }).waitFor()

    expect(suspended).toBe(401)
    expect(await statusOf()).toBe(200)
    await page.close()
  })

  test('an account with money is not closed, and the dialog says why', async () => {
    const { id } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}`)

    await press(page, 'Close')
    await press(dialog(page), 'Close', 'last')

    expect(await dialog(page).getByRole('alert').textContent()).toContain('10')
    await page.close()
  })

  test('the search is in the address, and an empty result offers to clear it', async () => {
    await gateway.admin('POST', 'accounts', { name: 'Hopper Compilers' })
    const page = await signedIn('viewer')
    await visit(page, 'accounts')

    await page.getByLabel('Search by name or id').fill('hopper')
    await page.waitForURL(/search=hopper/)
    await page.reload()
    await settled(page)
    const found = await page.locator('tbody tr').count()
    await page.getByLabel('Search by name or id').fill('nobody at all')
    await press(page, 'Clear the filters')
    await page.getByRole('link', { name: 'Hopper Compilers' }).waitFor()

    expect(found).toBe(1)
    expect(page.url()).not.toContain('search')
    await page.close()
  })

  test('limits and budgets are changed, and a wrong one is said at its field', async () => {
    const { id } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}/limits`)

    await page.getByRole('region', { name: 'Limits and budgets' }).getByRole('button').click()
    await dialog(page)
      .getByLabel(/^Requests a minute/)
      .fill('0')
    await dialog(page)
      .getByLabel(/^Month/)
      .fill('12.5')
    await press(dialog(page), 'Save')
    await dialog(page).locator('.problem').waitFor()
    await page.locator('[name="limits.requests_per_minute"]:focus').waitFor()
    await dialog(page)
      .getByLabel(/^Requests a minute/)
      .fill('600')
    await press(dialog(page), 'Save')
    await page.getByRole('cell', { name: '$12.50' }).waitFor()

    expect(await gateway.admin<object>('GET', `accounts/${id}`)).toMatchObject({
      limits: { requests_per_minute: 600, tokens_per_minute: null },
      budgets: { day: null, month: '12.5' },
    })
    await page.close()
  })

  test('a model gets limits of its own, which are removed again', async () => {
    const { id } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}/limits`)

    await press(page, 'Add a model')
    await dialog(page).getByLabel('Model').fill('sandbox-chat')
    await dialog(page)
      .getByLabel(/^Open requests/)
      .fill('3')
    await press(dialog(page), 'Save')
    await page.getByRole('cell', { name: 'sandbox-chat', exact: true }).waitFor()
    const set = await gateway.admin<{ per_model: object }>('GET', `accounts/${id}`)
    await press(page, 'Remove the limits of sandbox-chat')
    await press(dialog(page), 'Remove')
    await page.getByText('No model has limits').waitFor()

    expect(set.per_model).toMatchObject({ 'sandbox-chat': { limits: { concurrent_requests: 3 } } })
    await page.close()
  })

  test('the settings of an account are changed', async () => {
    const { id } = await gateway.account()
    await gateway.admin('PUT', 'price-lists/partners', { factor: '0.9' })
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}`)

    await press(page.getByRole('region', { name: 'Settings' }), 'Edit')
    await dialog(page).getByLabel('Price list').selectOption('partners')
    await dialog(page)
      .getByLabel(/^Alert below/)
      .fill('2.5')
    await dialog(page)
      .getByLabel(/^Contacts/)
      .fill('ada@example.com\ngrace@example.com')
    await press(dialog(page), 'Save')
    await page.getByText('Alert below $2.50').waitFor()

    expect(await gateway.admin<object>('GET', `accounts/${id}`)).toMatchObject({
      price_list: 'partners',
      alert_below_usd: '2.5',
      contacts: ['ada@example.com', 'grace@example.com'],
    })
    await page.close()
  })

  test('a project is created with a budget and a key, and closed', async () => {
    const { id } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${id}/projects`)

    await press(page, 'New project')
    await dialog(page).getByLabel('Name').fill('Search team')
    await dialog(page)
      .getByLabel(/^Month/)
      .fill('50')
    await press(dialog(page), 'Create the project')
    await page.getByRole('link', { name: 'Search team' }).click()
    await press(page, 'New key')
    await dialog(page).getByLabel(/^Name/).fill('search')
    await press(dialog(page), 'Create the key')
    await press(dialog(page), 'I have copied it')
    await page.getByRole('link', { name: 'search', exact: true }).waitFor()
    await press(page, 'Close')
    await press(dialog(page), 'Close', 'last')
    await page.getByText('The project is closed.').waitFor()

    expect(await page.locator('main').textContent()).toContain('$50.00')
    const [project] = (await gateway.admin<Closed>('GET', `accounts/${id}/projects`)).data
    expect(project?.closed_at).toBeString()
    await page.close()
  })

  test('a viewer sees everything and no action, and support may only grant', async () => {
    const { id } = await gateway.account()
    const { id: project } = await gateway.admin<{ id: string }>('POST', `accounts/${id}/projects`, {
      name: 'Search',
    })
    const viewer = await signedIn('viewer')
    const seen: string[] = []
    for (const path of [...tabsOf(id), 'accounts', `projects/${project}`]) {
      await visit(viewer, path)
      seen.push(...(await viewer.locator('main button:not(.copy)').allTextContents()))
    }
    const support = await signedIn('support')
    await visit(support, `accounts/${id}`)
    const offered = await support.locator('.page-head').getByRole('button').allTextContents()
    await press(support, 'Grant credit')

    expect(seen.filter(name => !READING.includes(name))).toEqual([])
    expect(offered).toEqual(['Grant credit'])
    expect(await dialog(support).textContent()).toContain('You may grant $20.00 a day')
    expect(await dialog(support).getByLabel('Source').count()).toBe(0)
    await viewer.close()
    await support.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const { id, key } = await gateway.account()
    const terms = { limits: { requests_per_minute: 60 }, budgets: { day: '5' } }
    await gateway.admin('PATCH', `accounts/${id}`, { ...terms, per_model: { 'sandbox-mini': terms } })
    const { id: project } = await gateway.admin<{ id: string }>('POST', `accounts/${id}/projects`, {
      name: 'Search',
      ...terms,
    })
    await (
      await gateway.chat(key, { model: 'sandbox-mini', messages: [{ role: 'user', content: 'Hi' }] })
    ).text()
    const page = await signedIn('owner')

    await visit(page, 'profile')
    for (const path of ['accounts', 'accounts?search=none', ...tabsOf(id), `projects/${project}`]) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    for (const action of ['Grant credit', 'Debit', 'Suspend']) {
      await navigate(page, `accounts/${id}`)
      await press(page, action)
      await expectAccessibleInLooks(page)
    }
    await page.close()
  })
})

type Closed = { readonly data: readonly { readonly closed_at: string | null }[] }

/** What a viewer may press: sorting, and the data of charts. */
const READING = ['Table', 'CSV', 'Download CSV', 'Name', 'State', 'Available', 'Held', 'Price list']
READING.push('Created', 'Model', 'Last used', 'Expires', 'First page', 'Next')

function tabsOf(id: string): readonly string[] {
  return ['', '/statement', '/keys', '/projects', '/limits'].map(tab => `accounts/${id}${tab}`)
}
