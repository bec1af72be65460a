import type { Config, Environment } from '../config/config.ts'
import { launchProblem } from '../config/launch.ts'
import { CliError } from './outcome.ts'

export type StartApp = (config: Config) => Promise<{ readonly url: string; stop(): Promise<void> }>

/** Runs the gateway until it is told to stop, lets running requests end, and resolves. */
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
  // From here on, so that a signal during the start is not lost, and for good: a terminal and npm both pass one on, and a
  // second signal must not cut the drain short.
  const toldToStop = Promise.withResolvers<void>()
  process.on('SIGTERM', () => toldToStop.resolve())
  process.on('SIGINT', () => toldToStop.resolve())
  const { startApp } = await loadApp()
  const app = await started(config, startApp)
  await toldToStop.promise
  await app.stop()
}

async function started(config: Config, startApp: StartApp): ReturnType<StartApp> {
  try {
    return await startApp(config)
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error) || error.syscall !== 'listen') throw error
    if ('code' in error && error.code === 'EADDRINUSE') {
      throw new CliError(
        `Another program listens on ${config.host}, port ${config.port}. Stop it, or set TOLLGATE_PORT to a free port.`,
        { exitCode: 1, code: 'port_in_use' },
      )
    }
    // Which of the two it is cannot be told: the runtime's other codes are those of whatever failed before.
    throw new CliError(
      `Cannot listen on ${config.host}, port ${config.port}. Set TOLLGATE_HOST to an address of this machine, and TOLLGATE_PORT to a port that this user may open.`,
      { exitCode: 1, code: 'cannot_listen' },
    )
  }
}
