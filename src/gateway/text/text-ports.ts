import type { FailoverPorts } from '../upstreams/call-with-failover.ts'
import type { LateAnswers } from '../upstreams/late-answers.ts'
import type { SecretOf } from '../upstreams/upstream-secrets.ts'
import type { RefusedFields } from '../upstreams/refused-fields.ts'
import type { AdmitPorts } from './admit-text.ts'
import type { FinishingStreams } from './finishing-streams.ts'
import type { SettleTextPorts } from './settle-text.ts'

/** The ports for answering text requests. */
export type TextPorts = AdmitPorts &
  FailoverPorts &
  SettleTextPorts & {
    readonly lateAnswers: LateAnswers
    readonly finishingStreams: FinishingStreams
    readonly refusedFields: RefusedFields
    readonly secretOf: SecretOf
  }

/** The settings of text routes. */
export type TextSettings = {
  readonly readTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  readonly isSandboxOn: boolean
}
