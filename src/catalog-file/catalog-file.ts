import { Document, isCollection, isMap, isScalar, visit } from 'yaml'
import type { CatalogSettings, Catalog } from '../domain/catalog/catalog.ts'
import { decodeCatalog, encodeCatalog } from '../domain/catalog/rows/catalog-rows.ts'
import { formatPath, problemSentence, PROBLEMS_MAX, type RowProblem } from '../domain/catalog/rows/problem.ts'
import { readYaml, type FilePosition } from './read-yaml.ts'

/** Enough for ten thousand rows. Parsing blocks the thread for at least half a second per million characters. */
export const FILE_LENGTH_MAX = 8 << 20

export type FileProblem = FilePosition & {
  /** For example `models[0].pricing.input_per_mtok`; empty for a problem of the whole file. */
  readonly field: string
  /** A sentence that says what is wrong with the field and how to fix it. */
  readonly message: string
}

export type ParsedCatalogFile =
  | { readonly ok: true; readonly catalog: CatalogSettings }
  /** In the order of the file, at most `PROBLEMS_MAX`. */
  | { readonly ok: false; readonly problems: readonly FileProblem[] }

/** Parses a catalog file in YAML or JSON. Returns the whole catalog, or all problems. */
export function parseCatalogFile(text: string): ParsedCatalogFile {
  if (text.length > FILE_LENGTH_MAX) {
    const message = `has ${text.length} characters`
    const remedy = `write at most ${FILE_LENGTH_MAX}`
    return refused([{ path: [], message, remedy, line: 1, column: 1 }])
  }
  const yaml = readYaml(text)
  if (yaml.problems.length > 0) return refused(yaml.problems)
  const decoded = decodeCatalog(yaml.value)
  if (decoded.ok) return { ok: true, catalog: decoded.value }
  return refused(decoded.problems.map(problem => Object.assign(yaml.positionOf(problem.path), problem)))
}

/** For example `line 12, column 7: models[0].pricing.input_per_mtok is a number; write it in quotes: "2.5".` */
export function formatFileProblem({ line, column, message }: FileProblem): string {
  return `line ${line}, column ${column}: ${message}`
}

function refused(problems: readonly (RowProblem & FilePosition)[]): ParsedCatalogFile {
  const inOrder = problems.toSorted((left, right) => left.line - right.line || left.column - right.column)
  return {
    ok: false,
    problems: inOrder.slice(0, PROBLEMS_MAX).map(problem => ({
      line: problem.line,
      column: problem.column,
      field: formatPath(problem.path),
      message: problemSentence(problem, 'The file'),
    })),
  }
}

/** Fields whose value is written on one line. */
const flowFields = new Set(['pricing', 'ceiling_pricing', 'fixed_params'])
/** The field of a price list with one price a line. */
const PRICES = 'prices'

/**
 * Writes the catalog as a file. Importing the file gives the same catalog. The file has no secrets: it has a
 * placeholder for a stored provider key, and an import keeps that key.
 */
export function formatCatalogFile(catalog: Catalog): string {
  const document = new Document(encodeCatalog(catalog), { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Pair(_, { key, value }) {
      if (!isCollection(value) || !isScalar(key)) return
      if (flowFields.has(String(key.value))) value.flow = true
      if (key.value !== PRICES || !isMap(value)) return
      for (const { value: price } of value.items) if (isCollection(price)) price.flow = true
    },
    Seq(_, list) {
      // Upstreams and value sets are written on one line. The items of the lists of rows have an id.
      list.flow = !list.items.some(item => isMap(item) && item.has('id'))
    },
  })
  return document.toString({ lineWidth: 0 })
}
