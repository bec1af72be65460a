import fc from 'fast-check'
import { jsonMemberText, jsonObjectText } from './json-texts.ts'

/** What the conversion of a conversation must keep. */
export type Facts = {
  readonly system: readonly string[]
  readonly rounds: readonly RoundFacts[]
}

export type RoundFacts = {
  readonly assistantTexts: readonly string[]
  readonly calls: readonly { readonly id: string; readonly name: string; readonly argumentsText: string }[]
  readonly results: readonly {
    readonly id: string
    readonly text: string
    readonly images: readonly string[]
  }[]
  /** The user's texts beside the results. */
  readonly userTexts: readonly string[]
  readonly userImages: readonly string[]
}

/** A messages request and its content. */
export type Conversation = { readonly json: string; readonly facts: Facts }

type Round = {
  readonly assistantTexts: readonly string[]
  readonly calls: readonly {
    readonly name: string
    readonly argumentsText: string
    readonly idStart: string
  }[]
  readonly answers: readonly {
    readonly texts: readonly string[]
    readonly images: number
    readonly form: number
  }[]
  readonly userTexts: readonly string[]
  readonly userImages: number
  /** Random numbers that decide the places and the formats of blocks. Each choice uses the next one. */
  readonly dice: readonly number[]
}

const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.constantFrom('\ud83d', '\u2028', '</s>', '"', '\\u0000', 'x-anthropic-billing-header'),
)
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,16}$/)
const argumentsText = fc.array(jsonMemberText, { maxLength: 4 }).chain(jsonObjectText)

const round: fc.Arbitrary<Round> = fc.record({
  assistantTexts: fc.array(text, { maxLength: 3 }),
  calls: fc.array(fc.record({ name, argumentsText, idStart: name }), { maxLength: 4 }),
  answers: fc.array(
    fc.record({ texts: fc.array(text, { maxLength: 2 }), images: fc.nat(2), form: fc.nat(3) }),
    { minLength: 4, maxLength: 4 },
  ),
  userTexts: fc.array(text, { maxLength: 3 }),
  userImages: fc.nat(2),
  dice: fc.array(fc.nat(1_000), { minLength: 24, maxLength: 24 }),
})

/** Conversations that the contract allows, with every arrangement of calls, results, texts, images and noise. */
export const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.array(text, { maxLength: 3 }),
    rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  })
  .map(({ system, rounds }) => spell(system, rounds))

function spell(system: readonly string[], rounds: readonly Round[]): Conversation {
  const argumentTexts: string[] = []
  const turns: unknown[] = []
  const facts: RoundFacts[] = []
  const [first, ...later] = system
  for (const [index, played] of rounds.entries()) {
    const spelled = spellRound(played, index, argumentTexts)
    turns.push(...spelled.turns)
    facts.push(spelled.facts)
    const entry = later[index]
    if (entry !== undefined) {
      turns.push(
        index % 2 === 0 ? { role: 'system', content: entry } : { role: 'developer', content: [block(entry)] },
      )
    }
  }
  const body = {
    model: 'm',
    max_tokens: 100,
    ...(first === undefined
      ? {}
      : { system: [{ type: 'text', text: 'x-anthropic-billing-header: cc=1' }, block(first)] }),
    messages: turns,
  }
  // Arguments are inserted as text, because JSON.stringify would change them.
  const json = JSON.stringify(body).replaceAll(
    /"@@(\d+)@@"/g,
    (_whole, index) => argumentTexts[Number(index)]!,
  )
  return {
    json,
    facts: { system: first === undefined ? [] : [first, ...later.slice(0, rounds.length)], rounds: facts },
  }
}

function spellRound(round: Round, index: number, argumentTexts: string[]) {
  const dice = [...round.dice]
  const roll = (sides: number) => (dice.pop() ?? 0) % sides
  const calls = round.calls.map((call, at) => ({ ...call, id: `${call.idStart}_${index}_${at}` }))
  const uses = calls.map(({ id, name, argumentsText }) => ({
    type: 'tool_use',
    id,
    name,
    input: `@@${argumentTexts.push(argumentsText) - 1}@@`,
    caller: { type: 'direct' },
  }))
  const order = calls.map(({ id }, at) => ({ id, ...round.answers[at]! }))
  if (roll(2) === 1) order.reverse()
  const results = order.map(({ id, texts, images, form }, at) => {
    const links = Array.from({ length: images }, (_, image) => `https://x.test/r${index}_${at}_${image}.png`)
    const fact = { id, text: texts.join('\n\n'), images: links }
    return { fact, block: resultBlock(fact, texts, form) }
  })
  const userImages = Array.from(
    { length: round.userImages },
    (_, image) => `https://x.test/u${index}_${image}.png`,
  )
  const others: unknown[] = [...round.userTexts.map(block), ...userImages.map(imageBlock)]
  const mixed = interleave(
    results.map(result => result.block),
    others,
    roll,
  )
  const thinking = roll(2) === 0 ? [] : [{ type: 'thinking', thinking: 'hm', signature: 's' }]
  return {
    turns: [
      { role: 'assistant', content: [...thinking, ...round.assistantTexts.map(block), ...uses] },
      ...inTurns(mixed, roll),
    ],
    facts: {
      assistantTexts: round.assistantTexts,
      calls: calls.map(({ id, name, argumentsText }) => ({ id, name, argumentsText })),
      results: results.map(result => result.fact),
      userTexts: round.userTexts,
      userImages,
    },
  }
}

function resultBlock(
  fact: { id: string; text: string; images: readonly string[] },
  texts: readonly string[],
  form: number,
) {
  const head = { type: 'tool_result', tool_use_id: fact.id, ...(form === 3 ? { is_error: false } : {}) }
  if (fact.images.length > 0)
    return { ...head, content: [...texts.map(block), ...fact.images.map(imageBlock)] }
  if (texts.length === 0) return form === 0 ? head : { ...head, content: form === 1 ? '' : [] }
  return { ...head, content: form === 0 ? fact.text : texts.map(block) }
}

/** Both lists, randomly mixed, each in its order. */
function interleave(
  left: readonly unknown[],
  right: readonly unknown[],
  roll: (sides: number) => number,
): unknown[] {
  const mixed: unknown[] = []
  const [lefts, rights] = [[...left], [...right]]
  while (lefts.length > 0 || rights.length > 0) {
    const takesLeft = rights.length === 0 || (lefts.length > 0 && roll(2) === 0)
    mixed.push(takesLeft ? lefts.shift() : rights.shift())
  }
  return mixed
}

/** All blocks in one user turn, or in two. */
function inTurns(blocks: readonly unknown[], roll: (sides: number) => number): unknown[] {
  const cut = roll(3) === 0 ? roll(blocks.length + 1) : 0
  const parts = [blocks.slice(0, cut), blocks.slice(cut)].filter(part => part.length > 0)
  return parts.map(content => ({ role: 'user', content }))
}

function block(text: string) {
  return { type: 'text', text, cache_control: { type: 'ephemeral' } }
}

function imageBlock(url: string) {
  return { type: 'image', source: { type: 'url', url } }
}
