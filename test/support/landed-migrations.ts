import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The SHA-256 of each migration. A line is added with its migration, and never changed. */
export type LandedMigrations = Readonly<Record<string, string>>

/** What the author of a change to the migrations in a folder must do. `books` are what has applied them. */
export function adviceOnMigrations(
  folder: string,
  books: string,
  landed: LandedMigrations,
): readonly string[] {
  const files: readonly string[] = readdirSync(folder)
  const names = [...new Set([...Object.keys(landed), ...files])].sort()
  return names.flatMap(name => {
    if (!files.includes(name))
      return [`${name} is missing. ${books} that have it refuse to start: put it back.`]
    const hash = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    if (landed[name] === hash) return []
    if (landed[name] === undefined)
      return [`${name} is new. Add this line to the list in this test: '${name}': '${hash}',`]
    return [
      `${name} was edited. ${books} that have it refuse to start: undo the edit, and add a new migration after the last one.`,
    ]
  })
}
