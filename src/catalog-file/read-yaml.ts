import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Node,
  type Pair,
  type ParsedNode,
} from 'yaml'
import type { Path, RowProblem } from '../domain/catalog/rows/problem.ts'

/** Starts at line 1, column 1. */
export type FilePosition = { readonly line: number; readonly column: number }

export type YamlText = {
  /** Plain mappings, lists and scalars. Use it only if there are no problems. */
  readonly value: unknown
  /** Problems with the YAML syntax. */
  readonly problems: readonly (RowProblem & FilePosition)[]
  /** The position of a part of the value: of a field's name, of an item's start, or of the parent of a missing part. */
  readonly positionOf: (path: Path) => FilePosition
}

/** A catalog has four levels. Deeper text is not a catalog, and must not exhaust the stack. */
const DEPTH_MAX = 32
const NOT_READ = 'write YAML 1.2 or JSON'

/**
 * Parses one YAML or JSON document. An alias is the same object as its anchor, so a file with nested aliases needs no
 * more memory than its text.
 */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter()
  // Unique keys are checked below, because the parser's own check takes quadratic time.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
  })
  const problems: (RowProblem & FilePosition)[] = []
  const reader = new NodeReader((path, offset, { message, remedy }) => {
    problems.push({ path, message, remedy, ...positionAt(lines, offset) })
  })
  const errors = [...document.errors, ...document.warnings]
  for (const { pos, message } of errors) {
    problems.push({
      path: [],
      message: `cannot be read: ${sentencePart(message)}`,
      remedy: NOT_READ,
      ...positionAt(lines, pos[0]),
    })
  }
  const value = errors.length === 0 ? reader.read(document.contents, []) : undefined
  return { value, problems, positionOf: path => positionAt(lines, reader.offsetOf(value, path)) }
}

type Report = (
  path: Path,
  offset: number,
  problem: { readonly message: string; readonly remedy: string },
) => void

/** Converts nodes to values, and remembers the node of each mapping and list. */
class NodeReader {
  readonly #report: Report
  readonly #anchors = new Map<string, unknown>()
  readonly #nodes = new Map<unknown, Node>()

  constructor(report: Report) {
    this.#report = report
  }

  read(node: unknown, path: Path): unknown {
    if (path.length > DEPTH_MAX) {
      const remedy = `write at most ${DEPTH_MAX} levels`
      this.#report(path, offsetOfNode(node), { message: 'is nested too deeply', remedy })
      return undefined
    }
    if (isAlias(node)) return this.#readAlias(node as ParsedNode & { source: string }, path)
    const value = this.#readContent(node, path)
    // The anchor is set after its content is read, so a value cannot contain itself.
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) {
      this.#anchors.set(node.anchor, value)
    }
    return value
  }

  /** Follows the path as far as it exists. */
  offsetOf(value: unknown, path: Path): number {
    let offset = 0
    let parent = value
    for (const step of path) {
      const child = childOf(this.#nodes.get(parent), step)
      if (child === undefined) break
      offset = offsetOfNode(child)
      parent = (parent as Record<string | number, unknown>)[step]
    }
    return offset
  }

  #readAlias(node: ParsedNode & { source: string }, path: Path): unknown {
    if (!this.#anchors.has(node.source)) {
      const message = `is *${node.source}, an alias without an anchor`
      const remedy = `write &${node.source} at a value before this one that does not contain it`
      this.#report(path, offsetOfNode(node), { message, remedy })
    }
    return this.#anchors.get(node.source)
  }

  #readContent(node: unknown, path: Path): unknown {
    if (isMap(node)) return this.#readMap(node.items, node, path)
    if (isSeq(node)) {
      const list: unknown[] = []
      this.#nodes.set(list, node)
      for (const [index, item] of node.items.entries()) list.push(this.read(item, [...path, index]))
      return list
    }
    return isScalar(node) ? node.value : null
  }

  #readMap(pairs: readonly Pair[], node: Node, path: Path): Record<string, unknown> {
    // An object without a prototype has no special keys such as __proto__.
    const map = Object.create(null) as Record<string, unknown>
    this.#nodes.set(map, node)
    for (const pair of pairs) {
      const key = keyOf(pair)
      if (key === undefined) {
        const remedy = 'write a name before each colon'
        this.#report(path, offsetOfNode(pair.key), { message: 'has a key that is not text', remedy })
        continue
      }
      if (key in map) {
        const problem = { message: 'is listed twice', remedy: 'list it once' }
        this.#report([...path, key], offsetOfNode(pair.key), problem)
      }
      map[key] = this.read(pair.value, [...path, key])
    }
    return map
  }
}

/** The node of one step of a path: the name of a field, or the item of a list. */
function childOf(node: Node | undefined, step: string | number): unknown {
  if (isMap(node)) return node.items.find(pair => isPair(pair) && keyOf(pair) === step)?.key
  return isSeq(node) && typeof step === 'number' ? node.items[step] : undefined
}

function keyOf({ key }: Pair): string | undefined {
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? undefined)
}

function offsetOfNode(node: unknown): number {
  return (node as ParsedNode | null)?.range?.[0] ?? 0
}

function positionAt(lines: LineCounter, offset: number): FilePosition {
  const { line, col } = lines.linePos(offset)
  // The counter returns 0 for an empty text.
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** The parser's sentence without its initial capital and its period. */
function sentencePart(message: string): string {
  const [first = '', ...rest] = message.replace(/\.$/, '')
  return first.toLowerCase() + rest.join('')
}
