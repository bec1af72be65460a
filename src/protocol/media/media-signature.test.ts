import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'bun:test'
import { SIGNATURE_BYTES, isImage, mediaTypeOf, type MediaType } from './media-signature.ts'

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1')
const ftyp = (brand: string) => `\0\0\0\x20ftyp${brand}\0\0\x02\0isomiso2avc1mp41`

const known: readonly [string, string, MediaType][] = [
  ['PNG', '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR', 'image/png'],
  ['JPEG with JFIF', '\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
  ['JPEG with Exif', '\xff\xd8\xff\xe1', 'image/jpeg'],
  ['GIF87a', 'GIF87a\x01\0', 'image/gif'],
  ['GIF89a', 'GIF89a\x01\0', 'image/gif'],
  ['WebP', 'RIFF\x0a\x1b\0\0WEBPVP8 ', 'image/webp'],
  ['WebP whose length has line ends', 'RIFF\r\n\r\nWEBPVP8L', 'image/webp'],
  ['MP4 of ffmpeg', ftyp('isom'), 'video/mp4'],
  ['MP4 version 2', ftyp('mp42'), 'video/mp4'],
  ['MP4 of Apple', ftyp('M4V '), 'video/mp4'],
  ['MP4 in fragments', ftyp('iso6'), 'video/mp4'],
  ['MP4 of a phone', ftyp('3gp4'), 'video/mp4'],
  ['QuickTime', ftyp('qt  '), 'video/quicktime'],
  [
    'WebM',
    '\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x84webm',
    'video/webm',
  ],
  ['WebM with a long size', '\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x88\0\0\0\0webm', 'video/webm'],
]

test.each(known)('%s is known by its signature', (_format, start, type) => {
  expect(mediaTypeOf(bytes(start))).toBe(type)
  expect(mediaTypeOf(bytes(start.padEnd(500, 'x')))).toBe(type)
  expect(isImage(type)).toBe(type.startsWith('image'))
})

test.each(known)('%s that is cut within its signature is not known', (_format, start, type) => {
  const whole = bytes(start)

  const types = Array.from({ length: whole.length }, (_, length) => mediaTypeOf(whole.subarray(0, length)))

  expect(types[0]).toBeUndefined()
  expect(new Set(types).size).toBeLessThanOrEqual(2)
  expect([undefined, type]).toContain(types.at(-1))
})

describe('other formats are not known', () => {
  test.each([
    ['nothing', ''],
    ['text', 'a cat on a mat'],
    ['HTML', '<!doctype html><html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg">'],
    ['PDF', '%PDF-1.7'],
    ['a PNG that was sent as text', '\x89PNG\n\x1a\n'],
    ['WAV', 'RIFF\x0a\x1b\0\0WAVEfmt '],
    ['GIF of no version', 'GIF88a'],
    ['Matroska', '\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska'],
    ['AVIF', ftyp('avif')],
    ['HEIC', ftyp('heic')],
    ['HEIF', ftyp('mif1')],
    ['MP4 with sound only', ftyp('M4A ')],
    ['a box that is not ftyp', '\0\0\0\x20moovisom\0\0\x02\0'],
    ['a signature behind a byte', '\0\x89PNG\r\n\x1a\n'],
    ['webm beyond the signature', `\x1a\x45\xdf\xa3${'\0'.repeat(SIGNATURE_BYTES)}\x42\x82\x84webm`],
  ])('other formats are not known: %s', (_format, start) => {
    expect(mediaTypeOf(bytes(start))).toBeUndefined()
  })
})
