import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { baseClip, clipFile, clipRatios } from './base-clips.ts'

const root = join(import.meta.dir, '../../../..')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-clips-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the shipped clips', () => {
  test('the shipped clips are those that the script makes', async () => {
    // In a process of its own, because the encoder changes how its process handles errors.
    const script = join(root, 'scripts/make-sandbox-clips.ts')
    const made = Bun.spawn([process.execPath, script, folder], { stderr: 'inherit' })

    expect(await made.exited).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(clipRatios.map(clipFile).sort())
    for (const ratio of clipRatios)
      expect(readFileSync(join(folder, clipFile(ratio))).equals(await baseClip(ratio))).toBe(true)
  })

  test('the shipped clips are the only files of their folder', () => {
    expect(readdirSync(join(import.meta.dir, 'clips')).sort()).toEqual(clipRatios.map(clipFile).sort())
  })
})
