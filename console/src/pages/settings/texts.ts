export const settingsTexts = {
  title: 'Settings',
  lead: 'What this gateway runs with. To change a setting, set the variable in its environment and start it again.',
  name: 'Setting',
  value: 'Value',
  default: 'Default',
  source: 'Source',
  sources: { environment: 'Environment', default: 'Default' },
  none: 'Not set',
  emptyText: 'Search for another part of a name, or clear the filters.',
}
