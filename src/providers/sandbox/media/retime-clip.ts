/** The boxes that contain the boxes with the length of a clip. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const BOX_HEADER = 8
/** Behind the header of a version 0 box: version and flags, when the clip was created and when it was modified. */
const CREATED_AT = BOX_HEADER + 4

/**
 * A copy of an MP4 with one track of evenly spaced samples that lasts `durationMs`, without its time of creation. Every
 * box keeps its size.
 */
export function retimeClip(clip: Uint8Array<ArrayBuffer>, durationMs: number): Uint8Array<ArrayBuffer> {
  const retimed = clip.slice()
  const view = new DataView(retimed.buffer)
  const boxes = boxesOf(view, 0, retimed.length)
  const samples = view.getUint32(boxAt(boxes, 'stsz') + BOX_HEADER + 8)
  // One sample lasts `durationMs` units, so that all together last exactly the duration.
  const unitsPerSecond = samples * 1000
  const units = samples * durationMs
  const setWords = (name: string, offset: number, ...words: readonly number[]) =>
    words.forEach((word, place) => view.setUint32(boxAt(boxes, name) + offset + place * 4, word))

  setWords('mvhd', CREATED_AT, 0, 0, unitsPerSecond, units)
  setWords('mdhd', CREATED_AT, 0, 0, unitsPerSecond, units)
  // A track header names its track between the times and the duration.
  setWords('tkhd', CREATED_AT, 0, 0)
  setWords('tkhd', CREATED_AT + 16, units)
  setWords('stts', BOX_HEADER + 4, 1, samples, durationMs)
  return retimed
}

/** Where each box starts, by its type. */
function boxesOf(view: DataView, start: number, end: number): Map<string, number> {
  const boxes = new Map<string, number>()
  for (let at = start; at + BOX_HEADER <= end; at += view.getUint32(at)) {
    const type = String.fromCharCode(...new Uint8Array(view.buffer, at + 4, 4))
    boxes.set(type, at)
    if (!CONTAINERS.has(type)) continue
    for (const found of boxesOf(view, at + BOX_HEADER, at + view.getUint32(at))) boxes.set(...found)
  }
  return boxes
}

function boxAt(boxes: ReadonlyMap<string, number>, type: string): number {
  const at = boxes.get(type)
  if (at === undefined) throw new Error(`The clip has no box ${type}.`)
  return at
}
