/**
 * Measures the console in a browser: `scripts/bun.sh all test/console/measure.ts`. Prints how long the first page takes
 * on loopback, and how long a table of 100,000 rows takes to be drawn, sorted, filtered and scrolled.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startConsole } from './support/console-gateway.ts'

const FIRST_PAGE_MS_MAX = 300
const TABLE_MS_MAX = 200
const RUNS = 5
const BUILT_PAGE = join(import.meta.dirname, '../../console/dist/index.html')

const started = await startConsole()
if (started === undefined) throw new Error('There is no browser.')
try {
  const firstPage = await measureFirstPage(await started.signedIn('owner'))
  const table = await measureTable(await started.newPage())
  for (const [name, ms, max] of [['first page', firstPage, FIRST_PAGE_MS_MAX], ...table] as const)
    console.log(`${name}: median ${ms.toFixed(0)} ms, at most ${max} ms: ${ms <= max ? 'met' : 'MISSED'}`)
} finally {
  await started.stop()
  await started.browser.close()
}

/** From the navigation until the heading of the page is drawn, without a cache. */
async function measureFirstPage(page: Page): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const context = await started!.browser.newContext({ storageState: await page.context().storageState() })
    const fresh = await context.newPage()
    await fresh.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('h1') === null) return
        observer.disconnect()
        requestAnimationFrame(() => Object.assign(window, { shownMs: performance.now() }))
      }).observe(document, { childList: true, subtree: true })
    })
    await fresh.goto(`${started!.gateway.url}/console/profile`)
    await fresh.waitForFunction(() => 'shownMs' in window)
    times.push(await fresh.evaluate(() => (window as unknown as { shownMs: number }).shownMs))
    await context.close()
  }
  return median(times)
}

/** The parts of the console with rows of its own, in a page that only this file serves. */
async function measureTable(page: Page): Promise<(readonly [string, number, number])[]> {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dirname, '../../console/measure/long-table.tsx')],
    target: 'browser',
    minify: true,
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const script = await built.outputs[0]!.text()
  const serve = (path: string, contentType: string, body: string) =>
    page.route(`**/${path}`, route => route.fulfill({ contentType, body }))
  await serve('measured.js', 'text/javascript', script)
  const styles = /<link rel="stylesheet"[^>]*>/.exec(await Bun.file(BUILT_PAGE).text())?.[0] ?? ''
  const body = `<base href="/console/" />${styles}<main id="measured"></main><script src="/measured.js"></script>`
  await serve('measured', 'text/html', body)
  await page.goto(`${started!.gateway.url}/measured`)
  await page.waitForFunction(() => 'measureTable' in window, undefined, { timeout: 20_000 })
  const times = await page.evaluate(() =>
    (window as unknown as { measureTable: () => Promise<Record<string, number[]>> }).measureTable(),
  )
  return Object.entries(times).map(
    ([name, ms]) => [`100,000 rows: ${name}`, median(ms), TABLE_MS_MAX] as const,
  )
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}
