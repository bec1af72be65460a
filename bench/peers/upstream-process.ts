/**
 * upstream-process.ts PORT: the mock upstream. It must cost far less than the servers that are measured, so it uses raw
 * sockets: one read, one look at the head, and one write of prepared bytes.
 */
import { HttpMessages } from '../http-messages.ts'
import { workloads } from '../workloads/all.ts'
import { streamPath } from '../workloads/streams.ts'
import { endWithParent } from './end-with-parent.ts'
import { Flood, StreamSender } from './stream-sender.ts'

const answers = new Map(workloads.map(({ path, answer }) => [path, jsonReply(answer)]))
const unknownPath = plainReply('404 Not Found', 'text/plain', 'The mock upstream has no answer there.')
const flood = new Flood()
const streams = new Map<string, { open(socket: Bun.Socket<HttpMessages>): void }>([
  [streamPath('paced'), new StreamSender('paced')],
  [streamPath('held'), new StreamSender('held')],
  [streamPath('flood'), flood],
])
let answered = 0

Bun.listen<HttpMessages>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  socket: {
    open(socket) {
      socket.setNoDelay(true)
      socket.data = new HttpMessages(head => reply(socket, head))
    },
    data(socket, bytes) {
      socket.data.feed(bytes)
    },
    drain: socket => flood.drain(socket),
  },
})
endWithParent()

function reply(socket: Bun.Socket<HttpMessages>, head: string): void {
  const start = head.indexOf(' ') + 1
  const path = head.slice(start, head.indexOf(' ', start))
  if (path === '/answered') return send(socket, plainReply('200 OK', 'text/plain', String(answered)))
  const answer = answers.get(path)
  const stream = answer === undefined ? streams.get(path) : undefined
  if (answer === undefined && stream === undefined) return send(socket, unknownPath)
  answered += 1
  if (answer === undefined) stream?.open(socket)
  else send(socket, answer)
}

/** Replies are small and their readers wait for them, so the socket always has space. Otherwise the run is invalid. */
function send(socket: Bun.Socket<HttpMessages>, bytes: Buffer): void {
  if (socket.write(bytes) !== bytes.length)
    throw new Error('The mock upstream could not send a reply in one write.')
}

/** Has headers like those of a large provider, which a gateway forwards or drops. */
function jsonReply(body: string): Buffer {
  return plainReply('200 OK', 'application/json', body, [
    'x-request-id: req_4c1d9e7a52b84f0f9d3c6b1e8a7f2d55',
    'x-ratelimit-limit-requests: 10000',
    'x-ratelimit-remaining-requests: 9998',
    'x-ratelimit-remaining-tokens: 1999743',
    'openai-processing-ms: 412',
    'openai-version: 2020-10-01',
  ])
}

function plainReply(
  status: string,
  contentType: string,
  body: string,
  headers: readonly string[] = [],
): Buffer {
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
