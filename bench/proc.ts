import { readFileSync, readdirSync } from 'node:fs'

/** The CPU time of a process since its start in nanoseconds, by two counters that `cpuUsedMs` compares. */
export type CpuReading = { readonly exactNs: number; readonly ticksNs: number }

/** The unit of `/proc/PID/stat` on every Linux that Bun supports (USER_HZ is 100). */
const TICK_NS = 10_000_000

/** The user and system CPU time of all threads of a process. */
export function readCpu(pid: number): CpuReading {
  return { exactNs: threadsNs(pid), ticksNs: ticksNs(pid) }
}

/**
 * Milliseconds of CPU time between two readings. The scheduler's counters are exact, but the counter of a thread
 * disappears when the thread ends. If that happened, the coarser counter of the process is used.
 */
export function cpuUsedMs(before: CpuReading, after: CpuReading): number {
  const exactNs = after.exactNs - before.exactNs
  const ticksNs = after.ticksNs - before.ticksNs
  return (exactNs < ticksNs - 3 * TICK_NS ? ticksNs : exactNs) / 1e6
}

/** The resident memory of a process in MB (1024² bytes). */
export function readRssMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

function threadsNs(pid: number): number {
  let sumNs = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sumNs += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10)
    } catch {
      // The thread ended after the folder was listed, or this kernel does not have this file.
    }
  }
  return sumNs
}

function ticksNs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name in brackets, which may have spaces. utime and stime are the fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS
}
