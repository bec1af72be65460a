/**
 * What several pages use comes with the first script. Otherwise each part becomes a chunk, which the browser finds only
 * after it has read the chunk of the page.
 */
// oxlint-disable import/no-unassigned-import -- the place of a module is the effect.
import '../api/days.ts'
import '../api/edit-conflict.ts'
import '../api/every-page.ts'
import '../api/idempotency-key.ts'
import './account-search.tsx'
import './action-button.tsx'
import './chart.tsx'
import './csv.ts'
import './day-filter.tsx'
import './dialog.tsx'
import './facts.tsx'
import './filters.tsx'
import './form.tsx'
import './row-form.tsx'
import './save-list.tsx'
import './subject.tsx'
import './table.tsx'
import './timeline.tsx'
