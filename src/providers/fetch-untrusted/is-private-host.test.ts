import { expect, test } from 'bun:test'
import { isPrivateHost } from './is-private-host.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.215.14'],
  'private.test': ['10.0.0.7'],
  'both.test': ['93.184.215.14', '127.0.0.1'],
  'v6.test': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'nothing.test': [],
  'odd.test': ['not an address'],
}

async function resolve(name: string): Promise<readonly string[]> {
  const found = names[name]
  if (found === undefined) throw new Error('ENOTFOUND')
  return found
}

test.each([
  ['https://public.test/v1', false],
  ['https://v6.test/v1', false],
  ['https://93.184.215.14/v1', false],
  ['http://private.test/v1', true],
  ['http://both.test/v1', true],
  ['http://nothing.test/v1', true],
  ['http://unknown.test/v1', true],
  ['http://odd.test/v1', true],
  ['http://127.0.0.1:9000/v1', true],
  ['http://[::1]/v1', true],
  ['http://192.168.1.1/v1', true],
])('a provider at %s is private: %p', async (url, isPrivate) => {
  expect(await isPrivateHost(new URL(url), resolve)).toBe(isPrivate)
})
