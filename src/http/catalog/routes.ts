import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import { modelNotFound } from '../../gateway/admission/callable-model.ts'
import type { Keyed } from '../caller.ts'
import { isKnown, type IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type Handler, type HttpReply } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { listModels, oneModel, type PreparedJson, publicMediaModels, publicModels } from './model-lists.ts'

/** The catalogs to list: without a key, and for the caller of a key. They have only models that can be called. */
export type Listings = {
  readonly forAll: () => Catalog
  readonly forCaller: (caller: Authenticated) => Catalog
}

const ONE_MODEL = '/v1/models/'

/** Finds the caller of a request that needs no key. Undefined without a key, and for one that is not known. */
type FindCaller = (request: IncomingRequest) => Promise<Authenticated | undefined>

/**
 * The routes that read the catalog: the models (with a key), and the two public lists of prices. Each has the prices of
 * the account of the key, and the public ones have the default prices without a key that is known.
 */
export function modelsRoutes(
  { forAll, forCaller }: Listings,
  keyed: Keyed,
  findCaller: FindCaller,
): readonly Route[] {
  const publicList =
    (list: (catalog: Catalog) => PreparedJson): Handler =>
    async ({ request }) => {
      const caller = await findCaller(request)
      return caller === undefined
        ? publicReply(request, list(forAll()), 'public')
        : publicReply(request, list(forCaller(caller)), 'private')
    }
  return [
    {
      path: '/v1/models',
      name: 'models',
      methods: { GET: keyed(async caller => preparedReply(listModels(forCaller(caller)))) },
    },
    {
      path: `${ONE_MODEL}*`,
      name: 'model',
      methods: { GET: keyed(async (caller, { request }) => readModel(request, forCaller(caller), caller)) },
    },
    {
      path: '/cabinet/api/public/models',
      name: 'public.models',
      methods: { GET: publicList(publicModels) },
    },
    {
      path: '/cabinet/api/public/media-models',
      name: 'public.media_models',
      methods: { GET: publicList(publicMediaModels) },
    },
  ]
}

function readModel({ path }: IncomingRequest, catalog: Catalog, caller: Authenticated): HttpReply {
  const name = modelName(path.slice(ONE_MODEL.length))
  const model = oneModel(catalog, name)
  // The catalog has only models that can be called here.
  if (model === undefined) throw modelNotFound(name, { catalog, caller, isSandboxOn: true, kind: undefined })
  const reply = jsonReply(200, model)
  return { ...reply, headers: { ...reply.headers, ...PRIVATE } }
}

/** A name may have its slashes escaped or not. SDKs escape them. */
function modelName(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The headers in which a request can have a key. */
const VARY = 'authorization, x-api-key, api-key'

/** The prices of one account. A client may keep them, but no shared cache. */
const PRIVATE = { 'cache-control': 'private', vary: VARY }

function preparedReply({ body }: PreparedJson): HttpReply {
  return { status: 200, headers: { 'content-type': 'application/json', ...PRIVATE }, body }
}

/**
 * Web pages of any origin may read it. It may be cached for 30 seconds, but the list for one key must not be given to
 * another one.
 */
function publicReply(
  request: IncomingRequest,
  { etag, body }: PreparedJson,
  cache: 'public' | 'private',
): HttpReply {
  const headers = {
    'content-type': 'application/json',
    'cache-control': `${cache}, max-age=30`,
    vary: VARY,
    'access-control-allow-origin': '*',
    etag,
  }
  return isKnown(etag, request.header('if-none-match'))
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body }
}
