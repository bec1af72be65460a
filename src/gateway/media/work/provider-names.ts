import type { Job } from '../../../domain/jobs/job.ts'

/**
 * Companies whose models the kinds of providers serve, and their products. A provider of many vendors' models passes
 * the errors of each on, so this is one list for all kinds.
 */
const VENDORS = [
  'Alibaba',
  'Azure',
  'Bedrock',
  'Black Forest Labs',
  'ByteDance',
  'BytePlus',
  'DashScope',
  'DeepMind',
  'Doubao',
  'fal',
  'Gemini',
  'GeminiGen',
  'Google',
  'Hailuo',
  'Hunyuan',
  'Ideogram',
  'Kling',
  'KlingAI',
  'Kuaishou',
  'Luma',
  'Midjourney',
  'MiniMax',
  'ModelArk',
  'OpenAI',
  'Recraft',
  'Replicate',
  'Runway',
  'RunwayML',
  'Seedance',
  'Seedream',
  'Stability AI',
  'Tencent',
  'Veo',
  'Vertex AI',
  'Volcengine',
  'xAI',
] as const

/** They are English words too, so only the capitalized form is a name. */
const WORDS: ReadonlySet<string> = new Set(['gemini', 'replicate', 'runway'])

const VENDOR_NAME = '[provider]'

const vendors = alternatives(VENDORS)

/**
 * A text of a provider without names of vendors, and with the catalog's name of the job's model in place of the
 * provider's. The names of hosts are not looked for here.
 */
export function withoutProviderNames(
  text: string,
  { model, upstreamModel }: Pick<Job, 'model' | 'upstreamModel'>,
): string {
  // In one pass, so that the catalog's name stays as it is, even if it has the name of a vendor in it.
  const pattern = `(?<own>${bounded(escaped(model))})|(?<model>${upstreamPattern(upstreamModel)})|(?<vendor>${vendors})`
  return text.replace(new RegExp(pattern, 'gi'), (found, ...rest) => {
    const { own, model: upstream } = rest.at(-1) as Readonly<Record<string, string | undefined>>
    if (own !== undefined) return found
    if (upstream !== undefined) return model
    return WORDS.has(found) ? found : VENDOR_NAME
  })
}

/**
 * The provider's name of a model, as its errors have it: whole, without a version behind a colon, or without its first
 * part. A name that may be an English word, such as `image`, counts only in quotes or behind the word "model".
 */
function upstreamPattern(name: string): string {
  const [unversioned = ''] = name.split(':')
  const names = [name, unversioned, unversioned.slice(unversioned.indexOf('/') + 1)]
  return names
    .filter(part => part !== '')
    .map(part =>
      /^[a-z]*$/i.test(part)
        ? `(?<=["'\`])${escaped(part)}(?=["'\`])|(?<=\\bmodel[ :=]{1,2})${bounded(escaped(part))}`
        : bounded(escaped(part)),
    )
    .join('|')
}

function alternatives(names: readonly string[]): string {
  // The longest first: an expression takes the first alternative that fits.
  const sorted = names.toSorted((left, right) => right.length - left.length)
  return bounded(`(?:${sorted.map(name => escaped(name).replaceAll(' ', '[ -]?')).join('|')})`)
}

/** Not a part of a longer word. A version may follow directly. */
function bounded(pattern: string): string {
  return `(?<![a-z0-9])${pattern}(?![a-z])`
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
