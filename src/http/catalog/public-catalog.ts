import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { MediaModel, Model, TextModel } from '../../domain/catalog/model.ts'
import { writeImagePricing } from '../../domain/catalog/rows/image-pricing.ts'
import { writeTextPricing } from '../../domain/catalog/rows/pricing-row.ts'
import { formatUsd } from '../../domain/money.ts'
import { preparedOnce } from './prepared-json.ts'

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

function enabledModels({ models }: Catalog): Model[] {
  return [...models.values()].filter(model => model.enabled)
}

function frame({ revision, updatedAtMs }: Catalog, data: readonly object[]) {
  return {
    object: 'list',
    currency: 'USD',
    revision,
    updated_at: new Date(updatedAtMs).toISOString(),
    data,
  }
}

/** A limit is null if the row or the kind of model does not have it. */
function textBody(model: TextModel): object {
  const { id, kind, displayName, description, pricing } = model
  return {
    id,
    kind,
    display_name: displayName,
    description,
    context_window: model.contextWindow ?? null,
    max_output_tokens: model.kind === 'chat' ? model.maxOutputTokens : null,
    pricing: writeTextPricing(pricing, kind).pricing,
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
    pricing: isVideo ? { per_second: formatUsd(model.pricing.perSecond) } : writeImagePricing(model.pricing),
    params: model.params,
    fixed_params: model.fixedParams,
    hold_duration_seconds: isVideo ? model.holdDurationSeconds : null,
  }
}
