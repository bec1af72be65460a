import { join, resolve } from 'node:path'

const CLI = join(resolve(import.meta.dirname, '../..'), 'src/cli.ts')

/** Starts a command line in its own process, so that it can be killed. */
export function startCli(args: readonly string[], settings: Record<string, string>, input?: Uint8Array) {
  return Bun.spawn([process.execPath, CLI, ...args], {
    env: { PATH: process.env['PATH'], BUN_CONFIG_MAX_HTTP_REQUESTS: '1024', ...settings },
    stdin: input ?? 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Runs a command line in its own process to its end. */
export async function runCli(args: readonly string[], settings: Record<string, string>) {
  const child = startCli(args, settings)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
