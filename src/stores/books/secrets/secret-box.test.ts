import { describe, expect, test } from 'bun:test'
import { secretBox } from './secret-box.ts'

const key = new Uint8Array(32).fill(7)

describe('a sealed secret', () => {
  test.each(['sk-1', '', 'ключ 🔑', '\ufeffsk-1'])('%p is opened unchanged', text => {
    const box = secretBox(key)

    expect(box.open(box.seal(text, 'main'), 'main')).toBe(text)
  })

  test('a sealed secret is different every time', () => {
    const box = secretBox(key)

    expect(box.seal('sk-1', 'main')).not.toEqual(box.seal('sk-1', 'main'))
  })

  test('a sealed secret cannot be opened with another key', () => {
    const sealed = secretBox(key).seal('sk-1', 'main')

    expect(secretBox(new Uint8Array(32)).open(sealed, 'main')).toBeUndefined()
  })

  test('a sealed secret cannot be opened for another owner', () => {
    const box = secretBox(key)

    expect(box.open(box.seal('sk-1', 'main'), 'spare')).toBeUndefined()
  })

  test('a sealed secret cannot be opened if any byte was changed or cut', () => {
    const box = secretBox(key)
    const sealed = box.seal('sk-1', 'main')

    for (let at = 0; at < sealed.byteLength; at += 1) {
      const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte))
      expect(box.open(changed, 'main')).toBeUndefined()
      expect(box.open(sealed.subarray(0, at), 'main')).toBeUndefined()
    }
  })

  test('a sealed secret needs a key of 32 bytes', () => {
    expect(() => secretBox(new Uint8Array(16))).toThrow('The secret key has 16 bytes; it must have 32.')
  })
})
