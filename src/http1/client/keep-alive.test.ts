import { expect, test } from 'bun:test'
import { idleTimeMs } from './keep-alive.ts'

test.each([
  [null, 4_000],
  ['', 4_000],
  ['max=100', 4_000],
  ['timeout=abc', 4_000],
  ['xtimeout=60', 4_000],
  ['timeout=5', 4_000],
  ['timeout=5, max=1000', 4_000],
  ['max=1000, Timeout = "75"', 74_000],
  ['max=2,timeout=2', 1_000],
  ['timeout=1', 0],
  ['timeout=0', -1_000],
  ['timeout=86400', 120_000],
])('after a response with the Keep-Alive header %p, a connection may be idle for %d ms', (header, idleMs) => {
  expect(idleTimeMs(header)).toBe(idleMs)
})
