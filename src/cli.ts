import { readFileSync } from 'node:fs'
import { main } from './cli/main.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}
const LOG_WAIT_MS = 1000

const args = process.argv.slice(2)
const isServer = args.includes('serve')
// A reader that has seen enough, such as `head`, is no failure of ours. A server outlives whoever reads its log.
process.stdout.on('error', () => {
  if (!isServer) process.exit(0)
})

const exitCode = await main(args, {
  version,
  environment: process.env,
  loadApp: () => import('./app.ts'),
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
})
// After what was written: a pipe takes it only as fast as it is read. Then at once, whatever a drain has left open.
const written = Promise.all([process.stdout, process.stderr].map(ended))
// A server that is told to stop does not wait for a log that nobody reads.
await (isServer ? Promise.race([written, Bun.sleep(LOG_WAIT_MS)]) : written)
process.exit(exitCode)

/** Resolves when all is written. An empty write would be called back while what came before it still waits. */
function ended(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise(resolve => {
    stream.end(() => resolve())
  })
}
