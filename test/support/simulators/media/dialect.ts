import type { Bytes } from '../../../../src/domain/bytes.ts'
import type { SimulatedReply } from '../simulated-reply.ts'
import type { ErrorAnswer, ErrorName } from './behaviors.ts'

/** The API of one provider: how it reads requests, and how it writes what the simulator knows. */
export type Dialect = {
  /** The path of its control API is `/__sim/NAME/`. */
  readonly name: string
  /** The answer to a submit is the result. */
  readonly isSynchronous?: boolean
  read(request: ReadableRequest, context: DialectContext): Call
  created(job: JobView, context: DialectContext): SimulatedReply
  /** A success that names no job. */
  createdWithoutId(): SimulatedReply
  /** The answer to a question about a job. `about` is that of the call. */
  task(job: JobView, context: DialectContext & { readonly about: string | undefined }): SimulatedReply
  /** An error as the provider writes it. */
  error(name: ErrorName, answer: ErrorAnswer): SimulatedReply
  /** The id of the job with this number. */
  idOf(number: number): string
}

export type DialectContext = {
  /** The address of the API, without a path. */
  readonly url: string
  /** All jobs that the provider has and shows, oldest first. */
  readonly jobs: readonly JobView[]
}

export type ReadableRequest = {
  readonly method: string
  readonly pathname: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a request to the API is. */
export type Call = { readonly key: string | undefined } & (
  | { readonly call: 'create'; readonly asked: Asked | undefined }
  /** `about` is for providers with more than one question. */
  | { readonly call: 'query'; readonly id: string; readonly about?: string }
  /** A request whose answer does not depend on scripts. */
  | { readonly call: 'other'; readonly reply: SimulatedReply }
  /** The file of an output, behind the key. */
  | { readonly call: 'file'; readonly file: string }
  | { readonly call: 'unknown' }
)

/** What a submit asks for, as far as the simulator looks at it. */
export type Asked = {
  readonly prompt: string
  readonly durationMs?: number
  /** Our id, where the provider takes one. */
  readonly ourId?: string
  /** The inputs, decoded from base64, or as links. */
  readonly inputs?: readonly (string | Bytes)[]
  /** What else the dialect wants to write into its replies. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A job as the provider shows it now. */
export type JobView = {
  readonly id: string
  /** Its place among all jobs of the simulator. */
  readonly number: number
  readonly asked: Asked
  readonly acceptedAtMs: number
  readonly updatedAtMs: number
  readonly state: 'queued' | 'running' | 'finished' | 'failed' | 'filtered'
  /** In place of the status: a word that no document of the provider names, or none. */
  readonly status: 'known' | 'unknown' | 'none'
  /** Undefined where the reply has no list of results. */
  readonly outputs: readonly OutputView[] | undefined
  /** A number of seconds, or what the provider writes in its place. */
  readonly seconds: unknown
}

export type OutputView = {
  /** The name of the file for providers whose links are on their own host. */
  readonly file: string
  readonly url: string
  readonly isOwn: boolean
  readonly bytes?: Bytes
}
