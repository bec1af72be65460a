import { rowKinds } from '../../../domain/catalog/catalog-changes.ts'
import { ok, pageParameters, type Paths } from '../operation.ts'
import {
  about,
  anything,
  count,
  flag,
  dateTime,
  listOf,
  mapOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  words,
  type Members,
} from '../schema.ts'

const AT = '2026-11-21T05:50:09.183Z'

export const fieldChanges = listOf(object({ field: text, before: anything, after: anything }))

/** The rows that differ. */
export const rowChanges = {
  changes: listOf(
    object({
      kind: words(rowKinds),
      id: text,
      change: words(['added', 'changed', 'removed']),
      fields: fieldChanges,
      loses_key: flag,
    }),
  ),
  is_reordered: flag,
} as const satisfies Members

export const adminCatalogHistorySchemas: Members = {
  RevisionChanges: object({ from: count, to: count, ...rowChanges }),
  Revision: object({
    revision: count,
    actor: text,
    action: text,
    subject: text,
    at: dateTime,
    changes: about(
      'The rows that it changed, at most 100.',
      listOf(
        object({
          kind: words(rowKinds),
          id: text,
          change: words(['added', 'changed', 'removed']),
        }),
      ),
    ),
    change_count: about('The number of rows that it changed.', count),
  }),
  RowEdit: object({
    revision: count,
    actor: text,
    action: text,
    subject: text,
    at: dateTime,
    change: about(
      'What the edit did with the row. `moved` changed only its place in the list.',
      words(['added', 'changed', 'removed', 'moved']),
    ),
    fields: about('None for a row that was added, removed or moved. Secrets are not shown.', fieldChanges),
    loses_key: about('Whether the edit removed the stored key of a provider.', flag),
    row: about('The row after the edit. Null if the edit removed it.', nullable(mapOf(anything))),
  }),
}

const common = { tag: 'Admin: catalog', access: 'admin' } as const

/** The revisions of the catalog, how they differ, and the edits of one row. */
export const adminCatalogHistoryPaths: Paths = {
  'catalog/changes': {
    get: {
      ...common,
      id: 'compareRevisions',
      summary: 'The rows that differ between two revisions',
      parameters: [
        { name: 'from', in: 'query', description: 'A revision.', schema: count, example: 1 },
        {
          name: 'to',
          in: 'query',
          description: 'A revision. Default: the current one.',
          schema: count,
          example: 2,
        },
      ],
      replies: ok('The differences. Secrets are not shown.', ref('RevisionChanges'), {
        from: 1,
        to: 2,
        changes: [{ kind: 'model', id: 'gpt-x', change: 'added', fields: [], loses_key: false }],
        is_reordered: false,
      }),
      errors: ['invalid_field', 'not_found'],
    },
  },
  'catalog/history': {
    get: {
      ...common,
      id: 'listRevisions',
      summary: 'The revisions of the catalog, newest first',
      parameters: pageParameters,
      replies: ok('A page.', pageSchema(ref('Revision')), {
        data: [
          {
            revision: 2,
            actor: 'admin',
            action: 'catalog.replace',
            subject: 'catalog',
            at: AT,
            changes: [{ kind: 'model', id: 'gpt-x', change: 'added' }],
            change_count: 1,
          },
        ],
        has_more: false,
        next: null,
      }),
      errors: ['invalid_field'],
    },
  },
  'catalog/history/{kind}/{row}': {
    get: {
      ...common,
      id: 'listRowEdits',
      summary: 'The edits of one row of the catalog, newest first',
      parameters: [
        {
          name: 'kind',
          in: 'path',
          description: 'The kind of the row.',
          schema: words(rowKinds),
          example: 'model',
        },
        {
          name: 'row',
          in: 'path',
          description: 'The id of the row, which may have been deleted. Slashes may be escaped or not.',
          schema: text,
          example: 'gpt-x',
        },
        ...pageParameters,
      ],
      replies: ok('A page.', pageSchema(ref('RowEdit')), {
        data: [
          {
            revision: 2,
            actor: 'admin',
            action: 'model.put',
            subject: 'gpt-x',
            at: AT,
            change: 'changed',
            fields: [{ field: 'enabled', before: true, after: false }],
            loses_key: false,
            row: { id: 'gpt-x', kind: 'chat', enabled: false, upstreams: [] },
          },
        ],
        has_more: false,
        next: null,
      }),
      errors: ['invalid_field', 'not_found'],
    },
  },
}
