import {
  formatTags,
  storedTags,
  type AttributedRequest,
  type Attribution,
} from '../../../domain/ledger/attribution.ts'

/** The columns of an attribution, in any table that has them. Null for none, as in most rows. */
export type AttributionColumns = {
  /** `team=a,feature=b`, in the order of the names. */
  tags: string | null
  user_id: string | null
}

/** An attribution with the row id of the key. */
export type AttributedColumns = AttributionColumns & { api_key_id: bigint }

export function attributionColumns({ tags, userId }: Attribution): AttributionColumns {
  return { tags: tags === undefined ? null : formatTags(tags), user_id: userId ?? null }
}

export function attributionFrom({ tags, user_id: userId }: AttributionColumns): Attribution {
  return {
    ...(tags === null ? {} : { tags: storedTags(tags) }),
    ...(userId === null ? {} : { userId }),
  }
}

export function attributedFrom(row: AttributedColumns): AttributedRequest {
  return { ...attributionFrom(row), apiKeyId: Number(row.api_key_id) }
}
