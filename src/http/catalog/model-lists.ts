import { createHash } from 'node:crypto'
import type { Bytes } from '../../domain/bytes.ts'
import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model, MediaModel, TextModel } from '../../domain/catalog/model.ts'
import { writeImagePricing } from '../../domain/catalog/rows/image-pricing.ts'
import { writeTextPricing } from '../../domain/catalog/rows/pricing-row.ts'
import { formatUsd } from '../../domain/money.ts'
import { instant } from '../../domain/time.ts'

/** `GET /v1/models`: all models that are on, in a shape that the OpenAI and Anthropic SDKs parse. */
export const listModels = preparedOnce(catalog => {
  const data = [...catalog.models.values()].filter(model => model.enabled).map(modelBody)
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
})

/** `GET /v1/models/{id}`. A provider prefix in the name is ignored. Undefined if no model that is on has this name. */
export function oneModel(catalog: Catalog, name: string): object | undefined {
  const model = findModel(catalog, name)
  return model?.enabled === true ? modelBody(model) : undefined
}

/**
 * Both families of SDKs know some of the limits, under different names: `max_input_tokens` and `max_tokens` are
 * Anthropic's. What the row does not say is null.
 */
function modelBody(model: Model) {
  const { id, kind, displayName, ownedBy, createdAtMs } = model
  const contextWindow = kind === 'chat' || kind === 'embedding' ? (model.contextWindow ?? null) : null
  const maxOutputTokens = kind === 'chat' ? model.maxOutputTokens : null
  return {
    id,
    object: 'model',
    created: Math.floor(createdAtMs / 1000),
    owned_by: ownedBy,
    kind,
    display_name: displayName,
    type: 'model',
    created_at: instant(createdAtMs),
    context_window: contextWindow,
    max_input_tokens: contextWindow,
    max_output_tokens: maxOutputTokens,
    max_tokens: maxOutputTokens,
    inputs: kind === 'chat' ? (model.inputs ?? null) : null,
    pricing: publicPricing(model),
  }
}

/** `GET /cabinet/api/public/models`: the text models that are on, with their prices. */
export const publicModels = preparedOnce(catalog =>
  frame(
    catalog,
    enabledModels(catalog)
      .filter(model => model.kind === 'chat' || model.kind === 'embedding')
      .map(textBody),
  ),
)

/** `GET /cabinet/api/public/media-models`: the image and video models that are on, with their prices. */
export const publicMediaModels = preparedOnce(catalog =>
  frame(
    catalog,
    enabledModels(catalog)
      .filter(model => model.kind === 'image' || model.kind === 'video')
      .map(mediaBody),
  ),
)

/** The prices that customers see: without the markup and the ceiling of `upstream_cost`. */
function publicPricing(model: Model): object | 'free' | 'upstream_cost' {
  switch (model.kind) {
    case 'chat':
    case 'embedding':
      return writeTextPricing(model.pricing, model.kind).pricing
    case 'image':
      return writeImagePricing(model.pricing)
    case 'video':
      return { per_second: formatUsd(model.pricing.perSecond) }
  }
}

function enabledModels({ models }: Catalog): Model[] {
  return [...models.values()].filter(model => model.enabled)
}

function frame({ revision, updatedAtMs }: Catalog, data: readonly object[]) {
  return {
    object: 'list',
    currency: 'USD',
    revision,
    updated_at: instant(updatedAtMs),
    data,
  }
}

/** A limit is null if the row or the kind of model does not have it. */
function textBody(model: TextModel): object {
  const { id, kind, displayName, description } = model
  return {
    id,
    kind,
    display_name: displayName,
    description,
    context_window: model.contextWindow ?? null,
    max_output_tokens: model.kind === 'chat' ? model.maxOutputTokens : null,
    pricing: publicPricing(model),
  }
}

/** Images have no durations. The engine of a video model and its required inputs are not shown. */
function mediaBody(model: MediaModel): object {
  const isVideo = model.kind === 'video'
  return {
    id: model.id,
    kind: model.kind,
    display_name: model.displayName,
    description: model.description,
    pricing: publicPricing(model),
    params: model.params,
    fixed_params: model.fixedParams,
    hold_duration_seconds: isVideo ? model.holdDurationSeconds : null,
  }
}

/** A JSON body as bytes, with its ETag. */
export type PreparedJson = { readonly etag: string; readonly body: Bytes }

/** 128 bits of the hash: short, and enough to make collisions impossible in practice. */
const ETAG_LENGTH = 22

/** Renders a catalog once per revision, and returns the same body for later requests. */
function preparedOnce(render: (catalog: Catalog) => unknown): (catalog: Catalog) => PreparedJson {
  // An edit creates a new catalog. The bytes of the old one are collected with it.
  const bodies = new WeakMap<Catalog, PreparedJson>()
  return catalog => {
    let prepared = bodies.get(catalog)
    if (prepared === undefined) {
      prepared = prepareJson(render(catalog))
      bodies.set(catalog, prepared)
    }
    return prepared
  }
}

function prepareJson(value: unknown): PreparedJson {
  const body = new TextEncoder().encode(JSON.stringify(value))
  const hash = createHash('sha256').update(body).digest('base64url')
  return { etag: `"${hash.slice(0, ETAG_LENGTH)}"`, body }
}
