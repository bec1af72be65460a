import { expect, test } from 'bun:test'
import { readSize } from './params.ts'

test.each([
  ['1536x1024', { width: 1536, height: 1024 }],
  ['1280:720', { width: 1280, height: 720 }],
])('the text %s is a size', (text, size) => {
  expect(readSize(text)).toEqual(size)
})

test.each(['', 'auto', '16:9x', '0x1024', '1024x', ' 1024x1024'])('the text %p is no size', text => {
  expect(readSize(text)).toBeUndefined()
})
