import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { main } from './cli/main.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}
const LOG_WAIT_MS = 1000

const args = process.argv.slice(2)
const isServer = args.includes('serve')
// If the reader of the output ends early, such as `head`, the command ends without an error. A server continues.
process.stdout.on('error', () => {
  if (!isServer) process.exit(0)
})

const exitCode = await main(args, {
  version,
  environment: process.env,
  loadApp: () => import('./app.ts'),
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  confirm: process.stdin.isTTY ? confirm : undefined,
})
// Waits until the output is written, because a pipe is as slow as its reader. Then exits, even if a drain left work
// open.
const written = Promise.all([process.stdout, process.stderr].map(ended))
// A stopping server does not wait for a log that is not read.
await (isServer ? Promise.race([written, Bun.sleep(LOG_WAIT_MS)]) : written)
process.exit(exitCode)

/** Asks on standard error, so that the question is not part of the output. */
async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}

/** Resolves when everything is written. The callback of an empty write could come before earlier writes are done. */
function ended(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise(resolve => {
    stream.end(() => resolve())
  })
}
