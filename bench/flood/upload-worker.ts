/**
 * A worker that floods a peer with uploads until it is terminated: each connection sends its next one when it has its
 * reply. Posts the number of replies so far, a few times a second: more would take the time of the measurement.
 */
import { HttpMessages } from '../http-messages.ts'

export type Flood = {
  readonly port: number
  readonly path: string
  readonly connections: number
  /** The API keys, which the connections share evenly. */
  readonly keys: readonly string[]
  readonly body: string
  /** The head and the body are one write, so that small bodies arrive in one read of the socket. */
  readonly inOnePiece: boolean
  /** The status of every reply. */
  readonly status: number
  /** A reply may also be an answer: of a request at the moment when the wait of a refusal is over. */
  readonly mayBeAnswered?: true
}

/** The number of uploads that were answered, or why the flood has ended. */
export type FloodProgress = number | { readonly problem: string }

const POST_EVERY_MS = 50

let answered = 0
let posted = 0

self.addEventListener('message', ({ data: flood }: MessageEvent<Flood>) => {
  const body = Buffer.from(flood.body)
  setInterval(() => {
    if (answered === posted) return
    posted = answered
    postMessage(answered satisfies FloodProgress)
  }, POST_EVERY_MS)
  for (let index = 0; index < flood.connections; index += 1) {
    void open(flood, flood.keys[index % flood.keys.length]!, body).catch(report)
  }
})

async function open(
  { port, path, status, mayBeAnswered, inOnePiece }: Flood,
  key: string,
  body: Buffer,
): Promise<void> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `authorization: Bearer ${key}`,
    // No request gets the answer of another one.
    'x-service-idempotency: bypass',
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  const first = inOnePiece ? Buffer.concat([head, body]) : head
  const second = inOnePiece ? Buffer.alloc(0) : body
  let sentBytes = 0
  const messages = new HttpMessages(head => {
    const isExpected = head.startsWith(`HTTP/1.1 ${status} `)
    if (!isExpected && !(mayBeAnswered && head.startsWith('HTTP/1.1 200 ')))
      return report(new Error(`An upload got this reply:\n${head}`))
    answered += 1
    sentBytes = 0
    send()
  })
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => messages.feed(bytes),
      drain: send,
      close: () => report(new Error('The peer closed the connection of an upload.')),
      error: (_, error) => report(error),
    },
  })
  send()

  function send(): void {
    if (sentBytes < first.length) sentBytes += socket.write(first.subarray(sentBytes))
    const sentOfSecond = sentBytes - first.length
    if (sentOfSecond >= 0 && sentOfSecond < second.length)
      sentBytes += socket.write(second.subarray(sentOfSecond))
  }
}

function report(error: Error): void {
  postMessage({ problem: error.message } satisfies FloodProgress)
}
