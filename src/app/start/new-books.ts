import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The root of this installation, where `npm start` keeps its data folder. */
const INSTALLATION = resolve(import.meta.dirname, '../../..')

/**
 * The data folders with books in the usual places: `data` in the working directory, in a folder above it, and in the
 * installation. Without `path` itself.
 */
export function otherBooks(
  path: string,
  {
    workingDirectory = process.cwd(),
    installation = INSTALLATION,
  }: { readonly workingDirectory?: string; readonly installation?: string } = {},
): readonly string[] {
  const folders = [...withParents(workingDirectory), installation].map(folder => join(folder, 'data'))
  return [...new Set(folders)].filter(folder => folder !== path && existsSync(join(folder, 'tollgate.db')))
}

/** Says that `creator` made books and, if there are other books, where they are and how to use them. */
export function newBooksSentence(creator: string, others: readonly string[]): string {
  const created = `${creator} created new, empty books.`
  const [first] = others
  if (first === undefined) return created
  return `${created} There are other books in ${others.join(' and in ')}. To use them, set TOLLGATE_DATA_DIR=${first}.`
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}
