/** What an MP4 with one H.264 track says of itself. */
export type Mp4 = {
  readonly durationMs: number
  /** In seconds since 1904. */
  readonly createdAtS: number
  readonly width: number
  readonly height: number
  /** The lengths of the samples in bytes. */
  readonly samples: readonly number[]
  /** The sum of the samples' durations. */
  readonly playedMs: number
  /** How many bytes of media data there are. */
  readonly mediaBytes: number
  /** The profile of the decoder's configuration; 66 is the baseline. */
  readonly profile: number
}

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
/** The bytes before the inner boxes. */
const offsets: Readonly<Record<string, number>> = { stsd: 8, avc1: 78 }

/** Reads a clip. Throws where a box is missing or does not fit into the one around it. */
export function readMp4(bytes: Uint8Array): Mp4 {
  const boxes = new Map<string, DataView>()
  readBoxes(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), boxes)
  const box = (type: string) => {
    const found = boxes.get(type)
    if (found === undefined) throw new Error(`The clip has no ${type}.`)
    return found
  }

  const secondsOf = (header: DataView) => header.getUint32(16) / header.getUint32(12)
  const stts = box('stts')
  const stsz = box('stsz')
  const runs = Array.from(
    { length: stts.getUint32(4) },
    (_, run) => stts.getUint32(8 + run * 8) * stts.getUint32(12 + run * 8),
  )
  return {
    durationMs: secondsOf(box('mvhd')) * 1000,
    createdAtS: box('mvhd').getUint32(4),
    width: box('avc1').getUint16(24),
    height: box('avc1').getUint16(26),
    samples: Array.from({ length: stsz.getUint32(8) }, (_, sample) => stsz.getUint32(12 + sample * 4)),
    playedMs: (runs.reduce((sum, run) => sum + run, 0) / box('mdhd').getUint32(12)) * 1000,
    mediaBytes: box('mdat').byteLength,
    profile: box('avcC').getUint8(1),
  }
}

function readBoxes(view: DataView, boxes: Map<string, DataView>): void {
  for (let at = 0; at < view.byteLength;) {
    const size = view.getUint32(at)
    if (size < 8 || at + size > view.byteLength) throw new Error(`A box of ${size} bytes does not fit.`)
    const type = String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at + 4, 4))
    const content = new DataView(view.buffer, view.byteOffset + at + 8, size - 8)
    boxes.set(type, content)
    const inner = CONTAINERS.has(type) ? 0 : offsets[type]
    if (inner !== undefined)
      readBoxes(new DataView(content.buffer, content.byteOffset + inner, content.byteLength - inner), boxes)
    at += size
  }
}
