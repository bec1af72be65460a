import { describe, expect, test } from 'bun:test'
import { secretBox } from './secret-box.ts'

const key = new Uint8Array(32).fill(7)

describe('a sealed secret', () => {
  test.each(['sk-1', '', 'ключ 🔑'])('%p opens as it was', text => {
    const box = secretBox(key)

    expect(box.open(box.seal(text, 'main'), 'main')).toBe(text)
  })

  test('is different each time', () => {
    const box = secretBox(key)

    expect(box.seal('sk-1', 'main')).not.toEqual(box.seal('sk-1', 'main'))
  })

  test('does not open under another key', () => {
    const sealed = secretBox(key).seal('sk-1', 'main')

    expect(secretBox(new Uint8Array(32)).open(sealed, 'main')).toBeUndefined()
  })

  test('does not open at another place', () => {
    const box = secretBox(key)

    expect(box.open(box.seal('sk-1', 'main'), 'spare')).toBeUndefined()
  })

  test('does not open once any byte of it has changed, or it was cut', () => {
    const box = secretBox(key)
    const sealed = box.seal('sk-1', 'main')

    for (let at = 0; at < sealed.byteLength; at += 1) {
      const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte))
      expect(box.open(changed, 'main')).toBeUndefined()
      expect(box.open(sealed.subarray(0, at), 'main')).toBeUndefined()
    }
  })

  test('needs a key of 32 bytes', () => {
    expect(() => secretBox(new Uint8Array(16))).toThrow('The secret key has 16 bytes; it must have 32.')
  })
})
