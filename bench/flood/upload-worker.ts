/**
 * A worker that floods a peer with uploads until it is terminated: each connection sends its next one when it has its
 * reply. Posts the number of replies so far after each of them.
 */
import { HttpMessages } from '../http-messages.ts'

export type Flood = {
  readonly port: number
  readonly path: string
  readonly connections: number
  /** The API keys, which the connections share evenly. */
  readonly keys: readonly string[]
  readonly body: string
  /** The status of every reply. */
  readonly status: number
}

/** The number of uploads that were answered, or why the flood has ended. */
export type FloodProgress = number | { readonly problem: string }

let answered = 0

self.addEventListener('message', ({ data: flood }: MessageEvent<Flood>) => {
  const body = Buffer.from(flood.body)
  for (let index = 0; index < flood.connections; index += 1) {
    void open(flood, flood.keys[index % flood.keys.length]!, body).catch(report)
  }
})

async function open({ port, path, status }: Flood, key: string, body: Buffer): Promise<void> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `authorization: Bearer ${key}`,
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  let sentBytes = 0
  const messages = new HttpMessages(head => {
    if (!head.startsWith(`HTTP/1.1 ${status} `))
      return report(new Error(`An upload got this reply:\n${head}`))
    answered += 1
    postMessage(answered satisfies FloodProgress)
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
    if (sentBytes < head.length) sentBytes += socket.write(head.subarray(sentBytes))
    const sentOfBody = sentBytes - head.length
    if (sentOfBody >= 0 && sentOfBody < body.length) sentBytes += socket.write(body.subarray(sentOfBody))
  }
}

function report(error: Error): void {
  postMessage({ problem: error.message } satisfies FloodProgress)
}
