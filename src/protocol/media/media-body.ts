import type { StoredFile } from '../../domain/jobs/job.ts'
import type { InputName } from './input-names.ts'

/** The body of a media request: its media inputs, and all other members, which are small. */
export type MediaBody = {
  /** The members that are not media inputs. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The approximate memory of the body. */
  readonly keptBytes: number
  readonly inputs: ReadonlyMap<InputName, readonly MediaInput[]>
}

/** One value of a media input. */
export type MediaInput =
  /** A link, a provider's id, or something that is neither. */
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes that came as base64, as a data URL or as a file part, already in the blob store. */
  | { readonly kind: 'file'; readonly file: StoredFile }
