import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readRequestHead, type RequestHead } from './request-head.ts'

const head = (...lines: string[]) => [...lines, '', ''].join('\r\n')
const parsed = (text: string) => readRequestHead(Buffer.from(`..${text}body`, 'latin1'), 2)
const read = (...lines: string[]) => parsed(head(...lines)) as RequestHead

describe('a request head', () => {
  test('a request head has its method, path, query and fields', () => {
    const request = read('POST /v1/x?a=1&b=%20 HTTP/1.1', 'Host: h', 'X-Api-Key:  k e\t', 'x-empty:')

    expect(request).toMatchObject({
      method: 'POST',
      path: '/v1/x',
      query: 'a=1&b=%20',
      framing: 0,
      isHttp10: false,
      isKeepAlive: true,
    })
    expect(request.fields.get('x-api-key')).toBe('k e')
    expect(request.fields.get('x-empty')).toBe('')
    expect(request.fields.get('x-api')).toBeNull()
  })

  test('a request head joins the values of a repeated field by commas', () => {
    const request = read('GET / HTTP/1.1', 'host: h', 'accept: a', 'Accept: b')

    expect(request.fields.get('accept')).toBe('a, b')
  })

  test.each<[string, string, string]>([
    ['http://h:80/a/b?c', '/a/b', 'c'],
    ['HTTPS://h?c', '/', 'c'],
    ['http://h', '/', ''],
    ['/a%2Fb/../c', '/a%2Fb/../c', ''],
    ['//a', '//a', ''],
    ['/caf\u00c3\u00a9?\u00e9', '/caf%c3%a9', '%e9'],
    ['*', '*', ''],
    ['/a?b?c#d', '/a', 'b?c#d'],
  ])('a request head with the target %s has the path %s and the query %s', (target, path, query) => {
    expect(read(`GET ${target} HTTP/1.1`, 'host: h')).toMatchObject({ path, query })
  })

  test.each<[string, string[], RequestHead['framing']]>([
    ['no length', [], 0],
    ['a length', ['Content-Length: 17'], 17],
    ['the largest length', [`content-length: ${Number.MAX_SAFE_INTEGER}`], Number.MAX_SAFE_INTEGER],
    ['chunks', ['Transfer-Encoding: Chunked'], 'chunked'],
  ])('a request head with %s has the framing of its body', (_, lines, framing) => {
    expect(read('POST / HTTP/1.1', 'host: h', ...lines).framing).toBe(framing)
  })

  test.each<[string, string, string[], boolean]>([
    ['HTTP/1.1', '1.1', [], true],
    ['HTTP/1.1 and close', '1.1', ['Connection: close'], false],
    ['HTTP/1.1 and close among others', '1.1', ['Connection: x, Close'], false],
    ['HTTP/1.1 and an option that contains close', '1.1', ['Connection: closer'], true],
    ['HTTP/1.1 and both', '1.1', ['Connection: keep-alive', 'connection: close'], false],
    ['HTTP/1.0', '1.0', [], false],
    ['HTTP/1.0 and keep-alive', '1.0', ['Connection: Keep-Alive'], true],
  ])('a request head with %s keeps the connection alive or not', (_, version, lines, isKeepAlive) => {
    expect(read(`GET / HTTP/${version}`, 'host: h', ...lines).isKeepAlive).toBe(isKeepAlive)
  })

  test('a request head has its fields in order, as names and values', () => {
    const { fields } = read('GET / HTTP/1.1', 'host: h', 'X-RateLimit-Left: 9', 'x-rate: 1')
    const indexes = Array.from({ length: fields.count }, (_, index) => index)

    expect(indexes.map(index => fields.valueAt(index))).toEqual(['h', '9', '1'])
    expect(indexes.map(index => fields.nameAt(index))).toEqual(['host', 'x-ratelimit-left', 'x-rate'])
    expect(indexes.map(index => fields.isNamed(index, 'x-rate'))).toEqual([false, false, true])
    expect(indexes.map(index => fields.isNamed(index, 'x-rate', 'prefix'))).toEqual([false, true, true])
  })

  test('a request head with HTTP/1.0 needs no host', () => {
    expect(read('GET / HTTP/1.0')).toMatchObject({ isHttp10: true, path: '/' })
  })

  test.each([
    '',
    'h',
    'API.example.com',
    'h:8787',
    'h:',
    '127.0.0.1:80',
    '[::1]',
    '[::ffff:1.2.3.4]:443',
    'a_b',
    'x%20y',
  ])('a request head may have the host %p', host => {
    expect(read('GET / HTTP/1.1', `host: ${host}`).fields.get('host')).toBe(host)
  })

  test('a request head says whether the client waits for 100 Continue', () => {
    expect(read('POST / HTTP/1.1', 'host: h', 'Expect: 100-Continue').expectsContinue).toBe(true)
    expect(read('POST / HTTP/1.1', 'host: h', 'Expect: x').expectsContinue).toBe(false)
  })

  test('a request head may have 200 fields and no more', () => {
    const fields = Array.from({ length: 199 }, (_, index) => `x-${index}: ${index}`)

    expect(read('GET / HTTP/1.1', 'host: h', ...fields).fields.get('x-198')).toBe('198')
    expect(parsed(head('GET / HTTP/1.1', 'host: h', 'x: y', ...fields))).toBe('too_many')
  })
})

