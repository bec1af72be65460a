import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'tollgate-test-'

let isSwept = false

/** A new empty data folder. The next run removes it, because a run of `bun test` has no hook at its end. */
export function aDataFolder(): string {
  if (!isSwept) sweep()
  isSwept = true
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
}

/** Removes the folders of earlier runs. */
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
