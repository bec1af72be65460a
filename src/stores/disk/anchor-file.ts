import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Anchor, ChainEnd } from '../../domain/ledger/anchor.ts'
import type { AnchorFile } from '../../gateway/ports/anchor.ts'
import { makeFolder, syncFolder, unlessAbsent } from './durable-files.ts'

const FILE_MODE = 0o600

/** The anchor as a JSON file: `{"chains":[{"node":"main","number":7,"hash":"…"}]}`. */
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
    async write(anchor) {
      const partial = `${path}.new`
      await makeFolder(dirname(path))
      const file = await open(partial, 'w', FILE_MODE)
      try {
        await file.writeFile(`${JSON.stringify({ chains: anchor })}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(partial, path)
      await syncFolder(dirname(path))
    },
  }
}

/** Undefined for a text that is not an anchor. A file of an earlier version is the end of one chain. */
function parsed(text: string): Anchor | undefined {
  try {
    const content = JSON.parse(text) as Record<string, unknown>
    const chains: readonly unknown[] = Array.isArray(content['chains']) ? content['chains'] : [content]
    return chains.length > 0 && chains.every(isChainEnd) ? chains : undefined
  } catch {
    return undefined
  }
}

function isChainEnd(value: unknown): value is ChainEnd {
  if (typeof value !== 'object' || value === null) return false
  const { node, number, hash } = value as Record<string, unknown>
  return typeof node === 'string' && Number.isSafeInteger(number) && typeof hash === 'string'
}
