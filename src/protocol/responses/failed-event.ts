import type { Bytes } from '../../domain/bytes.ts'
import type { GatewayError } from '../../domain/errors.ts'
import { formatUsd, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'

const encoder = new TextEncoder()

/** The members that connect an event made here with the other events of its stream. */
export type ResponseIdentity = {
  readonly id: string
  readonly createdAtS: number
  readonly model: string
  readonly sequenceNumber: number
}

/**
 * The event for a responses stream that broke. Real clients ignore a bare `error` event. They notice this one, which
 * has a complete response object.
 */
export function failedEvent(
  { id, createdAtS, model, sequenceNumber }: ResponseIdentity,
  { message, type, code }: GatewayError,
  charge: { readonly usage: Usage; readonly cost: NanoUsd | null } | null,
): Bytes {
  const event = {
    type: 'response.failed',
    sequence_number: sequenceNumber,
    response: {
      id,
      object: 'response',
      created_at: createdAtS,
      status: 'failed',
      error: { code, message, type },
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model,
      output: [],
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      usage: charge === null ? null : usageOf(charge.usage, charge.cost),
    },
  }
  return encoder.encode(`event: response.failed\ndata: ${JSON.stringify(event)}\n\n`)
}

function usageOf(usage: Usage, cost: NanoUsd | null) {
  const input = inputTokens(usage)
  const output = outputTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cachedInput },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
    ...(cost === null ? {} : { cost_usd: formatUsd(cost) }),
  }
}
