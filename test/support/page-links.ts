import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './snippets.ts'

/** The targets of a page's links as paths from the root, without links to the web and within the page. */
export function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  return targets.filter(target => !/^[a-z]+:/.test(target)).map(target => join(dirname(page), target))
}
