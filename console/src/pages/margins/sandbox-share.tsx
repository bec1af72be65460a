/** Says how much of the revenue is of the sandbox, because customers pay no money for it. */
import { answer, api } from '../../api/client.ts'
import type { Range } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import { amountOf, moneyToCents, nanosOf } from '../../parts/format.ts'
import { marginsTexts } from './texts.ts'
import { readTopMargins } from './read-margins.ts'

export function SandboxShare({ range, account }: { readonly range: Range; readonly account?: string }) {
  const share = useResource(`sandbox ${range.from} ${range.to} ${account ?? ''}`, async () => {
    const [{ data: providers }, { data, readAll }] = await Promise.all([
      answer(api.GET('/admin/api/providers')),
      readTopMargins('provider', range, account),
    ])
    const sandboxes = new Set(providers.filter(({ kind }) => kind === 'sandbox').map(({ id }) => id))
    return ((await readAll?.()) ?? data)
      .filter(({ provider }) => sandboxes.has(provider ?? ''))
      .reduce((sum, margin) => sum + nanosOf(margin.revenue_usd), 0n)
  })
  // Without an answer there is nothing to add to the figures, which say themselves if they cannot be read.
  if (share.value === undefined || share.value === 0n) return null
  return <p class="soft">{marginsTexts.ofSandbox(moneyToCents(amountOf(share.value)))}</p>
}
