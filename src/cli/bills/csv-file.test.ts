import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readCsv } from './csv-file.ts'

const recordsOf = (text: string) => {
  const { columns, records } = readCsv(text)
  return Array.from(records, ({ line, cell }) => [line, ...columns.map(column => cell(column).text)])
}

describe('a CSV file', () => {
  test.each([
    ['ends its lines with LF', 'a,b\n1,2\n3,4\n'],
    ['ends its lines with CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['does not end its last line', 'a,b\n1,2\n3,4'],
    ['has names in upper case and spaces', 'A , B\n1, 2\n3 ,4\n'],
    ['has quotes', '"a","b"\n"1",2\n3,"4"\n'],
  ])('a CSV file is read if it %s', (_, text) => {
    expect(recordsOf(text)).toEqual([
      [2, '1', '2'],
      [3, '3', '4'],
    ])
  })

  test('a CSV file may have commas, quotes and line ends in a quoted value, and empty lines', () => {
    expect(recordsOf('a,b\n"1,\n""x""",2\n\n3,\n')).toEqual([
      [2, '1,\n"x"', '2'],
      [5, '3', ''],
    ])
  })

  test.each([
    ['a,b\n1,2\n3\n', 'line 3: it has 1 values, but the first line names 2 columns.'],
    ['a,b\n1,"2\n3,4\n', 'line 2: a quote is not closed.'],
  ])('a CSV file that is not regular is refused: %p', (text, message) => {
    expect(() => recordsOf(text)).toThrow(message)
  })

  test('a CSV file of any values is read back', () => {
    const cell = fc
      .string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r\n', 'é') })
      .map(text => `x${text}x`)
    const rows = fc.array(fc.tuple(cell, cell), { minLength: 1 })
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

    fc.assert(
      fc.property(rows, written => {
        const text = ['a,b', ...written.map(row => row.map(quoted).join(','))].join('\n')

        expect(recordsOf(text).map(([, ...cells]) => cells)).toEqual(written)
      }),
    )
  })
})
