/** `/prefix/console/`: where the console is, as the browser sees it. */
export const basePath = new URL('.', document.baseURI).pathname

/** The path of a page for the router, which compares whole paths. Links in pages are relative: `accounts/acct_1`. */
export function pagePath(path: string): string {
  return `${basePath}${path}`
}
