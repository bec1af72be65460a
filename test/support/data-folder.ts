import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A new empty data folder. Gone when the tests end. */
export function aDataFolder(): string {
  if (made.length === 0) process.on('exit', removeAll)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  made.push(folder)
  return folder
}

function removeAll(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
}
