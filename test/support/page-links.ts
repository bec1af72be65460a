import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './snippets.ts'

/** The targets of a page's links as paths from the root, without links to the web and within the page. */
export function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  return targets.filter(target => !/^[a-z]+:/.test(target)).map(target => join(dirname(page), target))
}

/** The links of a page to sections, of itself or of other pages: the page as a path from the root, and the anchor. */
export function sectionLinksOf(page: string): { readonly target: string; readonly anchor: string }[] {
  const text = readFileSync(join(root, page), 'utf8')
  const links = [...text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)]
  return links.map(([, target = '', anchor = '']) => ({
    target: target === '' ? page : join(dirname(page), target),
    anchor,
  }))
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): string[] {
  const prose = readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '')
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
