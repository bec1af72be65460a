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

/** Counted from 1, as editors do. */
export type Position = { readonly line: number; readonly column: number }

export type YamlText = {
  /** Plain mappings, lists and scalars; not to be used while there are problems. */
  readonly value: unknown
  /** What is wrong with the text as YAML, whatever it says. */
  readonly problems: readonly (RowProblem & Position)[]
  /** Where a part of the value stands: a field at its name, an item at its start, what is missing at what lacks it. */
  readonly positionOf: (path: Path) => Position
}

/** A catalog is four deep. Text that goes deeper is no catalog, and must not exhaust the stack. */
const DEPTH_MAX = 32
const NOT_READ = 'write YAML 1.2 or JSON'

/**
 * Reads one YAML document, and so JSON too. An alias is the very value of its anchor and costs nothing, so that a file of
 * aliases of aliases is as small in memory as it is as text.
 */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter()
  // Unique keys are checked below: the parser's own check takes the square of their number.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
  })
  const problems: (RowProblem & Position)[] = []
  const reader = nodeReader((path, offset, { message, remedy }) => {
    problems.push({ path, message, remedy, ...positionAt(lines, offset) })
  })
  const complaints = [...document.errors, ...document.warnings]
  for (const { pos, message } of complaints) {
    problems.push({
      path: [],
      message: `cannot be read: ${sentencePart(message)}`,
      remedy: NOT_READ,
      ...positionAt(lines, pos[0]),
    })
  }
  const value = complaints.length === 0 ? reader.read(document.contents, []) : undefined
  return { value, problems, positionOf: path => positionAt(lines, reader.offsetOf(value, path)) }
}

type Report = (
  path: Path,
  offset: number,
  problem: { readonly message: string; readonly remedy: string },
) => void

/** Makes values of nodes, and remembers which node each mapping and list was. */
function nodeReader(report: Report) {
  const anchors = new Map<string, unknown>()
  const nodeOf = new Map<unknown, Node>()

  function read(node: unknown, path: Path): unknown {
    if (path.length > DEPTH_MAX) {
      report(path, offsetOfNode(node), { message: 'is nested too deeply', remedy: 'no catalog needs that' })
      return undefined
    }
    if (isAlias(node)) return readAlias(node as ParsedNode & { source: string }, path)
    const value = readContent(node, path)
    // Only now: an anchor is unknown inside itself, so that no value can contain itself.
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) {
      anchors.set(node.anchor, value)
    }
    return value
  }

  function readAlias(node: ParsedNode & { source: string }, path: Path): unknown {
    if (!anchors.has(node.source)) {
      const remedy = `write &${node.source} at the value that is meant, above and outside of this`
      report(path, offsetOfNode(node), { message: `is *${node.source}, an alias of nothing`, remedy })
    }
    return anchors.get(node.source)
  }

  function readContent(node: unknown, path: Path): unknown {
    if (isMap(node)) return readMap(node.items, node, path)
    if (isSeq(node)) {
      const list: unknown[] = []
      nodeOf.set(list, node)
      for (const [index, item] of node.items.entries()) list.push(read(item, [...path, index]))
      return list
    }
    return isScalar(node) ? node.value : null
  }

  function readMap(pairs: readonly Pair[], node: Node, path: Path): Record<string, unknown> {
    // Without a prototype, a key such as __proto__ is a key like any other.
    const map = Object.create(null) as Record<string, unknown>
    nodeOf.set(map, node)
    for (const pair of pairs) {
      const key = keyOf(pair)
      if (key === undefined) {
        const remedy = 'write a plain name before each colon'
        report(path, offsetOfNode(pair.key), { message: 'has a key that is no text', remedy })
        continue
      }
      if (key in map) {
        const problem = { message: 'is listed twice', remedy: 'list it once' }
        report([...path, key], offsetOfNode(pair.key), problem)
      }
      map[key] = read(pair.value, [...path, key])
    }
    return map
  }

  /** Follows the path as far as there is something at it. */
  function offsetOf(value: unknown, path: Path): number {
    let offset = 0
    let parent = value
    for (const step of path) {
      const node = nodeOf.get(parent)
      const child = childOf(node, step)
      if (child === undefined) break
      offset = offsetOfNode(child)
      parent = (parent as Record<string | number, unknown>)[step]
    }
    return offset
  }

  return { read, offsetOf }
}

/** The node a step leads to: of a field its name, of a list the item. */
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

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  // The counter says 0 of a text that ends before its first line does.
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** Without the capital and the stop that the parser gives its sentences. */
function sentencePart(message: string): string {
  const [first = '', ...rest] = message.replace(/\.$/, '')
  return first.toLowerCase() + rest.join('')
}
