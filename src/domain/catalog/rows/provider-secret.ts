import { mediaKindRules, type ProviderKind, type ProviderSettings } from '../provider.ts'
import { fieldOf, reportField, type Row } from './row.ts'

/** Stands for a literal key in an exported row. On import it keeps the stored key. No real key looks like this. */
const STORED_SECRET = '<stored>'

const ENVIRONMENT = 'env:'
export const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const secretText = /^[\x21-\x7e]{1,4096}$/
const keyPair = /^[^,]+,[^,]+$/
/** How shells, Compose files and templates write a variable. A name in braces may have a prefix and a default. */
export const shellVariable = /^\$(?:[A-Z_][A-Z0-9_]*$|[({])|^\{\{|,\$\{|^%\w+%$/
const nameInBraces = /^\$\{(?:env[:.])?([A-Za-z_][A-Za-z0-9_]{0,127})(?::?-[^}]*)?\}$/

type Secret = ProviderSettings['secret']

/** The settings of the gateway, such as its admin key. An operator who edits providers may not know them. */
export const ownVariable = /^TOLLGATE_/i
export const OWN_VARIABLE_PROBLEM = {
  message: 'names a setting of the gateway, which would be sent to the provider',
  remedy: 'put the key of the provider into a variable of its own, such as env:MAIN_API_KEY',
} as const

/** The `api_key` of a provider's row. Stored rows may be older than the check of the variable. */
export function readSecret(
  row: Row,
  kind: ProviderKind,
  { isStored }: { readonly isStored: boolean },
): Secret {
  const secret = readAnySecret(row, kind)
  if (!isStored && variablesOf(secret).some(variable => ownVariable.test(variable)))
    reportField(row, 'api_key', OWN_VARIABLE_PROBLEM)
  return secret
}

function variablesOf(secret: Secret): readonly string[] {
  if (secret.from === 'environment') return [secret.variable]
  return secret.from === 'environment_pair' ? secret.variables : []
}

function readAnySecret(row: Row, kind: ProviderKind): Secret {
  const value = fieldOf(row, 'api_key')
  if (value === undefined) return { from: 'none' }
  if (value === STORED_SECRET) return { from: 'keep' }
  const isPair = mediaKindRules(kind)?.hasKeyPair === true
  // The messages never repeat the value: a wrong one may be almost the secret.
  if (typeof value === 'string' && shellVariable.test(value)) {
    const variable = nameInBraces.exec(value)?.[1] ?? 'NAME'
    const form = isPair ? 'env:ACCESS_KEY,env:SECRET_KEY' : `env:${variable}`
    const message = 'is written as a shell variable, and those are not expanded'
    reportField(row, 'api_key', { message, remedy: `write ${form}` })
    return { from: 'none' }
  }
  if (typeof value !== 'string' || !secretText.test(value)) {
    const remedy = 'write env:NAME for an environment variable, or the key itself without spaces, in quotes'
    reportField(row, 'api_key', { message: 'cannot be sent in a header', remedy })
    return { from: 'none' }
  }
  if (isPair) return readKeyPair(row, value)
  return value.startsWith(ENVIRONMENT) ? readVariable(row, value) : { from: 'literal', value }
}

function readVariable(row: Row, value: string): Secret {
  const variable = value.slice(ENVIRONMENT.length)
  if (variableName.test(variable)) return { from: 'environment', variable }
  const remedy = 'write env: and a name of letters, digits and "_", such as env:MAIN_API_KEY'
  reportField(row, 'api_key', { message: 'does not name an environment variable', remedy })
  return { from: 'none' }
}

/**
 * An access key and a secret key: in two environment variables, in one with a comma between them, or written out like
 * that.
 */
function readKeyPair(row: Row, value: string): Secret {
  if (value.startsWith(ENVIRONMENT) && !value.includes(',')) return readVariable(row, value)
  const parts = value.split(',')
  const [access = '', secret = ''] = parts.map(part => part.slice(ENVIRONMENT.length))
  const areVariables = parts.length === 2 && parts.every(part => part.startsWith(ENVIRONMENT))
  if (areVariables && variableName.test(access) && variableName.test(secret))
    return { from: 'environment_pair', variables: [access, secret] }
  if (!value.includes(ENVIRONMENT) && keyPair.test(value)) return { from: 'literal', value }
  const remedy = 'write env:ACCESS_KEY,env:SECRET_KEY, or both keys with a comma between them, in quotes'
  reportField(row, 'api_key', { message: 'is not an access key and a secret key', remedy })
  return { from: 'none' }
}

export function writeSecret(secret: Secret): string | undefined {
  switch (secret.from) {
    case 'none':
      return undefined
    case 'environment':
      return ENVIRONMENT + secret.variable
    case 'environment_pair':
      return secret.variables.map(variable => ENVIRONMENT + variable).join(',')
    case 'literal':
    case 'lost':
    case 'keep':
      return STORED_SECRET
  }
}
