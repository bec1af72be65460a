import type { Registry } from 'prom-client'
import { registerNumber, type NumberMetric } from './number-metrics.ts'

const MICROSECONDS = 1_000_000

/** The file descriptors of this process; undefined if the system does not report them. */
export type ProcessFiles = {
  readonly open: () => number | undefined
  readonly max: number | undefined
}

/** The metrics that Prometheus client libraries have for each process, with their conventional names. */
export function registerProcessMetrics(registry: Registry, files: ProcessFiles): void {
  for (const number of processNumbers(files)) registerNumber(number, registry)
}

function processNumbers(files: ProcessFiles): readonly NumberMetric[] {
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system CPU time in seconds.',
      read: () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / MICROSECONDS
      },
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory in bytes.',
      read: () => process.memoryUsage.rss(),
    },
    {
      name: 'process_start_time_seconds',
      help: 'The start of the process, in seconds since 1970.',
      read: () => performance.timeOrigin / 1000,
    },
    {
      name: 'process_open_fds',
      help: 'Open file descriptors.',
      read: () => files.open() ?? Number.NaN,
    },
    {
      name: 'process_max_fds',
      help: 'The limit of open file descriptors.',
      read: () => files.max ?? Number.NaN,
    },
  ]
}
