import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { mediaKinds } from '../../src/domain/catalog/media-kinds.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { simulatedKinds } from '../support/simulators/media/simulated-kinds.ts'
import { registeredRules } from './kinds-file.ts'
import { COMMAND, PAGE_PATH, providersPage } from './page.ts'
import { subjects } from './subjects.ts'

test('docs/providers.md is what the adapters do in front of the simulators', async () => {
  const page = readFileSync(PAGE_PATH, 'utf8')

  const isCurrent = (await providersPage(page)) === page
  expect(isCurrent ? 'current' : `out of date: run ${COMMAND}`).toBe('current')
})

test('docs/providers.md has every kind of provider of images and videos', () => {
  const named = subjects.map(({ open }) => open(fakeClock()).row.kind)

  expect([...new Set(named)].toSorted()).toEqual(Object.keys(mediaKinds).toSorted() as never)
})

test.each([...Object.keys(mediaKinds), 'sandbox'])(
  'the provider kind %s runs the conformance suite',
  kind => {
    const tests = conformanceTestsOf(kind)

    expect(tests).not.toEqual([])
  },
)

test.each(Object.entries(simulatedKinds).map(([name, { kind }]) => [name, kind]))(
  'the simulated API %s is used in the conformance tests of the kind %s',
  (name, kind) => {
    const used = conformanceTestsOf(kind).some(
      code => code.includes(`simulatedKinds.${name}`) || code.includes(`'${name}'`),
    )

    expect(used).toBe(true)
  },
)

test('the domain knows the kinds that have a folder', () => {
  const isCurrent = Bun.deepEquals({ ...mediaKinds }, registeredRules(), true)

  expect(isCurrent ? 'current' : `out of date: run ${COMMAND}`).toBe('current')
})

/** The code of the tests in the folder of a kind that run the conformance suite. */
function conformanceTestsOf(kind: string): readonly string[] {
  const folder = join(import.meta.dirname, '../../src/providers', kind)
  return globSync('**/*.test.ts', { cwd: folder })
    .map(file => readFileSync(join(folder, file), 'utf8'))
    .filter(code => code.includes('mediaProviderConforms('))
}
