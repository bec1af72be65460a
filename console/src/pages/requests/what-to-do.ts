/** What an operator can do about a refused or failed request, with the page where it is done. */
import { pageIn, pageOfId } from '../../parts/subject.tsx'
import { requestsTexts } from './texts.ts'
import type { RequestPage } from './request.tsx'

const words = requestsTexts.advice

export type Advice = {
  readonly text: string
  readonly href?: string | undefined
  readonly label?: string
}

export function whatToDo(page: RequestPage): readonly Advice[] {
  const { request, job } = page
  if (page.outcome === 'running' && job !== null)
    return [{ text: words.running, href: pageOfId(job.id), label: words.openJob }]
  if (request === null) return []
  if (request.refused_by !== null) return [limitAdvice(request, request.refused_by)]
  return codeAdvice(request)
}

type Recorded = NonNullable<RequestPage['request']>

function limitAdvice(
  { key, account, project }: Recorded,
  { scope, limit }: NonNullable<Recorded['refused_by']>,
): Advice {
  const text = limit.endsWith('_budget') ? words.budget : words.limit
  switch (scope) {
    case 'key':
    case 'key_model':
      return { text, href: pageOfId(key), label: words.openKey }
    case 'project':
      return { text, href: pageOfId(project ?? ''), label: words.openProject }
    case 'account':
    case 'account_model':
      return { text, href: pageOfId(account), label: words.openAccount }
  }
}

function codeAdvice({
  error_code: code,
  account,
  key,
  model,
  attempts,
  status,
}: Recorded): readonly Advice[] {
  switch (code ?? '') {
    case 'insufficient_balance':
      return [{ text: words.balance, href: pageOfId(account), label: words.openAccount }]
    case 'balance_reserved':
    case 'budget_reserved':
      return [{ text: words.reserved, href: pageOfId(account), label: words.openAccount }]
    case 'model_not_found':
      return [{ text: words.model, href: 'models', label: words.openModels }]
    case 'unpriced_feature':
    case 'unsupported_input':
    case 'route_not_supported':
      return [{ text: words.row, href: pageIn('models', model ?? ''), label: words.openModel }]
    case 'address_not_allowed':
    case 'route_not_allowed':
    case 'key_disabled':
    case 'key_expired':
      return [{ text: words.key, href: pageOfId(key), label: words.openKey }]
    case 'overloaded':
      return [{ text: words.overloaded }]
    default: {
      const failed = attempts.findLast(({ reason }) => reason !== null)
      if (failed === undefined || status < 400) return []
      return [{ text: words.provider, href: pageIn('providers', failed.provider), label: failed.provider }]
    }
  }
}
