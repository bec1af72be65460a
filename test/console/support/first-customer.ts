/**
 * What docs/tasks/first-customer-in-console.md says, in a browser: a newcomer gets from the link of the first start to
 * a customer whose request is charged, and finds out why another one was refused. The pictures of the page are taken on
 * the way.
 */
import type { Locator, Page } from 'playwright-core'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { startUpstream, type Reply, type Upstream } from '../../support/upstream.ts'
import { dialog, press } from './press.ts'

const PROVIDER_KEY = 'sk-the-key-of-the-provider'

/** A provider that refuses every other key, as OpenAI does. */
export function startKeyedProvider(): Upstream {
  const provider = startUpstream()
  const answered = chatAnswer({ usage: { prompt_tokens: 19, completion_tokens: 310, total_tokens: 329 } })
  const refused = json(
    {
      error: {
        message: 'Incorrect API key provided.',
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      },
    },
    { status: 401 },
  )
  const reply: Reply = exchange =>
    exchange.request.headers['authorization'] === `Bearer ${PROVIDER_KEY}`
      ? answered(exchange)
      : refused(exchange)
  provider.reply(reply)
  return provider
}

export const PICTURES = ['provider', 'model', 'customer', 'request', 'refused'] as const

export type Film = {
  /** The link that the gateway printed. */
  readonly link: string
  readonly provider: Upstream
  /** Runs the code that the console offers. */
  readonly run: (code: string) => Promise<string>
  /** Called when this part of the page is as in the picture. */
  readonly onPicture?: (name: (typeof PICTURES)[number], part: Locator) => Promise<void>
}

/** What the newcomer reads at the end of the two parts. */
export type Read = { readonly answer: string; readonly charged: string; readonly why: string }

/** Plays the whole page. Each step waits for what the one before it shows. */
export async function playFirstCustomer(page: Page, film: Film): Promise<Read> {
  await becomeOwner(page, film.link)
  await addProvider(page, film)
  await sellModel(page, film)
  const code = await addCustomer(page, film)
  const answer = await film.run(code)
  const charged = await readCharge(page, film)
  await lowerBudget(page)
  // Another message, because the answer of an identical request is replayed.
  await film.run(code.replace('Hello', 'Hello again'))
  return { answer, charged, why: await readRefusal(page, film) }
}

async function becomeOwner(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('New password').fill('correct horse battery staple')
  await press(page, 'Create and sign in')
  await page
    .getByRole('region', { name: 'Your first request' })
    .getByRole('link', { name: 'Add a provider' })
    .click()
}

async function addProvider(page: Page, { provider, onPicture }: Film): Promise<void> {
  await page.getByLabel('Service', { exact: true }).waitFor()
  await onPicture?.('provider', step(page, 1))
  await page.getByLabel('Address').fill(`${provider.baseUrl}/v1`)
  await page.locator('[name="api_key"]').fill('sk-mistyped')
  await press(page, 'Add the provider')
  await press(page, 'Test the provider')
  await page.getByText('Refuses its key').waitFor()
  await press(page, 'Change the address or the key')
  await page.getByLabel('New key', { exact: false }).first().check()
  await page.locator('[name="api_key"]').fill(PROVIDER_KEY)
  await press(page, 'Save')
  // It was said of the mistyped key.
  await page.getByText('Refuses its key').waitFor({ state: 'detached' })
  await press(page, 'Test the provider')
  await page.getByText('Responds (status 200).').waitFor()
}

async function sellModel(page: Page, { onPicture }: Film): Promise<void> {
  await page.getByLabel('Name at the provider').fill('gpt-4.1-mini')
  await page.getByLabel('Cost: input, 1M tokens').fill('0.40')
  await page.getByLabel('Cost: output, 1M tokens').fill('1.60')
  await page.getByText('Customers pay $2.00').waitFor()
  await onPicture?.('model', step(page, 3))
  await press(page, 'Preview')
  await press(dialog(page), 'Create')
}

/** Returns the code of the page, which has the key of the customer in it. */
async function addCustomer(page: Page, { onPicture }: Film): Promise<string> {
  await page.getByLabel('Name of the customer').fill('Lovelace & Co')
  await page.getByLabel('Credit').fill('25')
  await page.getByLabel('Budget a month').fill('10')
  await onPicture?.('customer', step(page, 4))
  await press(page, 'Create the account and the key')
  return page.getByRole('group', { name: 'Code' }).innerText()
}

async function readCharge(page: Page, { onPicture }: Film): Promise<string> {
  await page.getByText('The first request has arrived.').waitFor()
  await onPicture?.('request', step(page, 5))
  await page.getByRole('link', { name: 'See how it was charged' }).click()
  const charge = page.getByRole('region', { name: 'Charge', exact: true })
  await charge.waitFor()
  return charge.innerText()
}

/** From the page of the request to its key, whose budget becomes too small for another one. */
async function lowerBudget(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'About' }).getByRole('link', { name: /^key_/ }).click()
  const limits = page.getByRole('region', { name: 'Limits and budgets' })
  await press(limits, 'Edit')
  await dialog(page).getByLabel('Month').fill('0.01')
  await press(dialog(page), 'Save')
  await limits.getByRole('cell', { name: '$0.01', exact: true }).waitFor()
}

async function readRefusal(page: Page, { onPicture }: Film): Promise<string> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Requests' }).click()
  await page.getByRole('row').filter({ hasText: 'budget_exceeded' }).getByRole('link').first().click()
  const why = page.getByRole('region', { name: 'Why' })
  await why.getByRole('link', { name: 'Open the key' }).waitFor()
  await onPicture?.('refused', why)
  return why.innerText()
}

function step(page: Page, number: number): Locator {
  return page.locator('.set-up > li').nth(number - 1)
}
