import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A one-line fault that someone could make by mistake, and the tests that must notice it. */
export type Mutant = {
  /** What the fault does, in plain English. Unique among all mutants. */
  readonly name: string
  /** The path of the changed file, from the root of the repository. */
  readonly file: string
  /** Text that the file has exactly once. */
  readonly text: string
  readonly replacement: string
  /** The test files that must fail, each by itself. */
  readonly tests: readonly [string, ...string[]]
}

/**
 * The file's content with the fault. Throws an error that names the mutant if its text is not in the file exactly once,
 * or if the result is not valid TypeScript: every test would notice that.
 */
export function mutated({ name, file, text, replacement }: Mutant, root: string): string {
  const [before, after, ...more] = readFileSync(join(root, file), 'utf8').split(text)
  if (before === undefined || after === undefined || more.length > 0) {
    const found = after === undefined ? 'is not found' : `is found ${more.length + 1} times`
    throw new Error(`The mutant "${name}" is out of date: its text ${found} in ${file}.`)
  }
  const content = before + replacement + after
  if (file.endsWith('.ts')) parse(content, name)
  return content
}

function parse(content: string, name: string): void {
  try {
    new Bun.Transpiler({ loader: 'ts' }).transformSync(content)
  } catch (error) {
    throw new Error(`The mutant "${name}" is not valid TypeScript.`, { cause: error })
  }
}
