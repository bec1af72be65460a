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

/** The `api_key` of a provider's row. */
export function readSecret(row: Row, kind: ProviderKind): Secret {
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
