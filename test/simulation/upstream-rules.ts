import type { AcceptedJob, SubmitCall } from '../../src/gateway/ports/providers/media-provider.ts'
import { bytesOf } from '../support/byte-streams.ts'
import type { Asked } from '../support/simulators/media/dialect.ts'
import type { Gate } from './gate.ts'
import type { World } from './world.ts'

export const POLL_EVERY_MS = 2000

/** What a provider may expect of the gateway's calls. */
export class UpstreamRules {
  readonly #world: World
  readonly #submits = new Set<string>()
  readonly #lastPolls = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** A submit is made once, and only after the store has a mark of it. */
  expectFirstSubmit({ jobId }: SubmitCall): void {
    if (this.#submits.has(jobId)) this.#world.violated(`${jobId} was submitted twice`)
    if (!this.#world.isSubmitMarked(jobId))
      this.#world.violated(`${jobId} was submitted without a mark in the store`)
    this.#submits.add(jobId)
  }

  /** A submit sends at most one request. `requests` counts this one. */
  expectFirstRequest({ jobId }: SubmitCall, requests: number): void {
    if (requests > 1) this.#world.violated(`the submit of ${jobId} sent ${requests} requests`)
  }

  /** The provider reads what the gateway asked for. Some read a length where the request has none. */
  expectAsked({ jobId, prompt, durationMs, images, videos }: SubmitCall, asked: Asked): void {
    const inputs = images.length + videos.length
    const problems = [
      ...(asked.prompt === prompt ? [] : [`the prompt "${asked.prompt}" instead of "${prompt}"`]),
      ...(durationMs === undefined || asked.durationMs === durationMs
        ? []
        : [`${asked.durationMs} ms instead of ${durationMs}`]),
      ...(asked.inputs?.length === inputs ? [] : [`${asked.inputs?.length} inputs instead of ${inputs}`]),
    ]
    for (const problem of problems) this.#world.violated(`the provider read for ${jobId} ${problem}`)
  }

  /** Reads the inputs of a submit. False where one is gone, because the job was released meanwhile. */
  async readInputs({ jobId, images, videos }: SubmitCall, gate: Gate): Promise<boolean> {
    for (const input of [...images, ...videos]) {
      if (input.from !== 'bytes') continue
      await gate.network('input')
      const bytes = await input.open().then(bytesOf, () => undefined)
      if (bytes === undefined) {
        if (!this.#world.hasEnded(jobId))
          this.#world.violated(`an input of ${jobId} is gone, and the job is open`)
        return false
      }
      if (bytes.length !== input.bytes || !this.#world.isInput(bytes))
        this.#world.violated(`an input of ${jobId} is not what its client sent`)
    }
    return true
  }

  /**
   * One node keeps the pause between two polls of an open job, as far as the clocks of the nodes agree. A node that was
   * paused during a poll can find at once that the poll took too long, and that the next one is due.
   */
  expectPause({ upstreamId, jobId }: AcceptedJob, { process, nowMs }: Gate): void {
    if (this.#world.hasEnded(jobId)) return
    const pauseMs = POLL_EVERY_MS - Math.max(...this.#world.plan.chaos.skewsMs.map(Math.abs))
    const last = this.#lastPolls.get(`${process.name} ${upstreamId}`) ?? -Infinity
    if (nowMs < last + pauseMs && nowMs >= process.pausedUntilMs + pauseMs)
      this.#world.violated(`a node polled ${upstreamId} twice within ${pauseMs} ms`)
  }

  polled(upstreamId: string, { process, nowMs }: Gate): void {
    this.#lastPolls.set(`${process.name} ${upstreamId}`, nowMs)
  }
}
