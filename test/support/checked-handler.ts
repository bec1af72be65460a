import type { Config } from '../../src/config/config.ts'
import type { ByteStream } from '../../src/http1/byte-stream.ts'
import { isStream, type ServerResponse } from '../../src/http1/server/response-writer.ts'
import type { ServerRequest } from '../../src/http1/server/server-request.ts'
import type { RequestHandler } from '../../src/http1/server/server.ts'
import type { ApiOptions } from '../../src/http/description/document.ts'
import { describedReplies, type SentReply } from './described-reply.ts'
import { wholeDocument } from './whole-document.ts'

/** Larger bodies are files, or streams of thousands of frames. */
const CHECKED_BYTES_MAX = 256 * 1024

const checks = new Map<string, (reply: SentReply) => string | undefined>()

/**
 * Holds every reply of a handler against the OpenAPI document. What differs is added to `problems`. Replies are not
 * changed, and streams are read as fast as before. A reply that breaks off, or whose client has gone, is not checked.
 */
export function checkedHandler(
  { brand, isOpenAiMediaOn, consolePath }: ApiOptions & Pick<Config, 'consolePath'>,
  problems: string[],
): (handler: RequestHandler) => RequestHandler {
  const name = `${brand} ${isOpenAiMediaOn}`
  let check = checks.get(name)
  if (check === undefined)
    checks.set(name, (check = describedReplies(wholeDocument({ brand, isOpenAiMediaOn }))))
  const note = (sent: SentReply) => {
    const reply = described(sent, consolePath)
    const problem = reply && check(reply)
    if (problem !== undefined) problems.push(problem)
  }
  const watched = (request: ServerRequest): ServerRequest => {
    const respond = request.respond.bind(request)
    request.respond = response => {
      if (request.clientDisconnected) return respond(response)
      const reply = replyTo(request, response)
      if (!isStream(response.body)) {
        respond(response)
        return note({ ...reply, body: textOf(response.body) })
      }
      respond({ ...response, body: copied(response.body, body => note({ ...reply, body })) })
    }
    return request
  }
  return handler => ({
    handle: request => handler.handle(watched(request)),
    refuse: (request, error) => handler.refuse(watched(request), error),
  })
}

/**
 * Replies of the admin API by the console, as those of the admin API itself. The document does not have the other
 * replies of the console, and its errors.
 */
function described(reply: SentReply, consolePath: Config['consolePath']): SentReply | undefined {
  if (consolePath === 'off' || !reply.path.startsWith(consolePath)) return reply
  const path = reply.path.replace(`${consolePath}/api/admin/`, '/admin/api/')
  return path === reply.path || reply.status >= 400 ? undefined : { ...reply, path }
}

function replyTo(
  { method, path }: ServerRequest,
  { status, headers }: ServerResponse,
): Omit<SentReply, 'body'> {
  return { method, path, status, contentType: headers['content-type']?.split(';')[0]?.trim() }
}

function textOf(body: string | Uint8Array | null): string | undefined {
  if (body === null) return ''
  const { length } = body
  if (length > CHECKED_BYTES_MAX) return undefined
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** Passes a stream on. Calls `then` at its end with its text; undefined for a long one. */
function copied(stream: ByteStream, then: (text: string | undefined) => void): ByteStream {
  const decoder = new TextDecoder()
  let text = ''
  return {
    async read() {
      const piece = await stream.read()
      if (piece === undefined) then(text.length > CHECKED_BYTES_MAX ? undefined : text)
      else if (text.length <= CHECKED_BYTES_MAX) text += decoder.decode(piece, { stream: true })
      return piece
    },
    cancel: () => stream.cancel(),
  }
}
