import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { SandboxOptions } from './wire.ts'

test('the documentation names every option of the sandbox', () => {
  const docs = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')

  const documented = [...docs.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)

  expect(new Set(documented)).toEqual(new Set(Object.keys(SandboxOptions.shape)))
})
