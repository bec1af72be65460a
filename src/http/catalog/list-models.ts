import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import { preparedOnce } from './prepared-json.ts'

/** `GET /v1/models`: every model that is on, of every kind, in the shape that both families of SDKs parse. */
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

/** `GET /v1/models/{id}`; undefined where no model that is on has this name. A provider prefix is folded away. */
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
