import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import { preparedOnce } from './prepared-json.ts'

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

function modelBody({ id, kind, displayName, ownedBy, createdAtMs }: Model) {
  return {
    id,
    object: 'model',
    created: Math.floor(createdAtMs / 1000),
    owned_by: ownedBy,
    kind,
    display_name: displayName,
    type: 'model',
    created_at: new Date(createdAtMs).toISOString(),
  }
}
