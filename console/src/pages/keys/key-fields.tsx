/** What a key may use, as fields of a form: models, routes and addresses, and the end of a key. */
import { CheckField, TextArea, TextField, type FormValues } from '../../parts/form.tsx'
import type { components } from '../../api/schema.d.ts'
import { keysTexts } from './texts.ts'

const words = keysTexts

export type ListedKey = components['schemas']['ApiKey']
export type LimitedKey = components['schemas']['LimitedKey']
export type KeyRoute = NonNullable<ListedKey['routes']>[number]

export const routes = [
  'chat_completions',
  'responses',
  'messages',
  'embeddings',
  'images',
  'videos',
] as const satisfies readonly KeyRoute[]

/** What a key is restricted to. Null restricts nothing. */
export type Restrictions = Pick<ListedKey, 'models' | 'routes' | 'allowed_addresses'>

/** `prefix` is the place of the fields in the body of the request. */
export function RestrictionFields({
  restrictions,
  prefix = '',
}: {
  readonly restrictions?: Restrictions
  readonly prefix?: string
}) {
  return (
    <>
      <TextArea
        label={words.models}
        name={`${prefix}models`}
        hint={words.modelsHint}
        defaultValue={restrictions?.models?.join('\n')}
      />
      <fieldset class="fields">
        <legend>{words.routes}</legend>
        {routes.map(route => (
          <CheckField
            key={route}
            label={words.routeNames[route]}
            name={`${prefix}routes.${route}`}
            isChecked={restrictions?.routes?.includes(route) === true}
          />
        ))}
      </fieldset>
      <TextArea
        label={words.addresses}
        name={`${prefix}allowed_addresses`}
        hint={words.addressesHint}
        defaultValue={restrictions?.allowed_addresses?.join('\n')}
      />
    </>
  )
}

/** Empty fields restrict nothing. */
export function restrictionsIn(values: FormValues, prefix = ''): Restrictions {
  const chosen = routes.filter(route => values[`${prefix}routes.${route}`] !== undefined)
  return {
    models: linesOf(values[`${prefix}models`]),
    routes: chosen.length === 0 ? null : chosen,
    allowed_addresses: linesOf(values[`${prefix}allowed_addresses`]),
  }
}

/** The lines of a text; null without any. */
export function linesOf(text = ''): string[] | null {
  const lines = text.split(/[\n,]/).flatMap(line => line.trim() || [])
  return lines.length === 0 ? null : lines
}

export function ExpiryField({ at }: { readonly at: string | null }) {
  return (
    <TextField
      label={words.expires}
      name="expires_at"
      type="datetime-local"
      hint={words.expiresHint}
      defaultValue={at === null ? undefined : localTime(at)}
    />
  )
}

/** The expiry of the field, which is in the time zone of the browser. */
export function expiryIn({ expires_at: text = '' }: FormValues): string | null {
  return text === '' ? null : new Date(text).toISOString()
}

/** As the field has it, such as `2026-11-23T21:15`. */
function localTime(iso: string): string {
  const at = new Date(iso)
  const two = (part: number) => String(part).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** What a key is restricted to, as names and values. `free` is said of what is not. */
export function restrictionFacts(
  { models, routes, allowed_addresses: addresses }: Restrictions,
  free: string = words.every,
) {
  return [
    [words.models, models?.join(', ') ?? free],
    [words.routes, routes?.map(route => words.routeNames[route]).join(', ') ?? free],
    [words.addresses, addresses?.join(', ') ?? free],
  ] as const
}
