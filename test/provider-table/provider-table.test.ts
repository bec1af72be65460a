import { readFileSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { mediaKinds } from '../../src/domain/catalog/media-kinds.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { registeredRules } from './kinds-file.ts'
import { COMMAND, PAGE_PATH, providersPage } from './page.ts'
import { subjects } from './subjects.ts'

test('docs/providers.md is what the adapters do in front of the simulators', async () => {
  const page = await providersPage()

  const isCurrent = readFileSync(PAGE_PATH, 'utf8') === page
  expect(isCurrent ? 'current' : `out of date: run ${COMMAND}`).toBe('current')
})

test('docs/providers.md has every kind of provider of images and videos', () => {
  const named = subjects.map(({ open }) => open(fakeClock()).row.kind)

  expect([...new Set(named)].toSorted()).toEqual(Object.keys(mediaKinds).toSorted() as never)
})

test('the domain knows the kinds that have a folder', () => {
  const isCurrent = Bun.deepEquals({ ...mediaKinds }, registeredRules(), true)

  expect(isCurrent ? 'current' : `out of date: run ${COMMAND}`).toBe('current')
})
