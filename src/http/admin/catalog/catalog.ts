import { formatCatalogFile, formatFileProblem, parseCatalogFile } from '../../../catalog-file/catalog-file.ts'
import type { CatalogSettings } from '../../../domain/catalog/catalog.ts'
import { decodeCatalog } from '../../../domain/catalog/rows/catalog-rows.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { auditOf } from '../../../gateway/admin/operator.ts'
import { readBodyText, readJson, valueOf } from '../body.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { CatalogPorts } from '../ports.ts'
import { catalogBody, replaceCatalog } from './replace-catalog.ts'

const YAML = 'application/yaml'

/** The whole catalog. It is YAML if the request accepts it or has `?format=yaml`, and otherwise JSON. */
export async function getCatalog(
  { request, query }: AdminCall,
  { catalog }: CatalogPorts,
): Promise<BufferedReply> {
  const current = catalog.current()
  const wantsYaml = query.get('format') === 'yaml' || (request.header('accept') ?? '').includes(YAML)
  if (!wantsYaml) return adminReply(catalogBody(current))
  const headers = { 'content-type': YAML, 'cache-control': 'no-store' }
  return { status: 200, headers, body: formatCatalogFile(current) }
}

/** Replaces the whole catalog with the body, or changes nothing; see `replaceCatalog`. */
export async function putCatalog(
  { request, query, actor }: AdminCall,
  ports: CatalogPorts,
): Promise<BufferedReply> {
  const settings = isYaml(request)
    ? catalogOfFile(await readBodyText(request))
    : catalogOfJson(await readJson(request))
  const audit = auditOf({ actor, action: 'catalog.replace', subject: 'catalog' }, ports.clock)
  return replaceCatalog(settings, audit, { query, ports })
}

function isYaml(request: AdminCall['request']): boolean {
  return /^(application|text)\/(x-)?yaml\b/i.test(request.header('content-type') ?? '')
}

/** Throws `invalid_field`. The message has one line per problem, with its position in the file. */
function catalogOfFile(text: string): CatalogSettings {
  const parsed = parseCatalogFile(text)
  if (parsed.ok) return parsed.catalog
  const field = parsed.problems[0]?.field ?? ''
  throw new GatewayError(
    'invalid_field',
    parsed.problems.map(formatFileProblem).join('\n'),
    field === '' ? {} : { param: field },
  )
}

/** The members that replies add to the rows. A body may have them; they are ignored. */
const replyMembers = new Set(['revision', 'updated_at', 'missing_variables', 'warnings'])

function catalogOfJson(body: unknown): CatalogSettings {
  const rows =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? Object.fromEntries(Object.entries(body).filter(([name]) => !replyMembers.has(name)))
      : body
  return valueOf(decodeCatalog(rows))
}
