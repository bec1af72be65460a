import type { Bytes } from '../../domain/bytes.ts'
import type { GatewayError } from '../../domain/errors.ts'
import { messagesErrorEvent } from './errors.ts'

const encoder = new TextEncoder()

/** The text of one event. Every event has a name, because clients ignore events without one. */
export function eventText(type: string, members = ''): string {
  return `event: ${type}\ndata: {"type":"${type}"${members === '' ? '' : `,${members}`}}\n\n`
}

function eventFrame(type: string, members?: string): Bytes {
  return encoder.encode(eventText(type, members))
}

/** The last event of a complete message. */
export const MESSAGE_STOP = eventFrame('message_stop')

/** Shows a waiting client that the message continues. Clients ignore its content. */
export const PING = eventFrame('ping')
export const PING_AFTER_MS = 10_000

/** The event for a stream that broke. No `message_stop` follows it. */
export function messagesErrorFrame({ message, type, code }: GatewayError): Bytes {
  return encoder.encode(messagesErrorEvent({ error: { message, type, code } }))
}
