import { describe, expect, test } from 'bun:test'
import { MediaDirectives, readDirectives } from './directives.ts'

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
  ])('of %j asks for %j', (prompt, directives) => {
    expect(readDirectives(prompt)).toEqual({ directives })
  })

  test.each([
    ['[sandbox delay=5]', 'The sandbox does not know "delay". It knows: reject, '],
    ['[sandbox never=yes]', 'The sandbox cannot use "never": '],
    ['[sandbox status=200]', 'The sandbox cannot use "status": '],
    ['[sandbox status=four]', 'The sandbox cannot use "status": '],
    ['[sandbox fail]', 'The sandbox cannot use "fail": '],
    ['[sandbox images=1.5]', 'The sandbox cannot use "images": '],
    ['[sandbox submit=later]', 'The sandbox cannot use "submit": '],
    ['[sandbox reject=A=B]', 'The sandbox cannot use "reject": '],
    ['[sandbox never] [sandbox never]', 'The sandbox was asked for "never" more than once.'],
    ['[sandbox __proto__=1]', 'The sandbox does not know "__proto__".'],
  ])('of %j is refused with %j', (prompt, problem) => {
    const read = readDirectives(prompt)

    expect('problem' in read && read.problem.slice(0, problem.length)).toBe(problem)
  })
})
