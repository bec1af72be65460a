import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** A fenced code block of a page. */
export type Snippet = {
  /** The page as a path from the root, such as `docs/api.md`. */
  readonly page: string
  /** The line of the block's first line of code, counted from 1. */
  readonly line: number
  /** The word after the fence, such as `sh`; empty if there is none. */
  readonly language: string
  readonly text: string
}

/** A block of a list item is indented like the item. */
const FENCE = /^( *)```(\w*)\n([^]*?)^\1```$/gm

/** The code blocks of a page, in order. */
export function snippetsOf(page: string): readonly Snippet[] {
  const source = readFileSync(join(root, page), 'utf8')
  return [...source.matchAll(FENCE)].map(({ index, 1: indent = '', 2: language = '', 3: text = '' }) => ({
    page,
    line: source.slice(0, index).split('\n').length + 1,
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

/** The name of a snippet in the title of a test, such as `docs/api.md:7`. */
export function placeOf({ page, line }: Snippet): string {
  return `${page}:${line}`
}
