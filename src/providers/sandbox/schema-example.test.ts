import { expect, test } from 'bun:test'
import { z } from 'zod'
import { exampleOf } from './schema-example.ts'
import { seededRandom } from './seeded-random.ts'

const nested = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 20, maxLength: 30 },
    unit: { enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 3, maximum: 14 },
    step: { type: 'number', minimum: 1, multipleOf: 0.5 },
    when: { type: 'string', format: 'date-time' },
    tags: { type: 'array', minItems: 2, items: { type: 'string' } },
    place: {
      anyOf: [
        { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        { type: 'null' },
      ],
    },
    kind: { const: 'forecast' },
    flag: { type: ['boolean', 'null'] },
  },
  required: ['city', 'unit', 'days', 'place', 'kind'],
  additionalProperties: false,
}

const referring = {
  $defs: { point: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] } },
  type: 'object',
  properties: { from: { $ref: '#/$defs/point' }, to: { type: 'array', items: { $ref: '#/$defs/point' } } },
  required: ['from', 'to'],
}

test.each<[string, Record<string, unknown>]>([
  ['nested objects, bounds, formats and choices', nested],
  ['references', referring],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }],
  ['a lone number', { type: 'number', exclusiveMinimum: 5 }],
])('the example of %s matches the schema', (_name, schema) => {
  const example = exampleOf(schema, seededRandom('a'))

  expect(z.fromJSONSchema(schema).safeParse(example)).toMatchObject({ success: true })
})

test('the example contains every part of an allOf', () => {
  const part = (name: string) => ({ properties: { [name]: { const: name } }, required: [name] })

  expect(exampleOf({ allOf: [part('a'), part('b')] }, seededRandom('a'))).toEqual({ a: 'a', b: 'b' })
})

test('a recursive schema has a finite example', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }

  const example = JSON.stringify(exampleOf(node, seededRandom('a')))

  expect(example.length).toBeLessThan(1_000)
})

test('circular references end', () => {
  const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }

  expect(exampleOf(schema, seededRandom('a'))).toBe('anything')
})

test.each([[undefined], [true], ['text'], [null], [[]], [{}], [{ type: 'strange' }]])(
  'what is hardly a schema (%j) still has an example',
  schema => {
    expect(exampleOf(schema, seededRandom('a'))).toBe('anything')
  },
)
