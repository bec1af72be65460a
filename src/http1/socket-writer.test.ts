import { expect, test } from 'bun:test'
import { rejection } from './testing/rejection.ts'
import { clientError } from './client/client-error.ts'
import { SocketWriter } from './socket-writer.ts'

/** A writer over a socket that takes as many bytes as the test lets it. */
function aWriter(room: number) {
  const socket = {
    room,
    taken: '',
    write(bytes: Uint8Array, offset: number, length: number) {
      const taken = Math.min(length, this.room)
      this.room -= taken
      this.taken += Buffer.from(bytes.subarray(offset, offset + taken)).toString()
      return taken
    },
  }
  const writer = new SocketWriter(socket)
  const drain = (bytes: number) => {
    socket.room = bytes
    writer.onDrain()
  }
  return { writer, socket, drain }
}

const bytes = (text: string) => Buffer.from(text)

test('bytes are written in order, as far as the socket takes them', () => {
  const { writer, socket, drain } = aWriter(2)

  writer.write(bytes('abc'))
  writer.write(bytes('def'))
  expect(socket.taken).toBe('ab')
  expect(writer.isDrained).toBe(false)
  drain(3)
  drain(100)

  expect(socket.taken).toBe('abcdef')
  expect(writer.isDrained).toBe(true)
})

test('shared bytes may change after the call', () => {
  const { writer, socket, drain } = aWriter(2)
  const shared = bytes('abcdef')

  writer.writeShared(shared, shared.length)
  shared.fill(0)
  drain(100)

  expect(socket.taken).toBe('abcdef')
})

test('shared bytes behind others may change after the call', () => {
  const { writer, socket, drain } = aWriter(0)
  const shared = bytes('def')

  writer.write(bytes('abc'))
  writer.writeShared(shared, shared.length)
  shared.fill(0)
  drain(100)

  expect(socket.taken).toBe('abcdef')
})

test('draining is awaited until the socket has taken everything', async () => {
  const { writer, drain } = aWriter(0)
  let isDrained = false
  writer.write(bytes('abc'))

  const drained = writer.drained().then(() => (isDrained = true))
  drain(2)
  await Promise.resolve()
  expect(isDrained).toBe(false)
  drain(1)

  await drained
  await writer.drained()
})

test('draining fails when the connection closes', async () => {
  const { writer } = aWriter(0)
  writer.write(bytes('abc'))
  const drained = writer.drained()

  writer.close(clientError('ECONNRESET'))

  expect(await rejection(drained)).toMatchObject({ code: 'ECONNRESET' })
  expect(await rejection(writer.drained())).toMatchObject({ code: 'ECONNRESET' })
})

test('a socket that has closed takes nothing', () => {
  const writer = new SocketWriter({ write: () => -1 })

  writer.write(bytes('abc'))

  expect(writer.isDrained).toBe(false)
})
