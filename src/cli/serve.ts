import type { Config, Environment } from '../config/config.ts'
import { launchProblem } from '../config/environment.ts'
import { CliError } from './outcome.ts'

export type StartApp = (config: Config) => Promise<{ readonly url: string; stop(): Promise<void> }>

/**
 * Runs the gateway until SIGTERM or SIGINT, waits for running requests, and resolves. A second signal ends the process
 * at once.
 */
export async function serve(
  config: Config,
  {
    environment,
    loadApp,
  }: {
    readonly environment: Environment
    readonly loadApp: () => Promise<{ readonly startApp: StartApp }>
  },
): Promise<void> {
  const problem = launchProblem(environment)
  if (problem !== undefined) throw new CliError(problem, { exitCode: 2, code: 'wrong_launch' })
  // Installed before the start, so that a signal during the start is not lost.
  const stopRequested = Promise.withResolvers<void>()
  const onSignal = stopSignals({
    stop: stopRequested.resolve,
    end: endAtOnce,
    elapsedMs: () => performance.now(),
  })
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  const { startApp } = await loadApp()
  const app = await started(config, startApp)
  await stopRequested.promise
  await app.stop()
}

/** Loses no money: it is like a crash, and the next start continues from the same state. */
function endAtOnce(): never {
  process.stderr.write('A second signal ended the gateway. Running requests were cut off.\n')
  process.exit(1)
}

async function started(config: Config, startApp: StartApp): ReturnType<StartApp> {
  try {
    return await startApp(config)
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error) || error.syscall !== 'listen') throw error
    if ('code' in error && error.code === 'EADDRINUSE') {
      throw new CliError(
        `Port ${config.port} on ${config.host} is in use by another program. Stop it, or set TOLLGATE_PORT to a free port.`,
        { exitCode: 1, code: 'port_in_use' },
      )
    }
    // The runtime's other error codes do not say whether the address or the port is wrong.
    throw new CliError(
      `Cannot listen on ${config.host}, port ${config.port}. Set TOLLGATE_HOST to an address of this machine, and TOLLGATE_PORT to a port that this user may open.`,
      { exitCode: 1, code: 'cannot_listen' },
    )
  }
}

/**
 * Signals within this time count as one. For one Ctrl-C, the terminal and npm can both send a signal, a few
 * milliseconds apart. Two signals that a person sends are further apart.
 */
const SAME_SIGNAL_MS = 100

export type StopSignals = {
  /** Called at the first signal. */
  readonly stop: () => void
  /** Called at each signal that follows at least `SAME_SIGNAL_MS` later. */
  readonly end: () => void
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/** Returns what each signal calls. */
export function stopSignals({ stop, end, elapsedMs }: StopSignals): () => void {
  let firstMs: number | undefined
  return () => {
    const nowMs = elapsedMs()
    if (firstMs === undefined) {
      firstMs = nowMs
      stop()
    } else if (nowMs - firstMs >= SAME_SIGNAL_MS) end()
  }
}
