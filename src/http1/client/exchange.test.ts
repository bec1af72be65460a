import { describe, expect, test } from 'bun:test'
import { Exchange } from './exchange.ts'
import { readResponseHead, type ResponseHead } from './response-head.ts'

const HEAD = readResponseHead(
  Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
  0,
) as ResponseHead
const LARGE = 32 * 1024

/** An exchange whose head has come, and what its line was told. */
function anExchange() {
  const told: string[] = []
  const exchange = new Exchange()
  exchange.onLine({
    pause: () => void told.push('pause'),
    resume: () => void told.push('resume'),
    abandon: () => void told.push('abandon'),
  })
  exchange.onHead(HEAD)
  const comes = (length: number) => exchange.onPiece(Buffer.alloc(length + 2), 1, length + 1)
  return { exchange, comes, told }
}

function read(exchange: Exchange): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => exchange.read({ onPiece: resolve, onFailed: reject }))
}

describe('the server', () => {
  test('goes on while less than 32 KB wait for a reader', async () => {
    const { exchange, comes, told } = anExchange()

    comes(LARGE - 1)

    expect((await read(exchange))?.length).toBe(LARGE - 1)
    expect(told).toEqual([])
  })

  test('has to wait when 32 KB wait, until all of it was taken and more is asked for', async () => {
    const { exchange, comes, told } = anExchange()
    comes(LARGE - 1)
    comes(1)
    const waiting = [...told]

    expect((await read(exchange))?.length).toBe(LARGE)
    const taken = new Set(told)
    const next = read(exchange)

    expect(waiting).toEqual(['pause'])
    expect([...taken]).toEqual(['pause'])
    expect(told.at(-1)).toBe('resume')
    comes(1)
    expect((await next)?.length).toBe(1)
  })

  test('has to wait behind a large piece, which its reader may take long to pass on', async () => {
    const { exchange, comes, told } = anExchange()
    const reading = read(exchange)

    comes(LARGE)

    expect((await reading)?.length).toBe(LARGE)
    expect(told.at(-1)).toBe('pause')
  })

  test('never has to wait for a whole answer', () => {
    const { exchange, comes, told } = anExchange()
    const lengths: number[] = []
    exchange.answer(10 * LARGE, {
      onAnswer: (_, __, start, end) => void lengths.push(end - start),
      onTooLarge: () => {},
      onFailed: () => {},
    })

    comes(LARGE)
    comes(LARGE)
    exchange.onEnd()

    expect(lengths).toEqual([2 * LARGE])
    expect(told).not.toContain('pause')
  })
})
