import { readFileSync, readdirSync } from 'node:fs'

/** What a process has used since it started, in nanoseconds, by two clocks that `cpuUsedMs` compares. */
export type CpuReading = { readonly exactNs: number; readonly ticksNs: number }

/** `/proc/PID/stat` counts in these on every Linux that Bun runs on (USER_HZ is 100). */
const TICK_NS = 10_000_000

/** Processor time of all threads of a process, user and system together. */
export function readCpu(pid: number): CpuReading {
  return { exactNs: threadsNs(pid), ticksNs: ticksNs(pid) }
}

/**
 * Milliseconds of processor time between two readings. The scheduler's own counters are exact, but a thread takes its
 * counter with it when it ends; when that shows, the process's coarser counter is the answer.
 */
export function cpuUsedMs(before: CpuReading, after: CpuReading): number {
  const exactNs = after.exactNs - before.exactNs
  const ticksNs = after.ticksNs - before.ticksNs
  return (exactNs < ticksNs - 3 * TICK_NS ? ticksNs : exactNs) / 1e6
}

/** Memory of a process that is in RAM, in MB (1024² bytes). */
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
      // The thread ended since the folder was listed, or this kernel keeps no such file.
    }
  }
  return sumNs
}

function ticksNs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name in brackets and may hold spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS
}
