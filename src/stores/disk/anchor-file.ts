import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { anchorOf, anchorText } from '../../domain/ledger/anchor.ts'
import { NotAnAnchorError, type AnchorFile } from '../../gateway/ports/ledger/anchor.ts'
import { makeFolder, syncFolder, unlessAbsent } from './durable-files.ts'

const FILE_MODE = 0o600

/** The anchor as a JSON file of the only process of a data folder. */
export function diskAnchorFile(path: string): AnchorFile {
  return {
    path,
    async read() {
      const text = await unlessAbsent(readFile(path, 'utf8'))
      if (text === undefined) return undefined
      const anchor = anchorOf(text)
      if (anchor === undefined) throw new NotAnAnchorError(`${path} is not an anchor.`)
      return anchor
    },
    async write(anchor) {
      const partial = `${path}.new`
      await makeFolder(dirname(path))
      const file = await open(partial, 'w', FILE_MODE)
      try {
        await file.writeFile(anchorText(anchor))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(partial, path)
      await syncFolder(dirname(path))
    },
  }
}
