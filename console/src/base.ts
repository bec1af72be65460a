/** `/prefix/console/`: where the console is, as the browser sees it. */
export const basePath = new URL('.', document.baseURI).pathname

/** `/prefix/`: where the gateway is, which serves `v1/…`. The page names it, because it knows how deep the console is. */
export const gatewayUrl = new URL(
  document.querySelector<HTMLMetaElement>('meta[name="gateway"]')?.content ?? '../',
  document.baseURI,
)

/** The path of a page for the router, which compares whole paths. Links in pages are relative: `accounts/acct_1`. */
export function pagePath(path: string): string {
  return `${basePath}${path}`
}
