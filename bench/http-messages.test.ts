import { expect, test } from 'bun:test'
import { HttpMessages } from './http-messages.ts'

const TWO = Buffer.from(
  'POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: x\r\n\r\n',
)

test('messages are returned in order for every split of the bytes', () => {
  for (let first = 0; first <= TWO.length; first += 1) {
    for (let second = first; second <= TWO.length; second += 1) {
      const heads: string[] = []
      const messages = new HttpMessages(head => heads.push(head.slice(0, 7)))

      messages.feed(TWO.subarray(0, first))
      messages.feed(TWO.subarray(first, second))
      messages.feed(TWO.subarray(second))

      expect(heads).toEqual(['POST /a', 'GET /b '])
    }
  }
})

test('a message is returned only when its body is complete', () => {
  const heads: string[] = []
  const messages = new HttpMessages(head => heads.push(head))

  messages.feed(TWO.subarray(0, TWO.indexOf('hello') + 4))

  expect(heads).toEqual([])
})

test('a message without a length is refused', () => {
  const messages = new HttpMessages(() => {})

  expect(() => messages.feed(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow('without content-length')
})
