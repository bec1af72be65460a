import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process of the benchmark. */
export type Running = {
  readonly name: string
  readonly pid: number
  /** Resolves once `probe` says true. Throws, with the end of the process's log, if it ends or takes too long. */
  ready(probe: () => Promise<boolean>): Promise<void>
}

export type Processes = {
  /** A folder for files of processes; removed by its owner after `stopAll`. */
  readonly folder: string
  /** Starts a program in the background; its output goes to a file. Throws once `stopAll` has been called. */
  start(program: Program): Running
  /** Ends all that was started, politely and then by force, and waits until it is gone. Repeating it is harmless. */
  stopAll(): Promise<void>
}

export type Program = {
  readonly name: string
  readonly command: readonly string[]
  /** Added to the benchmark's own environment. */
  readonly environment?: Readonly<Record<string, string>>
}

const READY_MS_MAX = 20_000
const PROBE_EVERY_MS = 10
/** Longer than it takes a server without running requests to drain. */
const STOP_MS_MAX = 5_000
const LOG_CHARACTERS_SHOWN = 2_000

/** Keeps account of every process that the benchmark starts, so that none outlives it. */
export function openProcesses(folder: string): Processes {
  const started: Bun.Subprocess[] = []
  let stopping = false

  return {
    folder,
    start({ name, command, environment = {} }) {
      if (stopping) throw new Error(`${name} was not started: the benchmark is ending.`)
      const logFile = join(folder, `${name}.log`)
      const log = openSync(logFile, 'a')
      const subprocess = Bun.spawn([...command], {
        env: { ...process.env, ...environment },
        // Our own peers end when this pipe closes, which it does even if the benchmark is killed outright.
        stdin: 'pipe',
        stdout: log,
        stderr: log,
      })
      closeSync(log)
      started.push(subprocess)
      return { name, pid: subprocess.pid, ready: probe => ready(name, subprocess, logFile, probe) }
    },
    async stopAll() {
      stopping = true
      await Promise.all(started.map(stop))
    },
  }
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Whether something accepts connections there. */
export async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}

async function ready(
  name: string,
  subprocess: Bun.Subprocess,
  logFile: string,
  probe: () => Promise<boolean>,
): Promise<void> {
  const giveUpAtMs = performance.now() + READY_MS_MAX
  while (!(await probe())) {
    const ended = subprocess.exitCode ?? subprocess.signalCode
    if (ended === null && performance.now() < giveUpAtMs) {
      await Bun.sleep(PROBE_EVERY_MS)
      continue
    }
    const what = ended === null ? `is not ready after ${READY_MS_MAX} ms` : `ended with ${ended}`
    throw new Error(
      `${name} ${what}. Its last words:\n${readFileSync(logFile, 'utf8').slice(-LOG_CHARACTERS_SHOWN)}`,
    )
  }
}

async function stop(subprocess: Bun.Subprocess): Promise<void> {
  subprocess.kill('SIGTERM')
  const force = setTimeout(() => subprocess.kill('SIGKILL'), STOP_MS_MAX)
  await subprocess.exited
  clearTimeout(force)
}
