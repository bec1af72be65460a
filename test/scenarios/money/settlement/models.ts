import { refusedUrl } from '../../../support/upstream.ts'
import { chatModel } from '../../gateways/scripted-gateway.ts'

const UPSTREAM_COST = {
  pricing: 'upstream_cost',
  markup: '1.2',
  ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
}

export const settlementModels: readonly object[] = [
  chatModel('gpt-x'),
  chatModel('buckets', {
    pricing: {
      input_per_mtok: '2',
      cached_input_per_mtok: '1',
      cache_write_per_mtok: '3',
      audio_input_per_mtok: '20',
      output_per_mtok: '10',
      reasoning_per_mtok: '12',
      audio_output_per_mtok: '40',
      per_request: '0.001',
    },
  }),
  chatModel('plain', { pricing: { input_per_mtok: '2', output_per_mtok: '10', per_request: '0.001' } }),
  chatModel('tiny', { pricing: { input_per_mtok: '0.0001', output_per_mtok: '0.0001' } }),
  chatModel('gift', { pricing: 'free' }),
  chatModel('resold', UPSTREAM_COST),
  chatModel('resold-by-header', { ...UPSTREAM_COST, upstreams: [{ provider: 'metered', model: 'x' }] }),
  chatModel('gone', { upstreams: [{ provider: 'gone', model: 'x' }] }),
]

/** Providers besides the scripted upstream. */
export function settlementProviders(baseUrl: string): readonly object[] {
  return [
    { id: 'metered', kind: 'openai-compatible', base_url: baseUrl, cost_header: 'x-cost-usd' },
    { id: 'gone', kind: 'openai-compatible', base_url: refusedUrl() },
  ]
}
