/**
 * Reads a part of a file, so that it need not be in memory. Returns fewer bytes than requested only at the end of the
 * file.
 */
type ReadAt = (offset: number, length: number) => Promise<Uint8Array>

/** A box with a size of 64 bits has the longest header. */
const HEADER_BYTES = 16
/** More than enough for `mvhd` and `mehd` with 64-bit times. */
const FIELDS_BYTES = 32
/** Few files have ten boxes before `moov`, or in it. A longer chain is a file made to be slow to read. */
const BOXES_MAX = 1000
const MS = 1000n

/** Where the content of a box is. `isCut` if the file ends before the box does. */
type Box = { readonly type: string; readonly start: number; readonly end: number; readonly isCut: boolean }

/** The header of a clip. Without a duration for a file that states none, such as a live recording. */
export type Mp4Header = { readonly durationMs?: number }

/**
 * The header (`moov`) of an MP4 or QuickTime file, wherever it is. Undefined for a file whose header is missing or
 * cannot be read, for a file that is cut off, and for other files. Reads a few bytes of each box.
 */
export async function readMp4Header(read: ReadAt, fileBytes: number): Promise<Mp4Header | undefined> {
  const moov = await findHeader(fileBytes, read)
  const mvhd = moov && (await findBox('mvhd', moov, read))
  const fields = mvhd && (await fieldsOf(mvhd, read))
  // Version 1 has times of 64 bits: creation, modification and duration. The time scale is between these.
  const timescale = fields?.uint(fields.isLong ? 20 : 12, 4)
  if (moov === undefined || timescale === undefined || timescale === 0n) return undefined
  const duration = fields?.time(fields.isLong ? 24 : 16) ?? (await fragmentedDuration(moov, read))
  if (duration === undefined) return {}
  // Rounded to the nearest millisecond.
  const ms = Number((duration * MS + timescale / 2n) / timescale)
  return Number.isSafeInteger(ms) ? { durationMs: ms } : {}
}

/** The `moov` box of a whole file. Undefined if this box, or one with pictures (`mdat`), is cut off. */
async function findHeader(fileBytes: number, read: ReadAt): Promise<Box | undefined> {
  let moov: Box | undefined
  for await (const box of boxesOf({ start: 0, end: fileBytes }, read)) {
    if (box.type === 'moov') moov ??= box
    if (box.isCut && (box.type === 'moov' || box.type === 'mdat')) return undefined
  }
  return moov
}

/** A file in fragments may state its duration in a separate box. */
async function fragmentedDuration(moov: Box, read: ReadAt): Promise<bigint | undefined> {
  const mvex = await findBox('mvex', moov, read)
  const mehd = mvex && (await findBox('mehd', mvex, read))
  const fields = mehd && (await fieldsOf(mehd, read))
  return fields?.time(4)
}

/** The first box of a type inside another one. */
async function findBox(type: string, inside: Box, read: ReadAt): Promise<Box | undefined> {
  for await (const box of boxesOf(inside, read)) if (box.type === type) return box
  return undefined
}

/** The boxes that follow each other from `start` to `end`, up to a place where no box can begin. */
async function* boxesOf(
  { start, end }: Pick<Box, 'start' | 'end'>,
  read: ReadAt,
): AsyncGenerator<Box, undefined> {
  let at = start
  for (let count = 0; count < BOXES_MAX && at < end; count += 1) {
    const box = boxAt(at, end, await read(at, Math.min(HEADER_BYTES, end - at)))
    if (box === undefined) return
    yield box
    at = box.end
  }
}

/** Undefined if no box can begin here. */
function boxAt(at: number, end: number, header: Uint8Array): Box | undefined {
  const size32 = uintAt(header, 0, 4)
  if (size32 === undefined || header.length < 8) return undefined
  const isLong = size32 === 1n
  // A size of zero stands for all that is left.
  const size = isLong ? uintAt(header, 8, 8) : size32 === 0n ? BigInt(end - at) : size32
  const headerBytes = isLong ? 16 : 8
  if (size === undefined || size < headerBytes) return undefined
  const type = String.fromCharCode(...header.subarray(4, 8))
  const boxEnd = at + Number(size)
  return { type, start: at + headerBytes, end: Math.min(end, boxEnd), isCut: boxEnd > end }
}

/** The numbers of a box that begins with a version. */
async function fieldsOf({ start, end }: Box, read: ReadAt) {
  const bytes = await read(start, Math.min(FIELDS_BYTES, end - start))
  const version = bytes[0]
  if (version !== 0 && version !== 1) return undefined
  const isLong = version === 1
  return {
    isLong,
    uint: (at: number, length: number) => uintAt(bytes, at, length),
    /** A duration of zero, or one of ones only, is unknown. */
    time(at: number): bigint | undefined {
      const length = isLong ? 8 : 4
      const time = uintAt(bytes, at, length)
      const isKnown = time !== undefined && time !== 0n && time !== BigInt.asUintN(8 * length, -1n)
      return isKnown ? time : undefined
    },
  }
}

/** A big-endian number; undefined if it is cut off. */
function uintAt(bytes: Uint8Array, at: number, length: number): bigint | undefined {
  if (at + length > bytes.length) return undefined
  return bytes.subarray(at, at + length).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
