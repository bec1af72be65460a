import { describe, expect, test } from 'bun:test'
import { mediaInputsOf, withNotes } from './media-inputs.ts'

const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
const pdf = {
  type: 'document',
  title: 'Plan.pdf',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
}
const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] })

describe('the first place of each kind of media', () => {
  test.each<[string, object, object]>([
    ['a chat image', said({ type: 'text' }, { type: 'image_url' }), { image: 'messages[0].content[1]' }],
    ['chat audio', said({ type: 'input_audio' }), { audio: 'messages[0].content[0]' }],
    ['a chat video', said({ type: 'video_url', video_url: {} }), { file: 'messages[0].content[0]' }],
    ['a chat file', said({ type: 'file', file: {} }), { file: 'messages[0].content[0]' }],
    [
      'a chat tool message',
      { messages: [{ role: 'tool', content: [{ type: 'image_url' }] }] },
      { image: 'messages[0].content[0]' },
    ],
    [
      'a message of the responses route',
      { input: ['a', { role: 'user', content: [{ type: 'input_image' }, { type: 'input_file' }] }] },
      { image: 'input[1].content[0]', file: 'input[1].content[1]' },
    ],
    [
      'the output of a function',
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image' }] }] },
      { image: 'input[0].output[0]' },
    ],
    [
      'a screenshot',
      { input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot' } }] },
      { image: 'input[0].output' },
    ],
    [
      'a messages block',
      said(image, pdf),
      { image: 'messages[0].content[0]', file: 'messages[0].content[1]' },
    ],
    [
      'the result of a tool',
      said({ type: 'tool_result', content: [{ type: 'text' }, image] }),
      { image: 'messages[0].content[0].content[1]' },
    ],
    [
      'a document of blocks',
      said({ type: 'document', source: { type: 'content', content: [image] } }),
      { image: 'messages[0].content[0].source.content[0]' },
    ],
    ['two images', said(image, image), { image: 'messages[0].content[0]' }],
  ])('the first place of each kind of media is found: %s', (_, body, places) => {
    expect(Object.fromEntries(mediaInputsOf(body as never))).toEqual(places as never)
  })

  test.each<[string, object]>([
    ['text', said({ type: 'text', text: '{"type":"image"}' })],
    ['a document of text', said({ type: 'document', source: { type: 'text', data: 'a' } })],
    ['the input of a tool', said({ type: 'tool_use', input: { content: [image] } })],
    ['a part of an unknown type', said({ type: 'hologram' })],
    ['a schema of a tool', { tools: [{ content: [image] }], ...said() }],
    ['content that is not a list', { messages: [{ content: image }, null, 7], input: 'type' }],
  ])('%s has none', (_, body) => {
    expect(mediaInputsOf(body as never).size).toBe(0)
  })

  test('parts nested deeper than any API has are not looked for', () => {
    let content: object[] = [image]
    for (let depth = 0; depth < 100_000; depth += 1) content = [{ type: 'tool_result', content }]

    expect(mediaInputsOf(said(...content)).size).toBe(0)
  })
})

describe('notes', () => {
  test('notes replace each part of these kinds, and say what was left out', () => {
    const body = said({ type: 'text', text: 'a' }, image, pdf, {
      type: 'tool_result',
      tool_use_id: 't',
      content: [image],
    })

    expect(withNotes(body, new Set(['image', 'file']))).toEqual(
      said(
        { type: 'text', text: 'a' },
        { type: 'text', text: '[An image was left out here, because this model does not read images.]' },
        {
          type: 'text',
          text: '[The file "Plan.pdf" was left out here, because this model does not read files.]',
        },
        {
          type: 'tool_result',
          tool_use_id: 't',
          content: [
            { type: 'text', text: '[An image was left out here, because this model does not read images.]' },
          ],
        },
      ),
    )
  })

  test('notes leave other kinds, and the body that they are made from, as they are', () => {
    const body = said(image, pdf)
    const before = structuredClone(body)

    const noted = withNotes(body, new Set(['file']))

    expect(body).toEqual(before)
    expect((noted as typeof body).messages[0]!.content[0]).toBe(image)
    expect(withNotes(body, new Set())).toBe(body)
  })

  test('notes shorten a long title', () => {
    const noted = withNotes(said({ ...pdf, title: 'x'.repeat(5000) }), new Set(['file']))

    expect(JSON.stringify(noted).length).toBeLessThan(500)
  })
})
