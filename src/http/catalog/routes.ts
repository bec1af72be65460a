import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import { modelNotFound } from '../../gateway/text/resolve-model.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type Handler, type Reply, type RequestContext } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { listModels, oneModel } from './list-models.ts'
import { isKnown, type PreparedJson } from './prepared-json.ts'
import { publicMediaModels, publicModels } from './public-catalog.ts'

/** What is listed: to everybody, and to the holder of a key. Neither has a model that cannot be called. */
export type Listings = {
  readonly forAll: () => Catalog
  readonly forCaller: (caller: Authenticated) => Catalog
}

type Keyed = (handle: (caller: Authenticated, context: RequestContext) => Reply | Promise<Reply>) => Handler

const ONE_MODEL = '/v1/models/'

/** The reads of the catalog: the list of models for holders of a key, and both priced catalogs for everybody. */
export function modelsRoutes({ forAll, forCaller }: Listings, keyed: Keyed): readonly Route[] {
  return [
    {
      path: '/v1/models',
      name: 'models',
      methods: { GET: keyed(caller => preparedReply(listModels(forCaller(caller)))) },
    },
    {
      path: `${ONE_MODEL}*`,
      name: 'model',
      methods: { GET: keyed((caller, { request }) => readModel(request, forCaller(caller), caller)) },
    },
    {
      path: '/cabinet/api/public/models',
      name: 'public.models',
      methods: { GET: ({ request }) => publicReply(request, publicModels(forAll())) },
    },
    {
      path: '/cabinet/api/public/media-models',
      name: 'public.media_models',
      methods: { GET: ({ request }) => publicReply(request, publicMediaModels(forAll())) },
    },
  ]
}

function readModel({ path }: IncomingRequest, catalog: Catalog, caller: Authenticated): Reply {
  const name = modelName(path.slice(ONE_MODEL.length))
  const model = oneModel(catalog, name)
  if (model === undefined) throw modelNotFound(name, caller)
  return jsonReply(200, model)
}

/** SDKs escape the slashes of a name, people do not. */
function modelName(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function preparedReply({ body }: PreparedJson): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

/** Pages of any origin may read it, and caches may keep it for half a minute. */
function publicReply(request: IncomingRequest, { etag, body }: PreparedJson): Reply {
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'public, max-age=30',
    'access-control-allow-origin': '*',
    etag,
  }
  return isKnown(etag, request.header('if-none-match'))
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body }
}
