import { spawn } from 'bun'
import { afterAll, expect, test } from 'bun:test'
import { aDataFolder } from '../support/data-folder.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { runBrowser } from './support/browser.ts'
import { playFirstCustomer, startKeyedProvider } from './support/first-customer.ts'

const browser = await runBrowser()
const provider = startKeyedProvider()
const gateway = browser === undefined ? undefined : await startGatewayProcess(aDataFolder())
afterAll(async () => {
  await gateway?.stop()
  provider.close()
})

/** Runs a command as a customer does. */
async function run(command: string): Promise<string> {
  const child = spawn(['sh', '-c', command], { stdout: 'pipe', stderr: 'ignore' })
  return new Response(child.stdout).text()
}

test.skipIf(browser === undefined)(
  'a newcomer gets from the first start to a charged request, and reads why another one was refused',
  async () => {
    const context = await browser!.newContext({ baseURL: gateway!.url, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto('/console/')
    await page.getByText('This gateway has no users yet.').waitFor()
    // Only the fragment of the page changes, so it must be another page first.
    await page.goto('about:blank')
    const printed = () => /http\S+#link=\S+(?=\s)/.exec(gateway!.output())?.[0] ?? ''
    await until('the link is printed', () => printed() !== '')

    const { answer, charged, why } = await playFirstCustomer(page, { link: printed(), provider, run })

    expect(JSON.parse(answer)).toMatchObject({ usage: { cost_usd: '0.0006295' } })
    expect(charged).toContain('$0.0006295')
    expect(charged).toContain('$0.0005036')
    expect(why).toContain('It was refused by the limit "month budget" of its API key.')
    expect(why).toMatch(
      /It could cost up to 0\.\d+ USD, and 0\.0093705 USD was left for it\. Nothing was charged\./,
    )
    expect(why).toContain('Raise the budget')
    await context.close()
  },
)