describe('a request head is malformed with', () => {
  const lines = (...fields: string[]) => head('POST / HTTP/1.1', 'host: h', ...fields)

  test.each<[string, string]>([
    ['nothing', '\r\n\r\n'],
    ['one word', 'GET\r\n\r\n'],
    ['a method that is too long', 'A'.repeat(40)],
    ['two words', head('GET /', 'host: h')],
    ['another version', head('GET / HTTP/2.0', 'host: h')],
    ['a version with another digit', head('GET / HTTP/1.10', 'host: h')],
    ['a version in lower case', head('GET / http/1.1', 'host: h')],
    ['two spaces in a row', head('GET  / HTTP/1.1', 'host: h')],
    ['a space in the target', head('GET /a b HTTP/1.1', 'host: h')],
    ['a control character in the target', head('GET /a\u0000b HTTP/1.1', 'host: h')],
    ['an invalid character in the method', head('G(T / HTTP/1.1', 'host: h')],
    ['an empty line before it', head('', 'GET / HTTP/1.1', 'host: h')],
    ['no host', head('GET / HTTP/1.1')],
    ['two hosts', lines('Host: h')],
    ['a path in the host', head('GET / HTTP/1.1', 'host: h/x')],
    ['a user in the host', head('GET / HTTP/1.1', 'host: user@h')],
    ['a space in the host', head('GET / HTTP/1.1', 'host: a b')],
    ['a port that is a word', head('GET / HTTP/1.1', 'host: h:port')],
    ['a port of six digits', head('GET / HTTP/1.1', 'host: h:123456')],
    ['brackets that are not closed in the host', head('GET / HTTP/1.1', 'host: [::1')],
    ['letters outside ASCII in the host', head('GET / HTTP/1.1', 'host: h\u00e9')],
    ['a list of hosts', head('GET / HTTP/1.1', 'host: a, b')],
    ['a bad host in HTTP/1.0', head('GET / HTTP/1.0', 'host: a/b')],
    ['a folded line', lines('x: y', ' z')],
    ['a line without a colon', lines('x')],
    ['a field without a name', lines(': x')],
    ['a space before the colon', lines('x : y')],
    ['a space before the field name', lines(' x: y')],
    ['an invalid character in a field name', lines('x\u00e9: y')],
    ['a bare line feed', lines('x: y\nz: a')],
    ['a bare carriage return', lines('x: y\rz: a')],
    ['a NUL', lines('x: \u0000')],
    ['a line feed at the end', lines('x: y\n')],
    ['two lengths', lines('content-length: 3', 'content-length: 4')],
    ['a length twice', lines('content-length: 3', 'content-length: 3')],
    ['a list of lengths', lines('content-length: 3, 3')],
    ['a length with a sign', lines('content-length: +3')],
    ['a negative length', lines('content-length: -1')],
    ['a length in hexadecimal', lines('content-length: 0x3')],
    ['an empty length', lines('content-length:')],
    ['a blank length', lines('content-length: \t')],
    ['a length that is too large for a number', lines('content-length: 9007199254740993')],
    ['a length beside chunks', lines('content-length: 3', 'transfer-encoding: chunked')],
    ['chunks beside a length', lines('transfer-encoding: chunked', 'content-length: 3')],
    ['another encoding', lines('transfer-encoding: gzip')],
    ['an encoding before chunks', lines('transfer-encoding: gzip, chunked')],
    ['chunks twice', lines('transfer-encoding: chunked', 'transfer-encoding: chunked')],
    ['chunks in HTTP/1.0', head('POST / HTTP/1.0', 'transfer-encoding: chunked')],
  ])('a request head is malformed with %s', (_, text) => {
    expect(parsed(text)).toBe('malformed')
  })
})

test('a head without its end is partial, wherever it is cut', () => {
  const whole = head('POST /v1/x HTTP/1.1', 'host: h', 'content-length: 3')

  for (let length = 1; length < whole.length; length += 1) {
    expect(readRequestHead(Buffer.from(whole.slice(0, length)), 0)).toBe('partial')
  }
  expect(readRequestHead(Buffer.from(whole), 0)).toMatchObject({ fields: { end: whole.length } })
})

test('any valid fields are read as they were sent', () => {
  const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/).filter(text => !OWN.test(text))
  const value = fc.stringMatching(/^[!-~\u0080-\u00ff]([ -~\t\u0080-\u00ff]{0,20}[!-~])?$/)

  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 20 }), fields => {
      const request = read('GET / HTTP/1.1', 'host: h', ...fields.map(([name, value]) => `${name}:${value}`))

      for (const [name] of fields) {
        const values = fields.filter(([other]) => other.toLowerCase() === name.toLowerCase())
        expect(request.fields.get(name.toLowerCase())).toBe(values.map(([, value]) => value).join(', '))
      }
    }),
  )
})

/** Fields with a meaning for the reader. */
const OWN = /^(host|expect|connection|content-length|transfer-encoding)$/i
