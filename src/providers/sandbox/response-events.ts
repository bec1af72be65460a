import type { ContentPart, OutputItem, SandboxResponse } from './response-object.ts'
import { tokenize } from './sandbox-text.ts'

type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/**
 * A response as named events, with one token per delta: the start of the response; the start, deltas and end of each
 * part of each item; and a last event with the complete response and its usage. Without `hasNames` no event has an
 * `event:` line, because some upstreams leave it out.
 */
export function* responseEvents(response: SandboxResponse, hasNames: boolean): Generator<string> {
  let sequenceNumber = 0
  for (const event of eventsOf(response)) {
    const data = JSON.stringify({ ...event, sequence_number: sequenceNumber })
    sequenceNumber += 1
    yield `${hasNames ? `event: ${event.type}\n` : ''}data: ${data}\n\n`
  }
}

function* eventsOf(response: SandboxResponse): Generator<Event> {
  const begun = response.at('in_progress')
  yield { type: 'response.created', response: begun }
  yield { type: 'response.in_progress', response: begun }
  for (const [index, item] of response.output.entries()) yield* itemEvents(item, index)
  const over = response.at('over')
  yield { type: `response.${String(over['status'])}`, response: over }
}

function* itemEvents(item: OutputItem, output_index: number): Generator<Event> {
  yield { type: 'response.output_item.added', output_index, item: begunItem(item) }
  yield* partEvents(item, { item_id: item.id, output_index })
  yield { type: 'response.output_item.done', output_index, item }
}

function begunItem(item: OutputItem): OutputItem | object {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [] }
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
  }
}

type Place = { readonly item_id: string; readonly output_index: number }

function* partEvents(item: OutputItem, place: Place): Generator<Event> {
  switch (item.type) {
    case 'reasoning':
      for (const [summary_index, part] of item.summary.entries()) {
        const at = { ...place, summary_index }
        const summary = 'response.reasoning_summary'
        yield { type: `${summary}_part.added`, ...at, part: { ...part, text: '' } }
        for (const delta of tokenize(part.text)) yield { type: `${summary}_text.delta`, ...at, delta }
        yield { type: `${summary}_text.done`, ...at, text: part.text }
        yield { type: `${summary}_part.done`, ...at, part }
      }
      break
    case 'message':
      for (const [content_index, part] of item.content.entries()) {
        yield* contentEvents(part, { ...place, content_index })
      }
      break
    case 'function_call': {
      const type = 'response.function_call_arguments'
      for (const delta of tokenize(item.arguments)) yield { type: `${type}.delta`, ...place, delta }
      yield { type: `${type}.done`, ...place, name: item.name, arguments: item.arguments }
    }
  }
}

function* contentEvents(part: ContentPart, place: Place & { readonly content_index: number }) {
  const isText = part.type === 'output_text'
  const begun = isText ? { ...part, text: '' } : { ...part, refusal: '' }
  const type = isText ? 'response.output_text' : 'response.refusal'
  const whole = isText ? { text: part.text, logprobs: [] } : { refusal: part.refusal }
  yield { type: 'response.content_part.added', ...place, part: begun }
  for (const delta of tokenize(isText ? part.text : part.refusal)) {
    yield { type: `${type}.delta`, ...place, delta, ...(isText ? { logprobs: [] } : {}) }
  }
  yield { type: `${type}.done`, ...place, ...whole }
  yield { type: 'response.content_part.done', ...place, part }
}

/** An error event inside a stream. */
export function responseErrorEvent(error: Readonly<Record<string, unknown>>, sequenceNumber: number): string {
  const { message, code = null, param = null } = error
  const event = { type: 'error', code, message, param, sequence_number: sequenceNumber }
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}
