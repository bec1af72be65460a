/** The allowed durations of a clip: one of a set, or any value in a range, fractions included. */
export type Durations =
  | { readonly kind: 'set'; readonly seconds: readonly number[] }
  | { readonly kind: 'range'; readonly secondsMin: number; readonly secondsMax: number }

/**
 * The durations and inputs that a family of video models accepts. The public catalog does not show it; clients see it
 * in error messages only.
 */
export type Engine = {
  readonly durations: Durations
  /** The duration that is sent to the provider if a request has none. */
  readonly defaultSeconds: number
  /** Whether a request needs an input video, or the job that made one. */
  readonly requiresVideo: boolean
  /** Whether every row of this engine must pin one of its durations. */
  readonly requiresPin: boolean
}

export const engines = {
  'family-a': engine(range(4, 15), 5),
  'family-a-extend': engine(range(4, 15), 5, { requiresVideo: true }),
  'family-b': engine(range(3, 15), 5),
  'family-b-edit': engine(range(3, 10), 5, { requiresVideo: true }),
  'family-b-motion': engine(range(3, 10), 5, { requiresVideo: true }),
  'family-c': engine(set(5, 10), 5),
  'family-d-5': engine(set(5), 5),
  'family-d-10': engine(set(10), 10),
  'family-e': engine(set(4, 6, 8), 8),
  'family-e-extend': engine(set(8), 8, { requiresVideo: true }),
  'family-f': engine(set(4, 6, 8, 10), 4, { requiresPin: true }),
  'family-g': engine(set(6), 6),
  'family-g-extend': engine(set(6), 6, { requiresVideo: true }),
  storyboard: engine(range(6, 30), 6),
} as const satisfies Record<string, Engine>

export type EngineName = keyof typeof engines
export const engineNames = Object.keys(engines) as readonly EngineName[]

export function allowsDuration({ durations }: Engine, seconds: number): boolean {
  return durations.kind === 'set'
    ? durations.seconds.includes(seconds)
    : seconds >= durations.secondsMin && seconds <= durations.secondsMax
}

export function secondsMax({ durations }: Engine): number {
  return durations.kind === 'set' ? Math.max(...durations.seconds) : durations.secondsMax
}

/** For error messages: `4, 6 or 8`, or `4 to 15`. */
export function describeDurations({ durations }: Engine): string {
  if (durations.kind === 'range') return `${durations.secondsMin} to ${durations.secondsMax}`
  const [last, ...others] = durations.seconds.toReversed()
  return others.length === 0 ? `${last}` : `${others.toReversed().join(', ')} or ${last}`
}

function engine(
  durations: Durations,
  defaultSeconds: number,
  { requiresVideo = false, requiresPin = false } = {},
): Engine {
  return { durations, defaultSeconds, requiresVideo, requiresPin }
}

function set(...seconds: number[]): Durations {
  return { kind: 'set', seconds }
}

function range(secondsMin: number, secondsMax: number): Durations {
  return { kind: 'range', secondsMin, secondsMax }
}
