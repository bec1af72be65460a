import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'bun:test'
import { schemaCheck } from '../../../test/support/described-reply.ts'
import { eventTypes, type EventType } from '../../domain/webhooks/event.ts'
import { adminDocument } from './document.ts'
import { messages, messageSchema } from './webhook-messages.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')

test('docs/webhooks.md has the example of each event', () => {
  const examples = [...page.matchAll(/^`([\w.]+)`:\n\n```text\n(.*?)\n```$/gms)]

  expect(Object.fromEntries(examples.map(([, type, data = '']) => [type, JSON.parse(data)]))).toEqual(
    Object.fromEntries(Object.entries(messages).map(([type, { data }]) => [type, data])),
  )
})

test.each(Object.keys(eventTypes) as EventType[])(
  'the example of %s fits its schema, and lacks no member',
  type => {
    const check = schemaCheck(adminDocument())
    const body = { id: 'evt_01m7yafb7z000c1awn4tmfekz0', type, timestamp: '2026-11-21T05:50:09.183Z' }
    const { account, ...members } = messages[type].data as Record<string, unknown>

    expect(check(messageSchema(type), { ...body, data: messages[type].data })).toBeUndefined()
    expect(account !== undefined).toBe(eventTypes[type].about === 'account')
    for (const name of Object.keys(members)) {
      const { [name]: _, ...rest } = messages[type].data as Record<string, unknown>
      expect(check(messageSchema(type), { ...body, data: rest })).toContain(name)
    }
  },
)
