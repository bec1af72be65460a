import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessFiles } from '../telemetry/process-metrics.ts'

/** The file descriptors of this process, read from Linux's /proc. Undefined on other systems. */
export function processFiles(): ProcessFiles {
  return {
    // Reading the folder opens it for a moment, so it lists one descriptor too many.
    open: () => known(() => readdirSync('/proc/self/fd').length - 1),
    max: known(() => limitIn(readFileSync('/proc/self/limits', 'utf8'))),
  }
}

/** The soft limit in the row `Max open files`; infinite for `unlimited`. */
function limitIn(limits: string): number | undefined {
  const limit = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1]
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit === undefined ? undefined : Number(limit)
}

function known(read: () => number | undefined): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
