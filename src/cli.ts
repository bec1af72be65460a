import { readFileSync } from 'node:fs'
import { main } from './cli/main.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}
const args = process.argv.slice(2)
// A reader that has seen enough, such as `head`, is no failure of ours. A server outlives whoever reads its log.
process.stdout.on('error', () => {
  if (!args.includes('serve')) process.exit(0)
})

const exitCode = await main(args, {
  version,
  environment: process.env,
  loadApp: () => import('./app.ts'),
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
})
// After what was written: a pipe takes it only as fast as it is read. Then at once, whatever a drain has left open.
for (const stream of [process.stdout, process.stderr]) {
  // An empty write is called back while what was written before still waits; the end is not.
  await new Promise<void>(resolve => stream.end(() => resolve()))
}
process.exit(exitCode)
