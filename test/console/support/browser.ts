import { chromium, type Browser } from 'playwright-core'
import { debianProgram } from '../../support/debian-program.ts'

let running: Promise<Browser | undefined> | undefined

/**
 * The browser of this test run, which the first caller starts. Undefined if none is installed and none can be fetched;
 * its tests are then skipped, and a line says why. With `TEST_SERVERS=required` it throws instead.
 */
export function runBrowser(): Promise<Browser | undefined> {
  running ??= launch().catch((error: unknown) => {
    if (process.env['TEST_SERVERS'] === 'required') throw error
    process.stderr.write(`The tests of the console in a browser are skipped. ${String(error)}\n`)
    return undefined
  })
  return running
}

async function launch(): Promise<Browser> {
  const { path, environment } = await debianProgram('chromium-headless-shell')
  return chromium.launch({
    executablePath: path,
    // The sandbox of the browser needs rights that containers do not have. It visits only our own pages.
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
    env: { ...process.env, ...environment },
  })
}
