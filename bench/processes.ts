import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process of the benchmark. */
export type Running = {
  readonly name: string
  readonly pid: number
  /** Resolves when `probe` returns true. Throws with the end of the log if the process ends or takes too long. */
  ready(probe: () => Promise<boolean>): Promise<void>
}

export type Processes = {
  /** A folder for the files of the processes. The owner removes it after `stopAll`. */
  readonly folder: string
  /** Starts a program in the background. Its output goes to a file. Throws after `stopAll`. */
  start(program: Program): Running
  /** Calls this when `stopAll` has stopped the programs, for a server that starts its own processes. */
  atEnd(end: () => Promise<void>): void
  /**
   * Stops all processes with SIGTERM and then SIGKILL, and waits until they have ended. Repeating it changes nothing.
   */
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
/** Longer than a server without running requests needs to stop. */
const STOP_MS_MAX = 5_000
const LOG_CHARACTERS_SHOWN = 2_000

/** Starts processes and tracks them, so that none outlives the benchmark. */
export function openProcesses(folder: string): Processes {
  const started: Bun.Subprocess[] = []
  const ends: (() => Promise<void>)[] = []
  let stopping = false

  return {
    folder,
    start({ name, command, environment = {} }) {
      if (stopping) throw new Error(`${name} was not started: the benchmark is ending.`)
      const logFile = join(folder, `${name}.log`)
      const log = openSync(logFile, 'a')
      const subprocess = Bun.spawn([...command], {
        env: { ...process.env, ...environment },
        // Our own peers end when this pipe closes, even if the benchmark is killed.
        stdin: 'pipe',
        stdout: log,
        stderr: log,
      })
      closeSync(log)
      started.push(subprocess)
      return { name, pid: subprocess.pid, ready: probe => ready(name, subprocess, logFile, probe) }
    },
    atEnd(end) {
      ends.push(end)
    },
    async stopAll() {
      stopping = true
      await Promise.all(started.map(stop))
      await Promise.all(ends.splice(0).map(end => end()))
    },
  }
}

/** A port that was just free. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Whether a server accepts connections on this port. */
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
      `${name} ${what}. The end of its log:\n${readFileSync(logFile, 'utf8').slice(-LOG_CHARACTERS_SHOWN)}`,
    )
  }
}

async function stop(subprocess: Bun.Subprocess): Promise<void> {
  subprocess.kill('SIGTERM')
  const force = setTimeout(() => subprocess.kill('SIGKILL'), STOP_MS_MAX)
  await subprocess.exited
  clearTimeout(force)
}
