/**
 * Writes the pictures of docs/console.md to `docs/images/`: `npm run console-images`. They are of a real gateway with
 * sandbox models, whose pages are opened as an owner.
 */
import { join } from 'node:path'
import { makeBusy } from './support/busy-gateway.ts'
import { startConsole, visit, type Look } from './support/console-gateway.ts'

const FOLDER = join(import.meta.dirname, '../../docs/images')

const started = await startConsole()
if (started === undefined) throw new Error('There is no browser.')
try {
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
    await page.screenshot({ path: join(FOLDER, `console-${name}.png`) })
    await page.context().close()
    console.log(`docs/images/console-${name}.png`)
  }
} finally {
  await started.stop()
  await started.browser.close()
}
