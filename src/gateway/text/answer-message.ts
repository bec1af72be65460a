import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import { inputKinds, type ChatModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { parseJsonObject, type JsonDocument } from '../../protocol/json/parse-json.ts'
import { liveMessagesDialect } from '../../protocol/live-messages/dialect.ts'
import type { MediaKind } from '../../protocol/media-inputs.ts'
import { messagesDialect } from '../../protocol/messages/dialect.ts'
import { nativeMessagesDialect } from '../../protocol/native-messages/dialect.ts'
import { runText } from './run-text.ts'
import { streamText } from './streams/stream-text.ts'
import type { Conversion, ConvertedRequest } from '../upstreams/destinations.ts'
import type { ParsedTextCall, TextCall } from './text-call.ts'
import type { TextPorts, TextSettings } from './text-ports.ts'
import type { TextResult } from './text-result.ts'

/**
 * Answers one messages request. Throws a GatewayError if the body is malformed. Rejects with one if the request is not
 * admitted.
 *
 * By the contract, the request is converted to chat, and a stream is made from the complete answer. A row can depart
 * from that: its upstreams offer the route themselves, or it asks for live streams. See
 * docs/decisions/native-messages.md.
 *
 * Answers of this route are not kept for repeats. If the client disconnects, the upstream's call ends. Then nothing is
 * charged, except for what a live stream has produced.
 */
export function answerMessage(call: TextCall, ports: TextPorts, settings: TextSettings): Promise<TextResult> {
  const document = parseJsonObject(call.body)
  const catalog = ports.catalog.current()
  const row = chatRow(document, catalog)
  if (row !== undefined && hasNativeUpstream(row, catalog)) {
    const request = nativeMessagesDialect.readRequest(document)
    const parsed = { call, dialect: nativeMessagesDialect, request, conversion: new ChatConversion(document) }
    return request.isStream ? streamText(parsed, ports, settings) : answerWhole(parsed, ports, settings)
  }
  const options = { noted: notedKinds(row) }
  if (row?.messagesStream === 'live') {
    const request = liveMessagesDialect.readRequest(document, options)
    const parsed = { call, dialect: liveMessagesDialect, request }
    return request.isStream ? streamText(parsed, ports, settings) : answerWhole(parsed, ports, settings)
  }
  const request = messagesDialect.readRequest(document, options)
  return answerWhole({ call, dialect: messagesDialect, request }, ports, settings)
}

function answerWhole(parsed: ParsedTextCall, ports: TextPorts, settings: TextSettings): Promise<TextResult> {
  return runText(parsed, ports, settings, parsed.call.client.signal)
}

/** The row of the request's model. Whether it may be called is checked when the request is admitted. */
function chatRow({ value: { model } }: JsonDocument, catalog: Catalog): ChatModel | undefined {
  const row = typeof model === 'string' ? findModel(catalog, model) : undefined
  return row?.kind === 'chat' ? row : undefined
}

/** The kinds of media that are replaced by a note, because the model does not read them. */
function notedKinds(row: ChatModel | undefined): ReadonlySet<MediaKind> {
  if (row?.unsupportedInputs !== 'note') return new Set()
  const { inputs = inputKinds } = row
  return new Set(inputKinds.flatMap(kind => (kind === 'text' || inputs.includes(kind) ? [] : [kind])))
}

function hasNativeUpstream({ upstreams }: ChatModel, { providers }: Catalog): boolean {
  return upstreams.some(({ provider }) => providers.get(provider)?.routes.includes('messages'))
}

/** The chat request for the upstreams of a row that do not offer the route themselves. */
class ChatConversion implements Conversion {
  #document: JsonDocument | undefined
  #converted: ConvertedRequest | undefined
  #problem: GatewayError | undefined

  constructor(document: JsonDocument) {
    this.#document = document
  }

  get converted(): ConvertedRequest | undefined {
    this.#convert()
    return this.#converted
  }

  get problem(): GatewayError | undefined {
    this.#convert()
    return this.#problem
  }

  #convert(): void {
    const document = this.#document
    if (document === undefined) return
    this.#document = undefined
    try {
      this.#converted = { dialect: liveMessagesDialect, request: liveMessagesDialect.readRequest(document) }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      this.#problem = error
    }
  }
}
