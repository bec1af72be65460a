import { chatModel } from '../gateways/scripted-gateway.ts'

/** A model of the sandbox whose price is easy to add up. */
export function dime(price = '0.1'): object {
  return chatModel('dime', {
    upstreams: [{ provider: 'box', model: 'sandbox-chat' }],
    pricing: { input_per_mtok: '0', output_per_mtok: '0', per_request: price },
  })
}

export const dimeCatalog = { providers: [{ id: 'box', kind: 'sandbox' }], models: [dime()] }
