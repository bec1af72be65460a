import { GatewayError } from '../../domain/errors.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import type { MediaCall } from '../../gateway/media/create/media-call.ts'
import {
  receiveMedia,
  type BodyForm,
  type ReceiveMediaPorts,
} from '../../gateway/media/create/receive-media.ts'
import type { BodyLimits } from '../../http1/server/request-body.ts'
import { invalidForm } from '../../protocol/media/media-body.ts'
import { multipartBoundary } from '../../protocol/media/multipart-splitter.ts'
import { callerOf, type CallerPorts } from '../caller.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { sentTags, type Handler, type HttpReply } from '../request-context.ts'

const KEY_CHARS_MAX = 255

/** The ports and settings with which the route reads a request. */
export type MediaRequestPorts = {
  readonly caller: CallerPorts
  /** Its owners are API keys. */
  readonly bodyMemory: ByteBudget
  readonly bodyLimits: BodyLimits
  /** `x-acme-tags` for the brand `acme`. */
  readonly tagsHeader: string
}

export type MediaRoutePorts = ReceiveMediaPorts & MediaRequestPorts

/** A media route for holders of an API key. */
export function mediaRoute(
  form: BodyForm,
  answer: (call: MediaCall, request: IncomingRequest) => Promise<HttpReply>,
  ports: MediaRoutePorts,
): Handler {
  return async context => {
    const { request, id, record } = context
    const caller = await callerOf(context, form.kind === 'image' ? 'images' : 'videos', ports.caller)
    const tagged = sentTags(context, ports.tagsHeader)
    const boundary = formBoundary(request, form)
    const memory = (context.bodyMemory = ports.bodyMemory.open(caller.apiKey.id))
    const incoming = {
      id,
      caller,
      form,
      boundary,
      idempotencyKey: idempotencyKey(request),
      openBody: () => request.stream(ports.bodyLimits),
      declaredBytes: request.declaredBytes,
      memory,
      signal: request.signal,
      ...tagged,
      record,
    }
    return receiveMedia(incoming, call => answer(call, request), ports)
  }
}

/** The boundary of a multipart form; undefined for JSON. */
function formBoundary(request: IncomingRequest, { takesForms }: BodyForm): string | undefined {
  const type = request.header('content-type') ?? ''
  if (!type.toLowerCase().startsWith('multipart/')) return undefined
  // The text is the contract's.
  if (!takesForms) throw new GatewayError('json_required', 'Invalid JSON')
  const boundary = multipartBoundary(type)
  if (boundary === undefined)
    throw invalidForm('it must be multipart/form-data, with its boundary in the content-type')
  return boundary
}

function idempotencyKey(request: IncomingRequest): string | undefined {
  const key = request.header('idempotency-key')
  if (key === null || key === '') return undefined
  if (key.length <= KEY_CHARS_MAX) return key
  throw new GatewayError(
    'invalid_field',
    `"Idempotency-Key" must have at most ${KEY_CHARS_MAX} characters.`,
    {
      param: 'Idempotency-Key',
    },
  )
}
