import { describe, expect, test } from 'bun:test'
import { readDirectives, type MediaDirectives } from './directives.ts'

describe('a prompt', () => {
  test.each<[string, MediaDirectives]>([
    ['A lighthouse at dawn', {}],
    ['The word sandbox and [other brackets]', {}],
    ['A bay [sandbox]', {}],
    ['A bay [sandbox reject=FILE_TOO_LARGE status=413]', { reject: 'FILE_TOO_LARGE', status: 413 }],
    ['[SANDBOX never] A bay', { never: '' }],
    ['[sandbox delay_ms=0  images=0\n poll_failures=3]', { delay_ms: 0, images: 0, poll_failures: 3 }],
    ['[sandbox fail=A.b-1] and [sandbox delay_ms=10]', { fail: 'A.b-1', delay_ms: 10 }],
    ['[sandbox clip_s=4.25 reported_s=none]', { clip_s: 4.25, reported_s: 'none' }],
    ['[sandbox reported_s=0]', { reported_s: 0 }],
    ['[sandbox status=499 delay_ms=172800000]', { status: 499, delay_ms: 172_800_000 }],
  ])('a prompt of %j asks for %j', (prompt, directives) => {
    expect(readDirectives(prompt)).toEqual({ directives })
  })

  test.each([
    ['[sandbox delay=5]', 'The sandbox does not know "delay". It knows: reject, '],
    ['[sandbox never=yes]', 'The sandbox cannot use "never": '],
    ['[sandbox status=200]', 'The sandbox cannot use "status": it must be a whole number from 400 to 499.'],
    ['[sandbox status]', 'The sandbox cannot use "status": '],
    [
      '[sandbox delay_ms]',
      'The sandbox cannot use "delay_ms": it must be a whole number from 0 to 172800000.',
    ],
    ['[sandbox delay_ms=172800001]', 'The sandbox cannot use "delay_ms": '],
    ['[sandbox images=-1]', 'The sandbox cannot use "images": '],
    ['[sandbox clip_s=0.05]', 'The sandbox cannot use "clip_s": '],
    ['[sandbox clip_s=none]', 'The sandbox cannot use "clip_s": '],
    ['[sandbox reported_s=121]', 'The sandbox cannot use "reported_s": it must be none, or a number '],
    ['[sandbox status=four]', 'The sandbox cannot use "status": '],
    ['[sandbox fail]', 'The sandbox cannot use "fail": '],
    ['[sandbox images=1.5]', 'The sandbox cannot use "images": '],
    ['[sandbox submit=later]', 'The sandbox cannot use "submit": '],
    ['[sandbox reject=A=B]', 'The sandbox cannot use "reject": '],
    ['[sandbox never] [sandbox never]', 'The sandbox was asked for "never" more than once.'],
    ['[sandbox __proto__=1]', 'The sandbox does not know "__proto__".'],
  ])('a prompt of %j is refused with %j', (prompt, problem) => {
    const read = readDirectives(prompt)

    expect('problem' in read && read.problem.slice(0, problem.length)).toBe(problem)
  })
})
