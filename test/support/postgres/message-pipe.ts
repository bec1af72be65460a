import { spawnSync } from 'bun'
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { aDataFolder } from '../data-folder.ts'

/** Each message follows its length. */
const LENGTH_BYTES = 4

/** A pipe with the file descriptors of its two ends. Reading sees its end when all that could write have ended. */
export type Pipe = { readonly readEnd: number; readonly writeEnd: number }

/** Only a pipe lets a process wait for another one within a call that returns no promise. */
export function aPipe(): Pipe {
  const path = join(aDataFolder(), 'pipe')
  const { success, stderr } = spawnSync(['mkfifo', path])
  if (!success) throw new Error(`Cannot make a pipe: ${stderr.toString()}`)
  // With both ends open, opening either of them does not wait for the other one.
  const both = openSync(path, constants.O_RDWR)
  const pipe = { readEnd: openSync(path, constants.O_RDONLY), writeEnd: openSync(path, constants.O_WRONLY) }
  closeSync(both)
  rmSync(path)
  return pipe
}

/** Writes a copy of a value, and waits while the pipe is full. Throws if it has a function, or if nobody reads. */
export function writeMessage(writeEnd: number, message: unknown): void {
  const bytes = serialize(message)
  const framed = Buffer.alloc(LENGTH_BYTES + bytes.length)
  framed.writeUInt32LE(bytes.length)
  framed.set(bytes, LENGTH_BYTES)
  for (let written = 0; written < framed.length;) written += writeSync(writeEnd, framed, written)
}

/** Waits for a message and reads it. Undefined at the end of the pipe. */
export function readMessage(readEnd: number): { readonly message: unknown } | undefined {
  const length = readBytes(readEnd, LENGTH_BYTES)?.readUInt32LE()
  const bytes = length === undefined ? undefined : readBytes(readEnd, length)
  return bytes && { message: deserialize(bytes) as unknown }
}

function readBytes(readEnd: number, count: number): Buffer | undefined {
  const bytes = Buffer.alloc(count)
  for (let read = 0; read < count;) {
    const more = readSync(readEnd, bytes, read, count - read, null)
    if (more === 0) return undefined
    read += more
  }
  return bytes
}

/** The messages of a pipe as they come, until its end. */
export async function* messagesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator {
  let unread = Buffer.alloc(0)
  for await (const chunk of stream) {
    unread = Buffer.concat([unread, chunk])
    for (let end = endOfFirst(unread); end <= unread.length; end = endOfFirst(unread)) {
      yield deserialize(unread.subarray(LENGTH_BYTES, end))
      unread = unread.subarray(end)
    }
  }
}

/** Where the first message ends. Infinite if not even its length has arrived. */
function endOfFirst(bytes: Buffer): number {
  return bytes.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + bytes.readUInt32LE()
}
