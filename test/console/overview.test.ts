import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

const CHARTS = [
  'Spend and margin by day',
  'Spend by model',
  'Spend by account',
  'Latency and first token',
  'Requests by status',
  'Errors by provider',
  'Tokens by kind',
  'Open jobs',
] as const

describe.skipIf(started === undefined)('the overview and the margins', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)

  test('an empty gateway shows the next steps instead of figures, and only actions of the role', async () => {
    const owner = await signedIn('owner')
    const viewer = await signedIn('viewer')
    await visit(owner, '')
    await visit(viewer, '')

    const steps = owner.getByRole('region', { name: 'Your first request' })
    expect(await steps.getByRole('listitem').count()).toBe(4)
    expect(await steps.getByRole('link', { name: 'Playground' }).getAttribute('href')).toBe('playground')
    expect(await owner.locator('.chart').count()).toBe(0)
    expect(await viewer.getByRole('region', { name: 'Your first request' }).getByRole('link').count()).toBe(0)
    await expectAccessibleInLooks(owner)
    await owner.close()
    await viewer.close()
  })

  describe('after the first requests', () => {
    beforeAll(async () => {
      const { key } = await gateway.account()
      const body = { model: 'sandbox-chat', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
      await gateway.chat(key, body)
      await gateway
        .chat(key, { ...body, stream: true, stream_options: { include_usage: true } })
        .then(reply => reply.text())
      await gateway.chat(key, { ...body, model: 'no-such-model' })
    })

    test('figures and eight charts show them, each chart also as a table and as a file', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')

      const { last_30_days: sums } = await gateway.admin<{ last_30_days: { revenue_usd: string } }>(
        'GET',
        'overview',
      )
      const figures = await page.locator('.figures').first().textContent()
      expect(figures).toContain(`$${sums.revenue_usd}`)
      for (const chart of CHARTS) expect(await page.getByRole('region', { name: chart }).count()).toBe(1)
      await page.getByRole('button', { name: 'Show Spend by model as a table' }).click()
      const table = page.getByRole('region', { name: 'Spend by model' }).getByRole('table')
      expect(await table.textContent()).toContain(`sandbox-chat$${sums.revenue_usd}`)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download Spend by model as CSV' }).click(),
      ])
      const file = await Bun.file(await download.path()).text()
      expect(file).toBe(`Model,Spend\r\nsandbox-chat,${sums.revenue_usd}\r\n`)
      await page.close()
    })

    test('the days of the charts are in the address', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')

      await page.getByLabel('Days', { exact: true }).selectOption('7')
      await page.waitForURL(/days=7/)
      await settled(page)
      await page.getByRole('button', { name: 'Show Spend and margin by day as a table' }).click()

      const rows = page.getByRole('region', { name: 'Spend and margin by day' }).locator('tbody tr')
      expect(await rows.count()).toBe(7)
      await page.close()
    })

    test('margins are grouped as the reader chooses, and a wrong account is said', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'margins?by=account')

      expect(await page.getByRole('table').textContent()).toContain('account 1')
      await page.getByLabel('By', { exact: true }).selectOption('provider')
      await page.waitForURL(/by=provider/)
      await page.getByRole('cell', { name: 'sandbox' }).waitFor()
      await visit(page, 'margins?account=nobody')
      expect(await page.locator('.note.bad').textContent()).toContain('nobody')
      await page.close()
    })

    test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
      const page = await signedIn('owner')
      await visit(page, 'profile')
      for (const path of ['overview', 'margins', 'margins?by=day']) {
        await navigate(page, path)
        await expectAccessibleInLooks(page)
      }
      await page.close()
    })
  })
})
