export const doctorTexts = {
  title: 'Doctor',
  lead: 'The gateway checks its settings, store, catalog and providers.',
  again: 'Check again',
  result: 'Result',
  results: { good: 'Good', warn: 'Warning', bad: 'Problem' },
  check: 'Check',
  detail: 'Found',
  allGood: 'All checks passed.',
  notGood: 'Some checks failed. Each says what to do.',
}
