import { expect, test } from 'bun:test'
import { adaptersOfAllKinds } from '../../../test/support/media-providers.ts'
import { aCatalogOf, aDestination, aModelOn, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { GatewayError } from '../../domain/errors.ts'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import type { ProviderAdapter } from '../ports/providers/providers.ts'
import { destinationsOf } from './destinations.ts'

const main = aDestination('main')
const box = aDestination('box', { order: 2 })
const boxOfSandbox = { ...box, provider: { ...box.provider, kind: 'sandbox' } as const }
const { caller } = anAdmittedRequest([main]).call

const noText: ProviderAdapter = { probe: () => Promise.reject(new Error('not called')) }
const noTextKinds = adaptersOfAllKinds(noText)
const text: ProviderAdapter = { ...noText, text: main.adapter }

function resolve(compatible: ProviderAdapter, sandbox: ProviderAdapter) {
  const context = {
    catalog: aCatalogOf([main, boxOfSandbox]),
    caller,
    providers: {
      ...noTextKinds,
      'openai-compatible': compatible,
      sandbox,
    },
    isSandboxOn: true,
  }
  return destinationsOf(aModelOn([main, boxOfSandbox]), chatDialect, context)
}

test('the upstreams of a model have the adapters of their providers', () => {
  const destinations = resolve(text, text)

  expect(destinations.map(({ provider }) => provider.id)).toEqual(['main', 'box'])
  expect(destinations.map(({ adapter }) => adapter)).toEqual([main.adapter, main.adapter])
})

test('an upstream whose provider does not serve text is left out', () => {
  const destinations = resolve(noText, text)

  expect(destinations.map(({ provider }) => provider.id)).toEqual(['box'])
})

test('a model whose providers do not serve text cannot be called on a text route', () => {
  expect(codeOf(() => resolve(noText, noText))).toBe('route_not_supported')
})

function codeOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
  return 'no error'
}
