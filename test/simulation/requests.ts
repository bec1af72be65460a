import type { Bytes } from '../../src/domain/bytes.ts'
import type { JobKind } from '../../src/domain/jobs/job.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { MediaRequest } from './media-request.ts'
import type { Random } from './random.ts'
import { models } from './template.ts'
import type { World } from './world.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Few, so that several requests have the same key. */
const KEYS = 6

type Context = { readonly world: World; readonly random: Random }

/** Any valid request for any media model. */
export function aRequest(caller: Authenticated, { world, random }: Context): MediaRequest {
  const { id: model, kind } = random.pick(models)
  const { waitMsMax } = world.settings
  const asked = kind === 'image' ? imageFields(random) : videoFields(model, random)
  const fields = {
    model,
    prompt: `prompt ${random.integer(1, 3)}`,
    ...asked,
    ...inputs(kind, { world, random }),
  }
  const isWaiting = kind === 'image' || random.chance(0.4)
  return {
    kind,
    caller,
    body: new TextEncoder().encode(JSON.stringify(fields)),
    idempotencyKey: random.chance(0.5) ? `key-${random.integer(1, KEYS)}` : undefined,
    waitMs: isWaiting ? waitMsMax : null,
  }
}

function imageFields(random: Random) {
  return random.chance(0.5) ? {} : { n: random.integer(1, 4), aspect_ratio: '16:9' }
}

function videoFields(model: string, random: Random) {
  if (model.startsWith('pinned')) return random.chance(0.5) ? {} : { duration: 8 }
  return random.chance(0.3) ? {} : { duration: random.pick([3, 4.5, 7, 3.333, 15]) }
}

function inputs(kind: JobKind, context: Context) {
  const { random } = context
  if (random.chance(0.5)) return {}
  const image = Array.from({ length: random.integer(1, 2) }, () => anInput(kind, context))
  return kind === 'video' && random.chance(0.3) ? { image, video: aLink(kind, context) } : { image }
}

/** A link, or a picture of a few bytes or of several pieces. */
function anInput(kind: JobKind, context: Context): string {
  if (context.random.chance(0.3)) return aLink(kind, context)
  return `data:image/png;base64,${aPicture(context).toBase64()}`
}

/** The links of video requests are fetched. Those of image requests never are. */
function aLink(kind: JobKind, context: Context): string {
  const { world, random } = context
  if (kind === 'image') return 'https://never-opened.example/1'
  return world.files.offer(aPicture(context), { fromMs: world.scheduler.nowMs, random })
}

function aPicture({ world, random }: Context): Bytes {
  const bytes = Uint8Array.from([...PNG, ...random.bytes(random.chance(0.2) ? 15_000 : 20)])
  world.addInput(bytes)
  return bytes
}
