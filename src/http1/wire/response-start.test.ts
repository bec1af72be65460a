import { describe, expect, test } from 'bun:test'
import { responseStart } from './response-start.ts'

test('a response starts with its status and headers', () => {
  expect(responseStart(404, { 'content-type': 'text/plain', x: '' })).toBe(
    'HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\nx: \r\n',
  )
  expect(responseStart(529, {})).toBe('HTTP/1.1 529 Overloaded\r\n')
  expect(responseStart(299, {})).toBe('HTTP/1.1 299 Status\r\n')
})

test('each cookie has a line of its own', () => {
  expect(responseStart(200, { x: 'y' }, ['a=1', 'b=2'])).toBe(
    'HTTP/1.1 200 OK\r\nx: y\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n',
  )
})

describe('a header value is rejected with', () => {
  test.each<[string, string]>([
    ['a line end and another header', 'a\r\nset-cookie: b'],
    ['a line feed', 'a\nb'],
    ['a carriage return', 'a\rb'],
    ['a NUL', 'a\u0000b'],
    ['a character whose low byte is a line feed', 'a\u010ab'],
  ])('a header value is rejected with %s', (_, value) => {
    expect(() => responseStart(200, { x: value })).toThrow('The value of the header x')
    expect(() => responseStart(200, {}, [value])).toThrow('The value of the header set-cookie')
  })
})
