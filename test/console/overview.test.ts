import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

const CHARTS = [
  'Revenue and margin by day',
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

    test('the first steps stay for those who can act until a provider was charged', async () => {
      const viewer = await signedIn('viewer')
      const owner = await signedIn('owner')
      await visit(viewer, 'overview')
      await visit(owner, 'overview')

      const steps = owner.getByRole('region', { name: 'Your first request' })
      await steps.getByRole('link', { name: 'Add a provider' }).click()
      await owner.getByRole('heading', { level: 1, name: 'Set up' }).waitFor()
      expect(await viewer.getByRole('region', { name: 'Your first request' }).count()).toBe(0)
      await viewer.close()
      await owner.close()
    })

    test('the days of the charts are in the address', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')

      await page.getByLabel('Days', { exact: true }).selectOption('7')
      await page.waitForURL(/days=7/)
      await settled(page)
      await page.getByRole('button', { name: 'Show Revenue and margin by day as a table' }).click()

      const rows = page.getByRole('region', { name: 'Revenue and margin by day' }).locator('tbody tr')
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

    test('reloading the overview reads every figure and chart again, and none disappears meanwhile', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')
      const asked: string[] = []
      page.on('request', request => asked.push(new URL(request.url()).pathname))

      await page.getByRole('button', { name: 'Reload' }).click()
      const skeletons = await page.locator('.loading').count()
      await page.waitForFunction(() => document.querySelector('.page-head button:not(:disabled)') !== null)
      await settled(page)

      const times = (path: string) => asked.filter(pathname => pathname.endsWith(path)).length
      expect([times('/overview'), times('/requests/report'), skeletons]).toEqual([1, 3, 0])
      expect(times('/margins')).toBeGreaterThanOrEqual(3)
      await page.close()
    })

    test('a circuit breaker that is tried again is not called closed', async () => {
      const page = await signedIn('viewer')
      await page.route('**/admin/overview', async route => {
        const reply = await route.fetch()
        const circuit = { provider: 'main', model: 'x', state: 'half_open', failures: 3, open_for_ms: null }
        await route.fulfill({ response: reply, json: { ...(await reply.json()), circuits: [circuit] } })
      })
      await visit(page, 'overview')

      const figure = page.locator('.figure', { hasText: 'Circuit breakers' })
      expect(await figure.textContent()).toContain('1 trying')
      await page.close()
    })

    test('a chart has the largest groups in one call, and reads the others for its table', async () => {
      const page = await signedIn('viewer')
      const asked: URLSearchParams[] = []
      await page.route('**/admin/margins?by=model*', async route => {
        const { searchParams } = new URL(route.request().url())
        asked.push(searchParams)
        const reply = await route.fetch()
        const body = (await reply.json()) as { data: object[] }
        const data = Array.from({ length: Number(searchParams.get('limit')) < 10 ? 8 : 12 }, (_, index) => ({
          ...body.data[0],
          model: `model-${index}`,
        }))
        const next = data.length === 8 ? '8' : null
        await route.fulfill({ response: reply, json: { ...body, data, next, has_more: next !== null } })
      })
      await visit(page, 'overview')
      const chart = page.getByRole('region', { name: 'Spend by model' })
      const atFirst = asked.map(params => `${params.get('sort')} ${params.get('limit')}`)

      await chart.getByRole('button', { name: /as a table/ }).click()
      await chart.getByRole('table').waitFor()

      expect(atFirst).toEqual(['revenue 8'])
      expect(await chart.locator('tbody tr').count()).toBe(12)
      await page.close()
    })

    test('the latency of 30 days by hour is a chart of more than 2,000 points, which follows width and theme', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')

      await page.getByLabel('Latency by day or by hour').selectOption('By hour')
      const drawing = page.getByRole('img', { name: 'Latency and first token' })
      await drawing.locator('canvas').waitFor()
      const inkOf = () =>
        drawing.locator('canvas').evaluate(element => {
          const canvas = element as HTMLCanvasElement
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
          return [...new Set(new Uint32Array(data.buffer))].toSorted((a, b) => a - b).join(' ')
        })
      const light = await inkOf()
      const wide = (await drawing.locator('canvas').boundingBox())!.width
      await page.getByRole('button', { name: 'Dark' }).click()
      await until('the chart is drawn in other colours', async () => (await inkOf()) !== light)
      await page.waitForFunction(() => document.querySelectorAll('canvas').length === 1)
      await page.setViewportSize({ width: 900, height: 800 })
      await page.waitForFunction(before => document.querySelector('canvas')!.clientWidth < before - 200, wide)
      await page.getByRole('button', { name: 'As the system' }).click()

      expect(page.url()).toContain('latency=hour')
      await page.close()
    })

    test('the ticks of an axis have as many decimals, and its last day is inside the drawing', async () => {
      const page = await signedIn('viewer')
      await visit(page, 'overview')

      const plot = page.getByRole('img', { name: 'Revenue and margin by day' })
      const texts = await plot.locator('text').allTextContents()
      const edges = await plot.evaluate(svg => {
        const { right } = svg.getBoundingClientRect()
        return [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect().right - right)
      })

      const decimals = texts.filter(text => text.includes('$')).map(text => text.split('.')[1]?.length)
      expect(new Set(decimals).size).toBe(1)
      expect(texts.some(text => /^[A-Z][a-z]{2} \d{1,2}$/.test(text))).toBe(true)
      expect(Math.max(...edges)).toBeLessThanOrEqual(1)
      await page.close()
    })

    test('revenue of the sandbox is named, because nobody pays it', async () => {
      const page = await signedIn('viewer')
      for (const path of ['overview', 'margins']) {
        await visit(page, path)
        await page.getByText('is of the sandbox').waitFor()
      }

      expect(await page.getByText('is of the sandbox').textContent()).toContain('$')
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
