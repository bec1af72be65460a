import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessible } from './support/accessibility.ts'
import { LOOKS, startConsole, visit, type ConsoleGateway, type Look } from './support/console-gateway.ts'

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
    await page.context().close()
  })

  test('an error of the gateway is shown with its code', async () => {
    const account = await gateway.account({ grant: '0' })
    const page = await signedIn('operator')
    await visit(page, 'playground?model=sandbox-chat')

    await send(page, account.id, 'Hello')

    const alert = page.getByRole('article', { name: 'Model' }).getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toContain('insufficient_')
    await page.context().close()
  })

  test('images and clips are shown, with what they cost', async () => {
    const account = await gateway.account()
    const page = await signedIn('operator')

    await visit(page, 'playground?kind=image')
    await send(page, account.id, 'A bay at dawn')
    await page.getByRole('img', { name: 'A bay at dawn' }).waitFor()
    expect(await page.getByRole('article').textContent()).toContain('$')
    await visit(page, 'playground?kind=video')
    await send(page, account.id, 'A boat')
    await page.locator('video').waitFor()
    await page.context().close()
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
    await page.context().close()
  })

  test('a viewer has no playground', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'playground')

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    await page.context().close()
  })

  test.each(Object.keys(LOOKS) as Look[])('it has no violation of WCAG in the look %s', async look => {
    const page = await signedIn('owner', look)
    for (const kind of ['chat', 'image', 'video']) {
      await visit(page, `playground?kind=${kind}`)
      await expectAccessible(page)
    }
    await page.context().close()
  })
})
