import { spawn } from 'bun'
import { mkdtempSync, readdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from './child-program.ts'

const PREFIX = 'tollgate-test-'

/** The memory file system of Linux. */
const MEMORY = '/dev/shm'
/** What the servers of three test processes take there, with room to spare. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

const swept = new Set<string>()

/** A new empty data folder. The next run removes it, because a run of `bun test` has no hook at its end. */
export function aDataFolder(parent = tmpdir()): string {
  if (!swept.has(parent)) sweep(parent)
  swept.add(parent)
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
}

/** The same in memory, if that has room for it. */
export function aMemoryFolder(): string {
  return aDataFolder(freeBytesIn(MEMORY) >= MEMORY_BYTES_MIN ? MEMORY : tmpdir())
}

function freeBytesIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}

/** Removes the folders of earlier runs. They can have gigabytes, so that no test waits for it. */
function sweep(parent: string): void {
  const left = readdirSync(parent).filter(name => {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    return pid > 0 && !isRunning(pid)
  })
  if (left.length > 0)
    spawn(['rm', '-rf', ...left], { cwd: parent, stdio: ['ignore', 'ignore', 'ignore'] }).unref()
}
