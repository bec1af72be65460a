import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expectAccessible } from './support/accessibility.ts'
import { settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('what the console loads late', () => {
  const { gateway, newPage, signedIn } = started ?? ({} as ConsoleGateway)

  test('a page whose script did not arrive says so, and is loaded at the next visit', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'mail')
    await page.route('**/assets/*.js', route => route.abort())
    const menu = page.getByRole('navigation', { name: 'Main' })

    await menu.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page was not loaded' }).waitFor()
    await expectAccessible(page)
    await page.unroute('**/assets/*.js')
    await menu.getByRole('link', { name: 'Mail' }).click()
    await page.getByRole('heading', { level: 1, name: 'Mail' }).waitFor()
    await menu.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()

    expect(page.url()).toEndWith('/console/webhooks')
    await page.close()
  })

  test('the button of a page whose script did not arrive loads it', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'mail')
    await page.route('**/assets/*.js', route => route.abort())

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page was not loaded' }).waitFor()
    await page.unroute('**/assets/*.js')
    await page.getByRole('button', { name: 'Load it again' }).click()

    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    await page.close()
  })

  test('a refused sign-in at the OpenID provider is said once, and not in the address', async () => {
    const page = await newPage()

    await page.goto('/console/#sign-in-error=anything')
    const refusal = page.getByRole('alert')
    await refusal.waitFor()
    const address = page.url()
    await page.reload()
    await settled(page)

    expect(address).toBe(`${gateway.url}/console/`)
    expect(await refusal.count()).toBe(0)
    await page.close()
  })

  test.each(['light', 'dark'] as const)(
    'a chart of more than 2,000 points is drawn on a canvas, with its table and CSV, in the look %s',
    async look => {
      const page = await signedIn('viewer', look)
      await openLongChart(page)

      const chart = page.getByRole('region', { name: 'Long lines' })
      await chart.locator('canvas').waitFor()
      const inkOf = await page.evaluate(() => {
        const canvas = document.querySelector('canvas') as HTMLCanvasElement
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
        return new Set(new Uint32Array(data.buffer)).size
      })
      await expectAccessible(page)
      const saving = page.waitForEvent('download')
      await chart.getByRole('button', { name: /CSV/ }).click()
      const csv = await Bun.file(await (await saving).path()).text()
      await chart.getByRole('button', { name: /table/i }).click()
      await chart.getByRole('table').waitFor()

      expect(inkOf).toBeGreaterThan(10)
      expect(csv.trim().split('\r\n')).toHaveLength(1002)
      expect(csv).toStartWith('Hour,First,Second\r\nHour 0,0,0\r\nHour 1,7,8\r\n')
      expect(await chart.getByRole('table').getAttribute('aria-rowcount')).toBe('1002')
      await expectAccessible(page)
      await page.close()
    },
  )

  /** Shows the chart of `console/measure` with the styles and under the policy of the console. */
  async function openLongChart(page: Page): Promise<void> {
    const built = await Bun.build({
      entrypoints: [join(import.meta.dirname, '../../console/measure/long-chart.tsx')],
      target: 'browser',
      minify: true,
      format: 'iife',
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    const script = await built.outputs[0]!.text()
    const shell = await fetch(`${gateway.url}/console/`)
    const policy = shell.headers.get('content-security-policy') ?? ''
    const styles = /<link rel="stylesheet"[^>]*>/.exec(await shell.text())?.[0] ?? ''
    await page.route('**/long-chart.js', route =>
      route.fulfill({ contentType: 'text/javascript', body: script }),
    )
    await page.route('**/console/long-chart', route =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: `<!doctype html><html lang="en"><head><title>Chart</title><base href="/console/" />${styles}</head>
          <body><main><h1>A chart</h1><div id="chart"></div></main><script src="/console/long-chart.js" defer></script></body></html>`,
      }),
    )
    await page.goto('/console/long-chart')
    expect(policy).toContain("style-src 'self'")
  }
})
