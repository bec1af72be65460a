import { expect, test } from 'bun:test'
import { contentHeaders } from './job-content.ts'

test.each([
  ['image/png', 'image/png', 'inline; filename="img_1-0.png"'],
  ['video/mp4', 'video/mp4', 'inline; filename="img_1-0.mp4"'],
  ['image/svg+xml', 'application/octet-stream', 'attachment; filename="img_1-0.bin"'],
  ['text/html', 'application/octet-stream', 'attachment; filename="img_1-0.bin"'],
  ['constructor', 'application/octet-stream', 'attachment; filename="img_1-0.bin"'],
])('a result of type %s is sent as %s, and never runs as a page', (mediaType, type, disposition) => {
  expect(contentHeaders({ mediaType }, 'img_1-0')).toEqual({
    'content-type': type,
    'content-disposition': disposition,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
  })
})
