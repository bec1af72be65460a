import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AnchorFile } from '../../gateway/ports/anchor.ts'
import { makeFolder, syncFolder, unlessAbsent } from './durable-files.ts'

const FILE_MODE = 0o600

type Anchor = Awaited<ReturnType<AnchorFile['read']>> & object

/** The anchor as a JSON file. */
export function diskAnchorFile(path: string): AnchorFile {
  return {
    path,
    async read() {
      const text = await unlessAbsent(readFile(path, 'utf8'))
      if (text === undefined) return undefined
      const anchor = parsed(text)
      if (anchor === undefined) throw new Error(`${path} is not an anchor.`)
      return anchor
    },
    async write({ node, number, hash }) {
      const partial = `${path}.new`
      await makeFolder(dirname(path))
      const file = await open(partial, 'w', FILE_MODE)
      try {
        await file.writeFile(`${JSON.stringify({ node, number, hash })}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(partial, path)
      await syncFolder(dirname(path))
    },
  }
}

function parsed(text: string): Anchor | undefined {
  try {
    const { node, number, hash } = JSON.parse(text) as Record<string, unknown>
    const isAnchor =
      typeof node === 'string' &&
      typeof number === 'number' &&
      Number.isSafeInteger(number) &&
      typeof hash === 'string'
    return isAnchor ? { node, number, hash } : undefined
  } catch {
    return undefined
  }
}
