import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

const PROVIDER = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-a-stored-key' }
const MODEL = {
  kind: 'chat',
  upstreams: [{ provider: 'main', model: 'x-1', cost: { input_per_mtok: '2', output_per_mtok: '8' } }],
  pricing: {
    input_per_mtok: '2.5',
    output_per_mtok: '10',
    tiers: [{ above_input_tokens: 9000, input_per_mtok: '5' }],
  },
  max_output_tokens: 4096,
}

describe.skipIf(started === undefined)('models, prices, providers and the catalog', () => {
  const { gateway, signedIn, emailOf } = started ?? ({} as ConsoleGateway)
  const model = (id: string) => gateway.admin<Record<string, unknown>>('GET', `models/${id}`)
  const lastAudit = async () =>
    (await gateway.admin<{ data: readonly Audit[] }>('GET', 'audit?limit=1')).data[0]

  beforeAll(async () => {
    if (started === undefined) return
    await gateway.admin('PUT', 'providers/main', PROVIDER)
    for (const id of ['gpt-x', 'gpt-y', 'meta/gpt-z']) await gateway.admin('PUT', `models/${id}`, MODEL)
    await gateway.admin('PUT', 'models/gpt-off', { ...MODEL, enabled: false })
    await gateway.admin('PUT', 'providers/keyless', { ...PROVIDER, api_key: 'env:NOT_SET_ANYWHERE' })
    await gateway.admin('PUT', 'models/gpt-keyless', {
      ...MODEL,
      upstreams: [{ provider: 'keyless', model: 'x' }],
    })
  })

  test('the list of models has the price, the margin, and the reason why one cannot be called', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'models?search=gpt')

    const rows = page.getByRole('row')
    expect(await rows.filter({ hasText: 'gpt-x' }).textContent()).toContain('$2.50 in · $10.00 out')
    expect(await rows.filter({ hasText: 'gpt-x' }).textContent()).toContain('20 %')
    expect(await rows.filter({ hasText: 'gpt-keyless' }).textContent()).toContain('NOT_SET_ANYWHERE')
    await page.getByLabel('State').selectOption('off')
    await rows.filter({ hasText: 'gpt-x' }).waitFor({ state: 'detached' })
    expect(await rows.filter({ hasText: 'gpt-off' }).count()).toBe(1)
    expect(page.url()).toContain('state=off')
    await page.close()
  })

  test('an operator changes a price after a preview with an example of a charge', async () => {
    const page = await signedIn('operator')
    await visit(page, 'models/gpt-x')

    await price(page, 'Input, 1M tokens').fill('3')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change gpt-x?' })
    await dialog.waitFor()
    const shown = await dialog.textContent()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('gpt-x is stored.').waitFor()

    expect(shown).toContain('pricing.input_per_mtok')
    expect(shown).toContain('1,000 input tokens and 500 output tokens')
    expect(shown).toContain('$0.0075')
    expect(shown).toContain('$0.008')
    expect(shown).toContain('$0.002')
    // Fields that the form does not have stay.
    expect(await model('gpt-x')).toMatchObject({ pricing: { ...MODEL.pricing, input_per_mtok: '3' } })
    expect(await lastAudit()).toMatchObject({
      action: 'model.put',
      subject: 'gpt-x',
      actor: expect.stringContaining(emailOf('operator')),
    })
    await page.close()
  })

  test('a new model begins with a provider that is no sandbox, and its costs follow the chosen one', async () => {
    await gateway.admin('PUT', 'providers/other', PROVIDER)
    const page = await signedIn('operator')
    await visit(page, 'models/new')

    const provider = page.getByLabel('Provider', { exact: true })
    const first = await provider.inputValue()
    const costs = page.getByRole('group', { name: 'bills you' })
    const before = await costs.getByRole('heading').textContent()
    await provider.selectOption('other')
    await costs.getByRole('heading', { name: 'other bills you' }).waitFor()

    expect(first).not.toBe('sandbox')
    expect(before).toStartWith(`${first} bills you`)
    await page.close()
  })

  test('the page of a model has its edits with their differences, and brings an earlier row back', async () => {
    for (const input_per_mtok of ['7', '8'])
      await gateway.admin('PUT', 'models/gpt-back', {
        ...MODEL,
        pricing: { ...MODEL.pricing, input_per_mtok },
      })
    const page = await signedIn('operator')
    const reader = await signedIn('viewer')
    await visit(page, 'models/gpt-back')
    await visit(reader, 'models/gpt-back')

    const history = page.getByRole('region', { name: 'History' })
    const edits = await history.getByRole('article').allTextContents()
    await history.getByRole('button', { name: /^Bring back/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Change gpt-back?' })
    await dialog.waitFor()
    const shown = await dialog.textContent()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('gpt-back is stored.').waitFor()
    await history.getByRole('article').nth(2).waitFor()
    await gateway.admin('DELETE', 'models/gpt-back')
    await visit(page, 'models/gpt-back')
    await history
      .getByRole('button', { name: /^Bring back/ })
      .first()
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await history.getByRole('article').nth(4).waitFor()

    expect(edits[0]).toContain('Changed')
    expect(edits[0]).toContain('pricing.input_per_mtok78')
    expect(edits[0]).toContain('As it is now')
    expect(edits[1]).toContain('Added')
    expect(shown).toContain('pricing.input_per_mtok87')
    expect(await model('gpt-back')).toMatchObject({ pricing: { input_per_mtok: '7' } })
    expect(await history.getByRole('article').first().textContent()).toContain(emailOf('operator'))
    expect(await reader.getByRole('region', { name: 'History' }).getByRole('article').count()).toBe(2)
    expect(await reader.getByRole('button', { name: /^Bring back/ }).count()).toBe(0)
    await reader.close()
    await page.close()
  })

  test('of the edits of a stored key, which all look alike, only the newest is as it is now', async () => {
    for (const api_key of ['sk-one', 'sk-two'])
      await gateway.admin('PUT', 'providers/rekeyed', { ...PROVIDER, api_key })
    const page = await signedIn('owner')
    await visit(page, 'providers/rekeyed')

    const edits = page.getByRole('region', { name: 'History' }).getByRole('article')
    await edits.nth(1).waitFor()
    const marked = (await edits.allTextContents()).map(text => text.includes('As it is now'))

    expect(marked).toEqual([true, false])
    await page.close()
  })

  test('an owner brings an earlier row of a provider and of a price list back after a preview', async () => {
    await gateway.admin('PUT', 'providers/spare', { ...PROVIDER, read_timeout_s: 30 })
    await gateway.admin('PUT', 'providers/spare', { ...PROVIDER, read_timeout_s: 60 })
    await gateway.admin('PUT', 'price-lists/again', { factor: '0.5' })
    await gateway.admin('PUT', 'price-lists/again', { factor: '0.7' })
    const page = await signedIn('owner')

    for (const path of ['providers/spare', 'price-lists/again']) {
      await visit(page, path)
      await page
        .getByRole('region', { name: 'History' })
        .getByRole('button', { name: /^Bring back/ })
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('article').nth(2).waitFor()
    }

    expect(await gateway.admin<object>('GET', 'providers/spare')).toMatchObject({
      read_timeout_s: 30,
      api_key: '<stored>',
    })
    expect(await gateway.admin<object>('GET', 'price-lists/again')).toEqual({ id: 'again', factor: '0.5' })
    await page.close()
  })

  test('an edit of a row that somebody else changed meanwhile is refused, and one beside it is not', async () => {
    const page = await signedIn('operator')
    await visit(page, 'models/gpt-y')

    await gateway.admin('PUT', 'models/gpt-off', { ...MODEL, enabled: false, description: 'Beside it.' })
    await price(page, 'Input, 1M tokens').fill('3')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('dialog').waitFor()
    await gateway.admin('PUT', 'models/gpt-y', { ...MODEL, description: 'By somebody else.' })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('Somebody else changed "gpt-y"')
    expect(await model('gpt-y')).toMatchObject({ description: 'By somebody else.', pricing: MODEL.pricing })
    await page.close()
  })

  test('the whole row is edited as JSON, and a refusal of the gateway is shown at the text', async () => {
    const page = await signedIn('operator')
    await visit(page, 'models/meta%2Fgpt-z')

    await page.getByRole('button', { name: 'JSON' }).click()
    await page
      .getByLabel('The whole row as JSON')
      .fill(JSON.stringify({ ...MODEL, id: 'meta/gpt-z', inputs: ['images'] }))
    await page.getByRole('button', { name: 'Preview the change' }).click()

    await page.locator('.problem').waitFor()
    expect(await page.locator('.problem').textContent()).toContain('inputs')
    await page.close()
  })

  test('a provider at a new address needs its key again, and a setting of the gateway is refused as a key', async () => {
    const page = await signedIn('owner')
    await visit(page, 'providers/main')
    const text = await page.locator('main').textContent()

    await page.getByLabel('Address').fill('https://elsewhere.example.com/v1')
    const kept = await page.getByLabel('Keep the stored key').count()
    await page.getByLabel('An environment variable of the gateway').check()
    await page.getByLabel('Name of the variable').fill('TOLLGATE_ADMIN_KEY')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.problem').waitFor()

    expect(text).not.toContain(PROVIDER.api_key)
    expect(kept).toBe(0)
    expect(await page.locator('.problem').textContent()).toContain('setting of the gateway')
    const { base_url } = await gateway.admin<{ base_url: string }>('GET', 'providers/main')
    expect(base_url).toBe(PROVIDER.base_url)
    await page.close()
  })

  test('a newcomer adds a provider with its key, tests it, and sells a first model with a margin', async () => {
    const page = await signedIn('owner')
    await visit(page, 'set-up')

    await page.getByLabel('Service').selectOption('ollama')
    await page.getByLabel('Name', { exact: false }).first().fill('own')
    await page.getByLabel('Address').fill('http://127.0.0.1:9/v1')
    await page.getByRole('button', { name: 'Add the provider' }).click()
    await page.getByRole('button', { name: 'Test the provider' }).click()
    await page.locator('.note.warn').waitFor()
    await page.getByLabel('Name at the provider').fill('first-x')
    await page.getByLabel('Cost: input, 1M tokens').fill('2')
    await page.getByLabel('Cost: output, 1M tokens').fill('8')
    await page.getByLabel('Markup').fill('12.5')
    await page.getByText('Customers pay $2.25').waitFor()
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByLabel('Name of the customer').waitFor()

    expect(await model('first-x')).toMatchObject({
      pricing: { input_per_mtok: '2.25', output_per_mtok: '9' },
      upstreams: [{ provider: 'own', model: 'first-x', cost: { input_per_mtok: '2', output_per_mtok: '8' } }],
    })
    const { data } = await gateway.admin<{ data: readonly Audit[] }>('GET', 'audit?limit=3')
    expect(data.map(({ action }) => action)).toEqual(['model.put', 'provider.test', 'provider.put'])
    expect(new Set(data.map(({ actor }) => actor.includes(emailOf('owner'))))).toEqual(new Set([true]))
    await page.close()
  })

  test('a refused first request is said, and the step waits on until one is charged', async () => {
    const { id, key } = await gateway.account()
    const body = { model: 'sandbox-chat', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
    await gateway.chat(key, { ...body, model: 'no-such-model' })
    const page = await signedIn('operator')
    await visit(page, `set-up?model=sandbox-chat&customer=${id}`)

    await page.getByText('A request has arrived, and was refused with the status 404.').waitFor()
    const wasDone = await page.getByRole('region', { name: 'Send the first request: done' }).count()
    await gateway.chat(key, body)
    await page.getByText('The first request has arrived. It cost $').waitFor()

    expect(wasDone).toBe(0)
    expect(await page.getByText('was refused with').count()).toBe(0)
    await page.close()
  })

  test('a first customer without credit is not made, and a name that is changed after a failure is stored', async () => {
    const page = await signedIn('operator')
    await visit(page, 'set-up?model=sandbox-chat')
    const submit = page.getByRole('button', { name: 'Create the account and the key' })
    const problem = page.locator('.problem')

    await page.getByLabel('Name of the customer').fill('Too early')
    await page.getByLabel('Credit').fill('0')
    await submit.click()
    await problem.getByText('The credit must be above 0.').waitFor()
    const early = await gateway.admin<{ data: unknown[] }>('GET', 'accounts?search=Too+early')
    await page.getByLabel('Credit').fill('99999999999999999999')
    await submit.click()
    await problem.filter({ hasNotText: 'above 0' }).waitFor()
    await page.getByLabel('Name of the customer').fill('In time')
    await page.getByLabel('Credit').fill('5')
    await submit.click()
    await page.getByRole('region', { name: 'Add a customer: done' }).waitFor()

    const found = await gateway.admin<{ data: unknown[] }>('GET', 'accounts?search=In+time')
    const left = await gateway.admin<{ data: unknown[] }>('GET', 'accounts?search=Too+early')
    expect([early.data.length, found.data.length, left.data.length]).toEqual([0, 1, 0])
    await page.close()
  })

  test('a price list shows what it changes before it is stored', async () => {
    const page = await signedIn('operator')
    await visit(page, 'price-lists/new')

    await page.getByLabel('Name').fill('partner')
    await page.getByLabel('Factor').fill('0.8')
    await page.getByLabel('Add a model').fill('GPT-Y')
    await page.getByLabel('Add a model').press('Enter')
    await priceOf(page, 'gpt-y').getByLabel('How it is priced').selectOption('free')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const row = page.getByRole('dialog').getByRole('row').filter({ hasText: 'gpt-y' })
    await row.waitFor()
    const shown = await row.textContent()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'partner' }).waitFor()

    expect(shown).toContain('$0.0075$0.00')
    expect(await gateway.admin('GET', 'price-lists/partner')).toMatchObject({ prices: { 'gpt-y': 'free' } })
    await page.close()
  })

  test('own prices begin with those of the catalog, and a refused one is shown at its field', async () => {
    const tiers = [{ above_input_tokens: 500, input_per_mtok: '3' }]
    const own = { input_per_mtok: '2', output_per_mtok: '8', cache_write_per_mtok: '2.2', tiers }
    await gateway.admin('PUT', 'models/gpt-4.1', MODEL)
    await gateway.admin('PUT', 'price-lists/reseller', {
      factor: '0.9',
      prices: { 'gpt-x': own, 'gpt-off': 'free', 'sandbox-video': { per_second: '0.02' } },
    })
    const page = await signedIn('operator')
    await visit(page, 'price-lists/reseller')

    await priceOf(page, 'gpt-x').getByLabel('Output, 1M tokens').fill('7.123456789')
    await page.getByRole('button', { name: 'Remove gpt-off' }).click()
    await page.getByLabel('Add a model').fill('gpt')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const ambiguous = await page.locator('.problem').textContent()
    await page.getByLabel('Add a model').fill('4.1')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const input = priceOf(page, 'gpt-4.1').getByLabel('Input, 1M tokens')
    const beside = await priceOf(page, 'gpt-4.1').textContent()
    const begun = await input.inputValue()
    await input.fill('2000000')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const refused = await priceOf(page, 'gpt-4.1')
      .locator('.field', { has: page.getByLabel('Input, 1M tokens') })
      .locator('.problem')
      .textContent()
    await input.fill('1.25')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('reseller is stored.').waitFor()

    expect(ambiguous).toContain('Choose one of the models')
    expect(beside).toContain('In the catalog: $2.50 in · $10.00 out, 1M tokens, with tiers')
    expect(beside).toContain('This price also has tiers, which you edit as JSON.')
    expect(begun).toBe('2.5')
    expect(refused).toContain('prices.gpt-4.1.input_per_mtok is "2000000"')
    expect(await gateway.admin<object>('GET', 'price-lists/reseller')).toEqual({
      id: 'reseller',
      factor: '0.9',
      prices: {
        'gpt-x': { ...own, output_per_mtok: '7.123456789' },
        'sandbox-video': { per_second: '0.02' },
        'gpt-4.1': { ...MODEL.pricing, input_per_mtok: '1.25' },
      },
    })
    await page.close()
  })

  test('the whole row of a price list is edited as JSON too', async () => {
    await gateway.admin('PUT', 'price-lists/edited', { prices: { 'gpt-x': 'free' } })
    const page = await signedIn('operator')
    await visit(page, 'price-lists/edited')

    await page.getByRole('button', { name: 'JSON' }).click()
    const json = page.getByLabel('The whole row as JSON')
    await json.fill('{"id": "edited", "prices": {"gpt-y": "free", }')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const problem = await page.locator('.problem').textContent()
    await json.fill('{"id": "edited", "prices": {"gpt-y": "free"}}')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('edited is stored.').waitFor()

    expect(problem).toContain('This is not a JSON object.')
    expect(await gateway.admin<object>('GET', 'price-lists/edited')).toEqual({
      id: 'edited',
      prices: { 'gpt-y': 'free' },
    })
    await page.close()
  })

  test('an owner imports a file after a preview, and rolls it back', async () => {
    const pricing = { ...MODEL.pricing, input_per_mtok: '2.75' }
    await gateway.admin('PUT', 'models/imported', { ...MODEL, pricing })
    const page = await signedIn('owner')
    const before = await gateway.admin<{ revision: number }>('GET', 'catalog')
    const file = await (await page.request.get('/console/api/admin/catalog?format=yaml')).text()
    await visit(page, 'catalog')

    await page.getByLabel('YAML or JSON').fill(file.replace('2.75', '4'))
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replace the catalog?' })
    await dialog.waitFor()
    const shown = await dialog.textContent()
    await dialog.getByRole('button', { name: 'Replace the catalog' }).click()
    await page.getByText('The catalog is replaced.').waitFor()
    const replaced = await model('imported')
    await visit(page, 'catalog/history')
    await page.getByRole('button', { name: `Roll back to revision ${before.revision}`, exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('is that of revision').waitFor()
    await visit(page, `catalog/changes?from=${before.revision}&to=${before.revision + 2}`)

    expect(shown).toContain('pricing.input_per_mtok')
    expect(replaced).toMatchObject({ pricing: { input_per_mtok: '4' } })
    expect(await model('imported')).toMatchObject({ pricing: { input_per_mtok: '2.75' } })
    expect(await page.locator('main').textContent()).toContain('Nothing changes.')
    expect(await lastAudit()).toMatchObject({
      action: 'catalog.rollback',
      actor: expect.stringContaining(emailOf('owner')),
    })
    await page.close()
  })

  test('a viewer sees no actions', async () => {
    const page = await signedIn('viewer')
    for (const path of PAGES.filter(path => path !== 'set-up')) {
      await visit(page, path)
      const buttons = await page.locator('main .button:not(.copy):not([download])').allTextContents()
      // What only leads to other pages stays.
      expect(buttons.filter(text => !['First page', 'Next', 'Compare'].includes(text))).toEqual([])
    }
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await signedIn('owner')
    await visit(page, 'profile')
    for (const path of [...PAGES, 'models/new', 'providers/new', 'price-lists/new']) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    await navigate(page, 'price-lists/partner')
    await page.getByLabel('Add a model').fill('gpt-x')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expectAccessibleInLooks(page)
    await navigate(page, 'models/gpt-x')
    await price(page, 'Input, 1M tokens').fill('1')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('dialog').waitFor()
    await settled(page)
    await expectAccessibleInLooks(page)
    await page.close()
  })
})

type Audit = { readonly actor: string; readonly action: string }

const PAGES = [
  'models',
  'models/gpt-x',
  'price-lists',
  'price-lists/partner',
  'providers',
  'providers/main',
  'catalog',
  'catalog/history',
  'catalog/changes?from=1',
  'set-up',
]

/** The field of a price that customers pay. */
function price(page: Page, name: string) {
  return page.getByRole('group', { name: 'Customers pay' }).getByLabel(name, { exact: true })
}

/** The own price of a model in the form of a price list. */
function priceOf(page: Page, model: string) {
  return page.getByRole('group', { name: model, exact: true })
}
