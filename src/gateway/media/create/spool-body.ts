import type { Bytes } from '../../../domain/bytes.ts'
import type { StoredFile } from '../../../domain/jobs/job.ts'
import type {
  InputName,
  MediaBody,
  MediaBodyEvent,
  MediaBodyOptions,
  MediaInput,
} from '../../../protocol/media/media-body.ts'
import { MediaBodyReader } from '../../../protocol/media/media-body-reader.ts'
import { MultipartBodyReader } from '../../../protocol/media/multipart-body-reader.ts'
import { bytesOfUnknownFormat } from '../../../protocol/media/media-string.ts'
import { MEDIA_BODY_BYTES, mediaBodyMemory } from '../../byte-budgets/body-budgets.ts'
import type { Reservation } from '../../byte-budgets/byte-budget.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { CallerSignal } from '../../ports/caller-signal.ts'
import { isLink, isProviderId } from './job-inputs.ts'
import { Pipe } from '../files/file-streams.ts'

type SpoolOptions = MediaBodyOptions & {
  /** Of a multipart form; undefined for JSON. */
  readonly boundary?: string | undefined
  readonly prefix: string
  /** Of one file, decoded. */
  readonly bytesMax: number
  /** Whether a text can be a provider's id, rather than base64. */
  readonly takesIds: boolean
}

/** The body of a request while it arrives. */
export type BodyBytes = { read(): Promise<Uint8Array | undefined>; cancel(): void }

type SpoolPorts = {
  readonly blobs: Blobs
  /** The disk space for the files. The caller releases it. */
  readonly space: Reservation
  /** The memory for the body, which has what most bodies need. The caller releases it. */
  readonly memory: Reservation
  /** Aborts when the client disconnects. What waits for space or memory then stops waiting. */
  readonly signal: CallerSignal
}

/**
 * Reads the body of a media request while it arrives. Files go to the blob store under keys that begin with `prefix`;
 * the other fields, which are small, are parsed. Rejects with the errors of the body and the reader, with `overloaded`
 * if there is no space for the files or no memory for the fields, and if the store cannot be written. None of its files
 * is left after a rejection.
 */
export async function spoolBody(
  body: BodyBytes,
  { prefix, bytesMax, takesIds, boundary, ...options }: SpoolOptions,
  ports: SpoolPorts,
): Promise<MediaBody> {
  const reader =
    boundary === undefined ? new MediaBodyReader(options) : new MultipartBodyReader(boundary, options)
  const inputs = new InputSpool({ prefix, bytesMax, takesIds }, ports)
  try {
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
      for (const event of reader.feed(piece as Bytes)) await inputs.take(event)
      await coverFields(reader.bufferedBytes, ports)
    }
    return { fields: reader.end(), inputs: inputs.byName, keptBytes: reader.bufferedBytes }
  } catch (error) {
    body.cancel()
    await inputs.discard()
    throw error
  }
}

/** Takes the memory for fields that are larger than those of most bodies. */
async function coverFields(
  bufferedBytes: number,
  { memory, signal }: Pick<SpoolPorts, 'memory' | 'signal'>,
): Promise<void> {
  const needed = mediaBodyMemory(bufferedBytes)
  if (needed <= Math.max(memory.bytes, MEDIA_BODY_BYTES)) return
  const more = needed - memory.bytes
  if (!memory.tryTake(more)) await memory.take(more, signal)
}

/** Collects the inputs of one body, and writes its files one after the other. */
class InputSpool {
  readonly byName = new Map<InputName, MediaInput[]>()
  readonly #options: Pick<SpoolOptions, 'prefix' | 'bytesMax' | 'takesIds'>
  readonly #ports: SpoolPorts
  #files = 0
  #open: { readonly name: InputName; readonly pipe: Pipe; readonly written: Promise<StoredFile> } | undefined

  constructor(options: Pick<SpoolOptions, 'prefix' | 'bytesMax' | 'takesIds'>, ports: SpoolPorts) {
    this.#options = options
    this.#ports = ports
  }

  async take(event: MediaBodyEvent): Promise<void> {
    switch (event.event) {
      case 'text':
        return this.#takeText(event.name, event.text)
      case 'file_start':
        return this.#start(event.name, event.mediaType)
      case 'file_bytes':
        return this.#write(event.bytes)
      case 'file_end':
        return this.#end()
      case 'file_invalid':
        return this.#drop()
    }
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.#drop()
    for (const value of [...this.byName.values()].flat())
      if (value.kind === 'file') await this.#ports.blobs.remove(value.file.key)
  }

  async #takeText(name: InputName, text: string): Promise<void> {
    const isText = isLink(text) || (this.#options.takesIds && isProviderId(text))
    // Base64 of an unknown format is still an input: the model may know it.
    const bytes = isText ? undefined : bytesOfUnknownFormat(text)
    if (bytes === undefined) return this.#add(name, { kind: 'text', text })
    this.#start(name)
    await this.#write(bytes)
    return this.#end()
  }

  async #write(bytes: Bytes): Promise<void> {
    const { space, signal } = this.#ports
    if (!space.tryTake(bytes.length)) await space.take(bytes.length, signal)
    await this.#open?.pipe.write(bytes)
  }

  #add(name: InputName, value: MediaInput): void {
    const values = this.byName.get(name)
    if (values === undefined) this.byName.set(name, [value])
    else values.push(value)
  }

  #start(name: InputName, mediaType = 'application/octet-stream'): void {
    const pipe = new Pipe()
    const key = `${this.#options.prefix}/in-${this.#files}`
    this.#files += 1
    const written = this.#ports.blobs
      .write(key, pipe, { bytesMax: this.#options.bytesMax })
      .then(({ sha256, bytes }) => ({ key, sha256, bytes, mediaType }))
    // A failure is handled at the end of the file. Until then it must not count as an unhandled rejection.
    written.catch(() => pipe.cancel())
    this.#open = { name, pipe, written }
  }

  async #end(): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    open.pipe.end()
    this.#add(open.name, { kind: 'file', file: await open.written })
  }

  /** A text that turns out not to be base64 is not an input. */
  async #drop(): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    open.pipe.fail(new Error('The input is not base64.'))
    const file = await open.written.catch(() => undefined)
    if (file !== undefined) await this.#ports.blobs.remove(file.key)
  }
}
