import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'tollgate-test-'

let isSwept = false

/** A new empty data folder. Gone at the next run: `bun test` ends without a word, so a run cannot clean up after itself. */
export function aDataFolder(): string {
  if (!isSwept) sweep()
  isSwept = true
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
}

/** Removes what runs before this one left. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && !isRunning(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
