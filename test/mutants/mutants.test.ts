import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { areas } from './areas.ts'
import { mutated } from './mutant.ts'

const root = resolve(import.meta.dirname, '../..')
const all = Object.values(areas).flat()

test.each(all.map(mutant => [mutant.name, mutant] as const))(
  'the mutant "%s" still fits its file, and its tests exist',
  (_, mutant) => {
    expect(mutated(mutant, root)).not.toBe('')
    expect(mutant.replacement).not.toBe(mutant.text)
    expect(mutant.tests.filter(file => !existsSync(join(root, file)))).toEqual([])
  },
)

test('no two mutants have the same name or make the same change', () => {
  const names = all.map(({ name }) => name)
  const changes = all.map(({ file, text, replacement }) => JSON.stringify([file, text, replacement]))

  expect(names.length).toBe(new Set(names).size)
  expect(changes.length).toBe(new Set(changes).size)
})

test.each([
  ['is missing', 'no such text', 'is not found'],
  ['is there twice', 'export', 'times'],
  ['would not be TypeScript', 'export type Mutant = {', 'is not valid TypeScript'],
])('a mutant whose text %s is an error that names it', (_, text, problem) => {
  const stale = {
    name: 'a stale one',
    file: 'test/mutants/mutant.ts',
    text,
    replacement: '(',
    tests: ['x'],
  } as const

  expect(() => mutated(stale, root)).toThrow('The mutant "a stale one"')
  expect(() => mutated(stale, root)).toThrow(problem)
})
