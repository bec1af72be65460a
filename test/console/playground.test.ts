import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('the playground', () => {
  const { gateway, signedIn, emailOf } = started ?? ({} as ConsoleGateway)

  const send = async (page: Page, account: string, prompt: string) => {
    await page.getByLabel('Account that pays').fill(account)
    await page.getByLabel('Account that pays').blur()
    await page.getByRole('textbox', { name: /^(Message|Prompt)/ }).fill(prompt)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  test('a chat is streamed and charged to the account with a key of an hour, made by the user', async () => {
    const account = await gateway.account()
    const page = await signedIn('operator')
    await visit(page, 'playground?kind=chat&model=sandbox-chat')

    await send(page, account.id, 'Hello')
    const answer = page.getByRole('article', { name: 'Model' })
    await answer.getByRole('link', { name: 'Request' }).waitFor()

    const { available_usd: left } = await account.balance()
    const cost = Number((10 - Number(left)).toFixed(9))
    expect(cost).toBeGreaterThan(0)
    expect(await answer.textContent()).toContain(`$${cost}`)
    await expectAccessibleInLooks(page)
    const { data: keys } = await gateway.admin<{ data: { name: string; expires_at: string | null }[] }>(
      'GET',
      `accounts/${account.id}/keys`,
    )
    const key = keys.find(({ name }) => name === `playground of ${emailOf('operator')}`)
    expect(Date.parse(key?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000)
    const { data: lines } = await gateway.admin<{ data: { action: string; actor: string }[] }>('GET', 'audit')
    expect(lines.find(({ action }) => action === 'key.create')?.actor).toContain(emailOf('operator'))
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      'tg_',
    )
    await page.close()
  })

  test('while an answer arrives, its cost is an estimate by the price, and the exact one replaces it', async () => {
    const account = await gateway.account()
    await gateway.admin('PUT', 'models/estimated', {
      kind: 'chat',
      upstreams: [{ provider: 'sandbox', model: 'sandbox-chat' }],
      pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
      max_output_tokens: 4096,
    })
    const rest = Promise.withResolvers<void>()
    await using upstream = aHeldStream('Forty characters are ten tokens, guessed', rest.promise)
    const page = await signedIn('operator')
    await page.route('**/v1/chat/completions', route => route.continue({ url: upstream.url }))
    await visit(page, 'playground?kind=chat&model=estimated')

    await send(page, account.id, 'Hello')
    await page.getByText('About $0.000105 so far, an estimate: 10 output tokens').waitFor()
    rest.resolve()
    await page.getByText('$0.00012 ·').waitFor()

    expect(await page.getByText('an estimate').count()).toBe(0)
    await page.close()
  })

  test('accounts are suggested while their name is typed, and an earlier search is cancelled', async () => {
    await gateway.admin('POST', 'accounts', { name: 'Zebra Ltd' })
    const page = await signedIn('operator')
    await page.route('**/admin/accounts?*search=Z', () => {})
    await visit(page, 'playground')

    const cancelled = page.waitForEvent('requestfailed', request => request.url().endsWith('search=Z'))
    const searched = page.waitForRequest(request => request.url().endsWith('search=Z'))
    await page.getByLabel('Account that pays').pressSequentially('Z')
    await searched
    await page.getByLabel('Account that pays').pressSequentially('eb')
    await cancelled
    await page.locator('#playground-accounts option[value="Zebra Ltd"]').waitFor({ state: 'attached' })
    await page.close()
  })

  test('an error of the gateway is shown with its code', async () => {
    const account = await gateway.account({ grant: '0' })
    const page = await signedIn('operator')
    await visit(page, 'playground?model=sandbox-chat')

    await send(page, account.id, 'Hello')

    const alert = page.getByRole('article', { name: 'Model' }).getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toContain('insufficient_')
    await page.close()
  })

  test('an account that cannot have a key is said without a link to a request, because there was none', async () => {
    const { id } = await gateway.account({ grant: '0' })
    await gateway.admin('POST', `accounts/${id}/close`)
    const page = await signedIn('operator')
    await visit(page, 'playground?model=sandbox-chat')

    await send(page, id, 'Hello')

    const answer = page.getByRole('article', { name: 'Model' })
    await answer.getByRole('alert').waitFor()
    expect(await answer.getByRole('link').count()).toBe(0)
    await page.close()
  })

  test('images and clips are shown, with what they cost', async () => {
    const account = await gateway.account()
    const page = await signedIn('operator')
    await page.addInitScript(() => {
      const revoked: string[] = []
      const revoke = URL.revokeObjectURL.bind(URL)
      URL.revokeObjectURL = url => {
        revoked.push(url)
        revoke(url)
      }
      Object.assign(window, { revoked })
    })

    await visit(page, 'playground?kind=image')
    await send(page, account.id, 'A bay at dawn')
    await page.getByRole('img', { name: 'A bay at dawn' }).waitFor()
    expect(await page.getByRole('article').textContent()).toContain('$')
    await visit(page, 'playground?kind=video')
    await send(page, account.id, 'A boat')
    await page.locator('video').waitFor()
    const clip = await page.locator('video').getAttribute('src')
    await page.getByRole('link', { name: 'Books' }).click()
    await page.getByRole('heading', { level: 1, name: 'Books' }).waitFor()

    // The browser frees the memory of the clip with its address.
    expect(clip).toStartWith('blob:')
    await page.waitForFunction(
      url => (window as unknown as { revoked: string[] }).revoked.includes(url!),
      clip,
    )
    await page.close()
  })

  test('the request is there as code for curl and the OpenAI SDKs', async () => {
    const page = await signedIn('owner')
    await visit(page, 'playground?model=sandbox-chat')

    await page.getByRole('textbox', { name: 'Message' }).fill("It's fine")
    const code = page.getByRole('region', { name: 'Code' }).locator('pre')
    await page.waitForFunction(() => document.querySelector('pre')?.textContent?.includes('fine'))
    expect(await code.textContent()).toContain(`curl ${gateway.url}/v1/chat/completions`)
    expect(await code.textContent()).toContain(String.raw`It'\''s fine`)
    await page.getByLabel('Language').selectOption('python')
    expect(await code.textContent()).toContain('stream=True')
    await page.getByRole('link', { name: 'Image', exact: true }).click()
    await code.filter({ hasText: 'images.generate' }).waitFor()
    // Without a prompt of its own, so that it can be pasted and run.
    expect(await code.textContent()).toContain('prompt="A lighthouse at dusk"')
    await page.close()
  })

  test('a viewer has no playground', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'playground')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    await page.close()
  })

  test('it has no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await signedIn('owner')
    await visit(page, 'profile')
    for (const kind of ['chat', 'image', 'video']) {
      await navigate(page, `playground?kind=${kind}`)
      await expectAccessibleInLooks(page)
    }
    await page.close()
  })
})

/** A chat stream that ends after its first text when `rest` resolves. */
function aHeldStream(text: string, rest: Promise<void>) {
  const chunk = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(chunk({ choices: [{ delta: { content: text } }] }))
            await rest
            controller.enqueue(chunk({ choices: [], usage: { cost_usd: '0.00012', total_tokens: 12 } }))
            controller.enqueue('data: [DONE]\n\n')
            controller.close()
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  })
  return { url: `${server.url}`, [Symbol.asyncDispose]: () => server.stop(true) }
}
