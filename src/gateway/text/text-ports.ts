import type { CallerSignal } from '../ports/caller-signal.ts'
import type { TimeoutSettings } from '../upstreams/timeouts.ts'
import type { SecretOf } from '../upstreams/upstream-secrets.ts'
import type { RefusedFields } from '../upstreams/refused-fields.ts'
import type { AdmitPorts } from './admit-text.ts'
import type { CallUpstreamsPorts } from './call-upstreams.ts'
import type { FinishingStreams } from './streams/finishing-streams.ts'
import type { LateAnswers } from './late-answers.ts'
import type { SettleTextPorts } from './settle-text.ts'

/** The ports for answering text requests. */
export type TextPorts = AdmitPorts &
  CallUpstreamsPorts &
  SettleTextPorts & {
    readonly lateAnswers: LateAnswers
    readonly finishingStreams: FinishingStreams
    /** Fires when a stop of the gateway no longer waits for answers that are finished without their clients. */
    readonly stopSignal: CallerSignal
    readonly refusedFields: RefusedFields
    readonly secretOf: SecretOf
  }

/** The settings of text routes. */
export type TextSettings = TimeoutSettings & { readonly isSandboxOn: boolean }
