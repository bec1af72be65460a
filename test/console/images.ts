/**
 * Writes the pictures of docs/console.md and docs/tasks/first-customer-in-console.md to `docs/images/`:
 * `npm run console-images`. They are of real gateways, whose pages are opened as an owner.
 */
import { spawn } from 'bun'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { aDataFolder } from '../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts'
import { makeBusy } from './support/busy-gateway.ts'
import { LOOKS, startConsole, visit, type ConsoleGateway, type Look } from './support/console-gateway.ts'
import { playFirstCustomer, startKeyedProvider } from './support/first-customer.ts'

const FOLDER = join(import.meta.dirname, '../../docs/images')
/** Of 50 ms each. */
const LINK_TRIES_MAX = 200

const started = await startConsole()
if (started === undefined) throw new Error('There is no browser.')
try {
  await takeConsole(started)
  await takeFirstCustomer(started)
} finally {
  await started.stop()
  await started.browser.close()
}

async function takeConsole(started: ConsoleGateway): Promise<void> {
  const account = await makeBusy(started)
  const pictures: readonly (readonly [name: string, path: string, look: Look])[] = [
    ['overview', 'overview', 'light'],
    ['overview-dark', 'overview', 'dark'],
    ['account', `accounts/${account.id}`, 'light'],
    ['account-phone', `accounts/${account.id}`, 'phone'],
    ['requests', 'requests', 'light'],
    ['playground', 'playground', 'light'],
  ]
  for (const [name, path, look] of pictures) {
    const page = await started.signedIn('owner', look)
    await visit(page, path)
    await take(page, `console-${name}`)
    await page.close()
  }
}

/** On a gateway without users, as a newcomer has it. */
async function takeFirstCustomer({ browser }: ConsoleGateway): Promise<void> {
  const gateway = await startGatewayProcess(aDataFolder())
  const provider = startKeyedProvider()
  const context = await browser.newContext({ ...LOOKS.light, reducedMotion: 'reduce' })
  try {
    const link = await printedLink(gateway)
    await playFirstCustomer(await context.newPage(), {
      link,
      provider,
      run: code =>
        new Response(spawn(['sh', '-c', code], { stdout: 'pipe', stderr: 'ignore' }).stdout).text(),
      onPicture: async (name, part) => {
        // They would cover a part of the picture.
        await part.page().evaluate(closeMessages)
        await part.evaluate(shortenTexts)
        await take(part, `first-customer-${name}`)
      },
    })
  } finally {
    await context.close()
    await gateway.stop()
    provider.close()
  }
}

/** The gateway prints the link after it listens. */
async function printedLink({ output }: GatewayProcess): Promise<string> {
  for (let tries = 0; tries < LINK_TRIES_MAX; tries += 1) {
    const [link] = /http\S+#link=\S+/.exec(output()) ?? []
    if (link !== undefined) return link
    await Bun.sleep(50)
  }
  throw new Error(`The gateway printed no link:\n${output()}`)
}

function closeMessages(): void {
  for (const button of document.querySelectorAll<HTMLElement>('.toasts button')) button.click()
}

/** Texts that differ in each run, or look like a key that works, are written as the docs write them. */
function shortenTexts(part: Element): void {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode
    text.nodeValue = (text.nodeValue ?? '')
      .replace(/tg_live_\w+/, 'tg_live_…')
      .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:8787')
  }
}

async function take(part: Pick<Locator, 'screenshot'>, name: string): Promise<void> {
  await part.screenshot({ path: join(FOLDER, `${name}.png`) })
  console.log(`docs/images/${name}.png`)
}
