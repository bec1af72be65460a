import { readFileSync } from 'node:fs'

/** Reads the files in the folder `fixtures` beside a test: the replies of a provider, recorded and trimmed. */
export function fixturesOf(test: ImportMeta): (name: string) => string {
  return name => readFileSync(new URL(`fixtures/${name}.json`, test.url), 'utf8')
}
