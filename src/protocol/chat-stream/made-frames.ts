import type { GatewayError } from '../../domain/errors.ts'
import { formatUsd, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import { dataFrame } from '../sse/frame.ts'

/** Members of the stream's own chunks that connect a frame made here with them. */
export type ChunkIdentity = { readonly id?: unknown; readonly created?: unknown }

/** The final usage frame of a stream whose upstream sent no usage frame for the cost. */
export function usageFrame(
  identity: ChunkIdentity,
  { model, usage, cost }: { readonly model: string; readonly usage: Usage; readonly cost: NanoUsd },
): Uint8Array<ArrayBuffer> {
  const promptTokens = inputTokens(usage)
  const completionTokens = outputTokens(usage)
  return dataFrame(
    JSON.stringify({
      ...identity,
      object: 'chat.completion.chunk',
      model,
      // Clients fail on a usage frame without `choices`.
      choices: [],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        cost_usd: formatUsd(cost),
      },
    }),
  )
}

/** The error frame for a chat stream that broke. No `[DONE]` follows it. */
export function chatErrorFrame({ message, type, code }: GatewayError): Uint8Array<ArrayBuffer> {
  return dataFrame(JSON.stringify({ error: { message, type, code, param: null } }))
}
