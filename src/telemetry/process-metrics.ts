import { Counter, Gauge, type Registry } from 'prom-client'

const MICROSECONDS = 1_000_000

/** The file descriptors of this process; undefined if the system does not report them. */
export type ProcessFiles = {
  readonly open: () => number | undefined
  readonly max: number | undefined
}

/** The metrics that Prometheus client libraries have for each process, with their conventional names. */
export function registerProcessMetrics(registry: Registry, files: ProcessFiles): void {
  const registers = [registry]
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / MICROSECONDS)
    },
  })
  const memory = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  const start = new Gauge({
    name: 'process_start_time_seconds',
    help: 'The start of the process, in seconds since 1970.',
    registers,
  })
  start.set(performance.timeOrigin / 1000)
  const open = new Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    registers,
    collect() {
      this.set(files.open() ?? Number.NaN)
    },
  })
  const max = new Gauge({ name: 'process_max_fds', help: 'The limit of open file descriptors.', registers })
  max.set(files.max ?? Number.NaN)
  void [cpu, memory, open]
}
