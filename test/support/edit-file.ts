import { statSync, utimesSync, writeFileSync } from 'node:fs'

/**
 * Writes a file until the time of its last change is another one: some file systems count it in steps of some
 * milliseconds. `mtimeS` sets the time of the last writing.
 */
export function editFile(path: string, text: string, mtimeS?: number): void {
  const changedNs = () => statSync(path, { bigint: true }).ctimeNs
  const before = changedNs()
  do {
    writeFileSync(path, text)
    if (mtimeS !== undefined) utimesSync(path, mtimeS, mtimeS)
  } while (changedNs() === before)
}
