import { describe, expect, test } from 'bun:test'
import type { Bytes } from '../../../../src/domain/bytes.ts'
import { fakeClock } from '../../fake-clock.ts'
import { readMp4Duration } from '../../tiny-mp4.ts'
import type { SimulatedReply } from '../simulated-reply.ts'
import { klingDialect } from './kling.ts'
import { MediaSimulator } from './media-simulator.ts'

const JOB_MS = 5000

function open() {
  const clock = fakeClock()
  const filesUrl = () => 'http://files.test/files'
  const simulator = new MediaSimulator(klingDialect(), { clock, jobMs: JOB_MS, filesUrl })
  const request = (method: string, path: string, body: unknown = '') =>
    simulator.handle({
      method,
      path,
      headers: {},
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const create = (external_task_id: string) =>
    request('POST', '/v1/videos/text2video', { prompt: 'A bay', duration: '5', external_task_id })
  const query = (id: string) => request('GET', `/v1/videos/text2video/${encodeURIComponent(id)}`)
  return { clock, simulator, request, create, query }
}

describe('the simulated Kling API', () => {
  test('the simulated Kling API runs a job to its end, and charges for it', () => {
    const { clock, simulator, create, query } = open()

    const created = dataOf(create('vid_1'))
    clock.advance(JOB_MS / 2)
    const running = dataOf(query('vid_1'))
    clock.advance(JOB_MS / 2)
    const finished = dataOf(query('vid_1'))

    expect([created, running, finished].map(task => task['task_status'])).toEqual([
      'submitted',
      'processing',
      'succeed',
    ])
    expect(finished).toMatchObject({
      task_id: created['task_id'],
      task_info: { external_task_id: 'vid_1' },
      task_result: { videos: [{ duration: '5' }] },
      final_unit_deduction: '10',
    })
    expect(simulator.ledger()).toMatchObject([{ state: 'finished', unitsCharged: 1, creates: 1 }])
  })

  test('the simulated Kling API finds a job by either id, under its own kind only', () => {
    const { simulator, create, query, request } = open()
    create('vid_1')
    const taskId = simulator.ledger()[0]?.id ?? ''

    expect(dataOf(query(taskId))).toEqual(dataOf(query('vid_1')))
    expect(codeOf(request('GET', `/v1/videos/image2video/${taskId}`))).toBe(1203)
    expect(codeOf(query('vid_2'))).toBe(1203)
  })

  test('the simulated Kling API lists jobs in pages, the newest first', () => {
    const { create, request } = open()
    for (const id of ['vid_1', 'vid_2', 'vid_3']) create(id)

    const page = (number: number) =>
      jsonOf(request('GET', `/v1/videos/text2video?pageNum=${number}&pageSize=2`))['data'] as Record<
        string,
        unknown
      >[]

    const ids = [page(1), page(2)].map(tasks => tasks.map(task => task['task_info']))
    expect(ids).toEqual([
      [{ external_task_id: 'vid_3' }, { external_task_id: 'vid_2' }],
      [{ external_task_id: 'vid_1' }],
    ])
  })

  test('the simulated Kling API refuses an external id that it has', () => {
    const { simulator, create } = open()

    create('vid_1')

    expect(codeOf(create('vid_1'))).toBe(1201)
    expect(simulator.ledger()).toMatchObject([{ ourId: 'vid_1' }])
  })

  test('the simulated Kling API refuses a body that the API could not read', () => {
    const { simulator, request } = open()

    for (const body of ['', '{', '{}', { prompt: 'A', duration: 5 }, { prompt: 'A', duration: 'x' }])
      expect(codeOf(request('POST', '/v1/videos/text2video', body))).toBe(1201)
    expect(simulator.ledger()).toEqual([])
  })

  test('the simulated Kling API gives the clip of a job at its link', () => {
    const { clock, simulator, create, query, request } = open()
    simulator.scriptSubmits('clip_shorter')
    create('vid_1')
    clock.advance(JOB_MS)
    const { task_result } = dataOf(query('vid_1')) as { task_result: { videos: { url: string }[] } }

    const reply = request('GET', new URL(task_result.videos[0]?.url ?? '').pathname)

    expect(reply).toMatchObject({ send: 'answer', status: 200, headers: { 'content-type': 'video/mp4' } })
    expect(readMp4Duration(reply.send === 'answer' ? (reply.body as Bytes) : new Uint8Array())).toBe(3200)
  })
})

function jsonOf(reply: SimulatedReply): Record<string, unknown> {
  if (reply.send !== 'answer') throw new Error(`The simulator sent ${reply.send}.`)
  return JSON.parse(reply.body as string) as Record<string, unknown>
}

function dataOf(reply: SimulatedReply): Record<string, unknown> {
  return jsonOf(reply)['data'] as Record<string, unknown>
}

function codeOf(reply: SimulatedReply): unknown {
  return jsonOf(reply)['code']
}
