import { expect, test } from 'bun:test'
import { base64Output, linkOutput } from './outputs.ts'

test.each([
  ['https://a.example/1.png', { from: 'url', url: 'https://a.example/1.png' }],
  ['/relative.png', { from: 'url', url: '/relative.png' }],
  ['data:image/png;base64,AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['DATA:;BASE64,AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['data:image/png;base64,%', undefined],
  ['data:image/png;base64, ', undefined],
  ['data:text/plain,hello', { from: 'url', url: 'data:text/plain,hello' }],
  ['', undefined],
  [7, undefined],
  [null, undefined],
])('the output behind %j is %j', (link, output) => {
  expect(linkOutput(link)).toEqual(output as never)
})

test.each([
  ['AQID', { from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }],
  ['', undefined],
  [' ', undefined],
  ['%', undefined],
  [undefined, undefined],
])('the output of the base64 %j is %j', (base64, output) => {
  expect(base64Output(base64)).toEqual(output as never)
})
