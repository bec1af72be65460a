import { afterAll, describe, expect, test } from 'bun:test'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'
import { dialog, press } from './support/press.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('keys', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)

  const newKey = async (body: object = { name: 'production' }) => {
    const { id: account } = await gateway.account()
    return gateway.admin<{ id: string; key: string }>('POST', `accounts/${account}/keys`, body)
  }
  const statusOf = async (key: string) => {
    const messages = [{ role: 'user', content: 'Hello' }]
    return (await gateway.chat(key, { model: 'sandbox-free', messages })).status
  }

  test('a key is created with what it may use, and its text is shown once', async () => {
    const { id: account } = await gateway.account()
    const { id: project } = await gateway.admin<{ id: string }>('POST', `accounts/${account}/projects`, {
      name: 'Search',
    })
    const page = await signedIn('operator')
    await visit(page, `accounts/${account}/keys`)

    await press(page, 'New key')
    await dialog(page).getByLabel(/^Name/).fill('production')
    await dialog(page).getByLabel('Project').selectOption('Search')
    await press(dialog(page), 'Expiry, models, addresses and limits…')
    await dialog(page)
      .getByLabel(/^Expires/)
      .fill('2100-01-31T12:30')
    await dialog(page)
      .getByLabel(/^Models/)
      .fill('sandbox-free\nsandbox-mini')
    await dialog(page).getByLabel('Chat completions').check()
    await dialog(page)
      .getByLabel(/^Addresses/)
      .fill('127.0.0.0/8')
    await dialog(page)
      .getByLabel(/^Requests a minute/)
      .fill('100')
    await dialog(page).getByLabel(/^Day/).fill('2.5')
    await press(dialog(page), 'Create the key')
    const text = (await dialog(page).locator('code').first().textContent()) ?? ''
    await press(dialog(page), 'I have copied it')
    await page.getByRole('link', { name: 'production' }).click()
    await page.getByText('sandbox-free, sandbox-mini').waitFor()

    expect(await statusOf(text)).toBe(200)
    expect(await page.content()).not.toContain(text)
    const found = await gateway.admin<{ id: string }>('POST', 'keys/find', { key: text })
    expect(await gateway.admin<object>('GET', `keys/${found.id}`)).toMatchObject({
      name: 'production',
      project,
      models: ['sandbox-free', 'sandbox-mini'],
      routes: ['chat_completions'],
      allowed_addresses: ['127.0.0.0/8'],
      expires_at: await page.evaluate(() => new Date('2100-01-31T12:30').toISOString()),
      limits: { requests_per_minute: 100, tokens_per_minute: null },
      budgets: { day: '2.5', week: null },
    })
    const { data } = await gateway.admin<{ data: object[] }>('GET', 'audit?action=key.create&limit=1')
    expect(data).toMatchObject([{ actor: expect.stringContaining('user:operator@example.com (usr_') }])
    await page.close()
  })

  test('the text of a new key stays until its button is pressed, and what is said about it is not behind it', async () => {
    const { id: account } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, `accounts/${account}/keys`)

    await press(page, 'New key')
    await press(dialog(page), 'Create the key')
    await dialog(page).locator('code').first().waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.context().grantPermissions(['clipboard-write'])
    await press(dialog(page), 'Copy the key')
    const said = dialog(page).getByRole('status')
    await said.getByText('Copied').waitFor()
    // A click waits until nothing else takes it.
    await press(said, 'Close')
    await press(dialog(page), 'I have copied it')

    await dialog(page).waitFor({ state: 'detached' })
    expect(await page.getByText('Copied').count()).toBe(0)
    await page.close()
  })

  test('a wrong line is said at its field', async () => {
    const { id } = await newKey()
    const page = await signedIn('operator')
    await visit(page, `keys/${id}`)

    await press(page.getByRole('region', { name: 'Key', exact: true }), 'Edit')
    await dialog(page)
      .getByLabel(/^Addresses/)
      .fill('192.0.2.1\nnowhere')
    await press(dialog(page), 'Save')
    await dialog(page).locator('.problem').waitFor()

    expect(await dialog(page).locator('.problem').textContent()).toContain('nowhere')
    await page.locator('[name="allowed_addresses"]:focus').waitFor()
    await page.close()
  })

  test('a rotation shows the new secret, and the old one works until it is ended', async () => {
    const { id, key } = await newKey()
    const page = await signedIn('operator')
    await visit(page, `keys/${id}`)

    await press(page, 'Rotate')
    await dialog(page).getByLabel('The old secret ends').selectOption('In a week')
    await press(dialog(page), 'Rotate')
    const text = (await dialog(page).locator('code').first().textContent()) ?? ''
    await press(dialog(page), 'I have copied it')
    const during = [await statusOf(key), await statusOf(text)]
    await press(page, `End now: ${key.slice(0, 12)}…`)
    await press(dialog(page), 'End now')
    await page.getByText('The secret has ended.').waitFor()

    expect(during).toEqual([200, 200])
    expect([await statusOf(key), await statusOf(text)]).toEqual([401, 200])
    await page.close()
  })

  test('a key is disabled, enabled and revoked', async () => {
    const { id, key } = await newKey()
    const page = await signedIn('operator')
    await visit(page, `keys/${id}`)

    await press(page, 'Disable')
    await press(dialog(page), 'Disable')
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    const disabled = await statusOf(key)
    await press(page, 'Enable')
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    const enabled = await statusOf(key)
    await press(page, 'Revoke')
    await press(dialog(page), 'Revoke')
    await page.getByText('Revoked', { exact: true }).waitFor()

    expect([disabled, enabled, await statusOf(key)]).toEqual([401, 200, 401])
    expect(await page.locator('.page-head').getByRole('button').count()).toBe(0)
    await page.close()
  })

  test('a key is found by its text, which gets into no address', async () => {
    const { id, key } = await newKey()
    const page = await signedIn('viewer')
    const addresses: string[] = []
    page.on('request', request => addresses.push(request.url()))
    await visit(page, 'keys')

    await page.getByLabel('Key', { exact: true }).fill(key)
    await press(page, 'Find')
    await page.getByRole('heading', { level: 1, name: 'production' }).waitFor()

    expect(page.url()).toEndWith(`/keys/${id}`)
    expect(addresses.join(' ')).not.toContain(key)
    await page.close()
  })

  test('new keys begin with the defaults of the gateway and of the account', async () => {
    const { id: account } = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, 'keys')
    await press(page, 'Edit')
    await dialog(page)
      .getByLabel(/^Expires after/)
      .fill('90')
    await dialog(page).getByLabel('Unit').selectOption('days')
    await press(dialog(page), 'Save')
    await page.getByText('90 days').waitFor()
    await visit(page, `accounts/${account}/limits`)
    await page.getByRole('region', { name: 'Defaults of new keys' }).getByRole('button').click()
    await dialog(page).getByLabel('Images').check()
    await dialog(page)
      .getByLabel(/^Requests a minute/)
      .fill('0')
    await press(dialog(page), 'Save')
    await dialog(page).locator('.problem').waitFor()
    await dialog(page)
      .getByLabel(/^Requests a minute/)
      .fill('7')
    await press(dialog(page), 'Save')
    await page.getByText('New keys begin with these.').waitFor()

    const key = await gateway.admin<{ expires_at: string }>('POST', `accounts/${account}/keys`, {})
    await gateway.admin('PATCH', 'key-defaults', { expires_in: null })
    expect(key).toMatchObject({ routes: ['images'], limits: { requests_per_minute: 7 } })
    expect(key.expires_at).toBeString()
    await page.close()
  })

  test('the filters of the keys are in the address', async () => {
    const { id: account } = await gateway.account()
    const old = await gateway.admin<{ id: string }>('POST', `accounts/${account}/keys`, { name: 'old' })
    await gateway.admin('POST', `keys/${old.id}/revoke`)
    const page = await signedIn('viewer')
    await visit(page, `accounts/${account}/keys?state=revoked`)

    expect(await page.locator('tbody tr').count()).toBe(1)
    expect(await page.getByRole('link', { name: 'old' }).count()).toBe(1)
    await page.close()
  })

  test('a viewer sees a key and the defaults, and no action', async () => {
    const { id } = await newKey()
    const page = await signedIn('viewer')
    await visit(page, `keys/${id}`)
    const ofKey = await page.locator('main button:not(.copy)').allTextContents()
    await visit(page, 'keys')

    expect(ofKey).toEqual([])
    expect(await page.locator('main button:not(th button)').allTextContents()).toEqual(['Find'])
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const { id } = await newKey({ name: 'production', budgets: { day: '1', month: '20' } })
    await gateway.admin('POST', `keys/${id}/rotate`)
    const page = await signedIn('owner')

    await visit(page, 'profile')
    for (const path of ['keys', `keys/${id}`]) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    for (const action of ['Rotate', 'Revoke', 'Edit']) {
      await navigate(page, `keys/${id}`)
      await press(page, action)
      await expectAccessibleInLooks(page)
    }
    await page.close()
  })
})
