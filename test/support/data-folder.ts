import { spawn } from 'bun'
import { mkdtempSync, readdirSync } from 'node:fs'
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

/** Removes the folders of earlier runs. They can have gigabytes, so that no test waits for it. */
function sweep(): void {
  const left = readdirSync(tmpdir()).filter(name => {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    return pid > 0 && !isRunning(pid)
  })
  if (left.length > 0)
    spawn(['rm', '-rf', ...left], { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'ignore'] }).unref()
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
