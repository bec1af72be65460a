import { spawn, type Subprocess } from 'bun'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** A gateway in its own process, so that it can be killed. */
export type GatewayProcess = {
  readonly url: string
  readonly pid: number
  readonly adminKey: string
  /** The output so far, and how the process ended, if it has. */
  readonly output: () => string
  /** Sends SIGKILL and waits until the process has ended and its output is complete. */
  kill(): Promise<void>
  /** Sends SIGTERM and resolves with the exit code when the output is complete. */
  stop(): Promise<number>
}

/**
 * Starts a gateway on a free port with a data folder, and resolves when it listens. `filesMax` limits its file
 * descriptors. `command` starts another copy of it.
 */
export async function startGatewayProcess(
  dataDir: string,
  environment: Record<string, string> = {},
  {
    filesMax,
    command = [process.execPath, join(root, 'src/cli.ts'), 'serve'],
  }: { readonly filesMax?: number; readonly command?: string[] } = {},
): Promise<GatewayProcess> {
  rmSync(join(dataDir, 'server.json'), { force: true })
  const child = spawn({
    cmd:
      filesMax === undefined ? command : ['sh', '-c', `ulimit -n ${filesMax}; exec "$@"`, 'sh', ...command],
    env: {
      ...process.env,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65335',
      TOLLGATE_PORT: '0',
      TOLLGATE_DATA_DIR: dataDir,
      ...environment,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { output, ended } = collect(child)
  const url = await listening(child, dataDir)
  if (url === undefined) {
    await ended
    throw new Error(`The gateway ended at its start:\n${output()}`)
  }
  return {
    url,
    pid: child.pid,
    adminKey: environment['TOLLGATE_ADMIN_KEY'] ?? readFileSync(join(dataDir, 'admin.key'), 'utf8').trim(),
    output,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Reads the output. `ended` resolves with the exit code when the process has ended and its output is complete. */
function collect(child: Subprocess<'ignore', 'pipe', 'pipe'>): {
  output: () => string
  ended: Promise<number>
} {
  let text = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true })
  }
  const reads = [child.stdout, child.stderr].map(stream => read(stream).catch(() => undefined))
  const ended = (async () => {
    const code = await child.exited
    await Promise.all(reads)
    text += `\nThe process ended with ${child.signalCode ?? code}.\n`
    return code
  })()
  return { output: () => text, ended }
}

/** The server file is written when the port is open. This polls for it. Undefined if the process has ended. */
async function listening(child: Subprocess, dataDir: string): Promise<string | undefined> {
  const file = join(dataDir, 'server.json')
  while (!existsSync(file)) {
    if (child.exitCode !== null || child.signalCode !== null) return undefined
    await Bun.sleep(5)
  }
  return (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url
}
