import { describe, expect, test } from 'bun:test'
import { dataFrame, dataInPlace, readFrame } from './frame.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

describe('a frame', () => {
  const cases: [frame: string, name: string, data: string | undefined][] = [
    ['data: {"a":1}\n\n', '', '{"a":1}'],
    ['data:{"a":1}\n\n', '', '{"a":1}'],
    ['data:  two spaces\n\n', '', ' two spaces'],
    ['data: a\r\n\r\n', '', 'a'],
    ['data: a\r\r', '', 'a'],
    ['data: a\ndata: b\n\n', '', 'a\nb'],
    ['data\n\n', '', ''],
    ['data: a', '', 'a'],
    ['data: a\n', '', 'a'],
    ['data: a\nb', '', 'a'],
    ['event: error\ndata: {}\n\n', 'error', '{}'],
    ['id: 7\nretry: 10\ndata: a\n\n', '', 'a'],
    [': comment\n', '', undefined],
    ['event: ping\n\n', 'ping', undefined],
    ['\n', '', undefined],
    ['\uFEFFdata: a\n\n', '', 'a'],
    ['database: a\n\n', '', undefined],
  ]

  test.each(cases)('%j has the name %j and the data %j', (frame, name, data) => {
    expect(readFrame(encoder.encode(frame))).toEqual({ name, data })
  })

  test('a frame that is made here can be read', () => {
    expect(readFrame(dataFrame('{"a":"é"}'))).toEqual({ name: '', data: '{"a":"é"}' })
  })
})

describe('data in place', () => {
  test('data in place is the same frame when it is one data line', () => {
    const frame = encoder.encode('data: {"a":1}\n\n')

    expect(dataInPlace(frame)).toBe(frame)
  })

  test.each([
    ['event: {\ndata: {"a":1}\n\n', '{"a":1}'],
    ['data: {"a":\ndata: 1}\n\n', '{"a":1}'],
    ['data: {"a":\r\n: {\r\ndata:1}\r\n\r\n', '{"a":1}'],
    ['data: {"a":1}', '{"a":1}'],
    ['\uFEFFdata: {"a":1}\n\n', '{"a":1}'],
  ])('data in place of %j is its JSON at the same offsets', (text, json) => {
    const frame = encoder.encode(text)

    const inPlace = dataInPlace(frame)

    expect(inPlace.length).toBe(frame.length)
    const found = decoder.decode(inPlace.slice(inPlace.indexOf(0x7b)))
    expect(JSON.parse(found)).toEqual(JSON.parse(json))
    expect(inPlace.every((byte, at) => byte === frame[at] || byte === 0x20)).toBe(true)
  })
})
